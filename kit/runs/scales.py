"""What ``smoke``, ``class`` and ``paper`` mean; the numbers stand in ``scales.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from kit.errors import InputError

Numbers = tuple[int, ...]


class Scale(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of an experiment is done."""

    name: str
    atlas: str  # size of the embedded data set
    n_questions: int | None = None  # test questions that are asked; None: all
    n_costly: int | None = None  # where all paths of a search are encoded or written about
    n_resamples: int  # bootstrap samples of an interval
    ks: Numbers  # cut-offs of Recall@k and Full@k
    densities: dict[str, tuple[int | float, ...]]  # a builder's parameter, sparse to dense (kgp.txt §3, Figure 5)
    trainings: int  # draws of a few training questions that one averages over
    n_trains: Numbers  # questions of such a draw
    top_ks: Numbers  # the grid of gnn-ret.txt Figure 4: K
    n_candidates: Numbers  # … and O
    epochs: int  # in which encoders are trained (kgp.txt §8.2)
    n_train_encoder: int  # questions that they learn from; 0: all
    n_trains_encoder: Numbers  # … in shorter trainings
    n_synthetic: int  # questions that graph networks are pre-trained on (qsgnn.txt §3.3)
    n_ablated: int  # … in ablations
    n_walked: int  # questions of sweeps of walks (kgp.txt §5.2–5.4)
    n_timed: int  # … whose time is taken
    n_read: int  # questions that a reader answers
    collections: Numbers  # numbers of passages between which cost is compared


SCALES = {
    name: msgspec.convert({"name": name, **values}, Scale)
    for name, values in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}


def find_scale(name: str) -> Scale:
    """The scale of this name. Raises ``InputError`` that lists the known ones."""
    if name not in SCALES:
        raise InputError(f"expected one of {', '.join(SCALES)}, not {name!r}", field="scale")
    return SCALES[name]
