"""What ``smoke``, ``class`` and ``paper`` mean; the numbers stand in ``scales.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from kit.errors import InputError


class Scale(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of an experiment is done.

    ``n_questions`` is how many test questions are asked (None: all), ``n_costly`` how many where all paths of a search
    are encoded or written about, ``n_resamples`` how many bootstrap samples an interval is
    drawn from, ``atlas`` the size of the embedded data set, ``ks`` the cut-offs of Recall@k and Full@k. ``knobs``
    holds for each graph builder the values of its one parameter, from sparse to dense (kgp.txt §3, Figure 5). For
    methods that learn from a few questions, ``trainings`` is over how many draws of them one averages, and ``n_trains``
    how many questions a draw has; ``senders`` and ``competitors`` are the grid of gnn-ret.txt Figure 4.
    Encoders are trained (kgp.txt §8.2) for ``epochs`` on ``n_train_encoder`` questions (0: all), and to compare shorter
    trainings on each of ``n_trains_encoder``.
    Graph networks are pre-trained (qsgnn.txt §3.3) on ``n_synthetic`` questions, in ablations on ``n_ablated``.
    Sweeps of walks (kgp.txt §5.2–5.4) ask ``n_walked`` questions and take the time of ``n_timed``; a reader answers
    ``n_read``; ``collections`` are the numbers of passages between which cost is compared.
    """

    name: str
    n_questions: int | None = None
    n_costly: int | None = None
    n_resamples: int
    atlas: str
    ks: tuple[int, ...]
    knobs: dict[str, tuple[int | float, ...]]
    trainings: int
    n_trains: tuple[int, ...]
    senders: tuple[int, ...]
    competitors: tuple[int, ...]
    epochs: int
    n_train_encoder: int
    n_trains_encoder: tuple[int, ...]
    n_synthetic: int
    n_ablated: int
    n_walked: int
    n_timed: int
    n_read: int
    collections: tuple[int, ...]


SCALES = {
    name: msgspec.convert({"name": name, **values}, Scale)
    for name, values in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}


def find_scale(name: str) -> Scale:
    """The scale of this name. Raises ``InputError`` that lists the known ones."""
    if name not in SCALES:
        raise InputError(f"expected one of {', '.join(SCALES)}, not {name!r}", field="scale")
    return SCALES[name]
