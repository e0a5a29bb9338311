"""What ``smoke``, ``class`` and ``paper`` mean: the one place that says it."""

from __future__ import annotations

import msgspec

from kit.errors import InputError


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """How much of an experiment is done.

    ``n_questions`` is how many test questions are asked (None: all), ``n_costly`` how many where all paths of a search
    are encoded or written about, ``draws`` how many bootstrap samples an interval is drawn from, ``atlas`` the size of
    the embedded data set, ``ks`` the cut-offs of Recall@k and Full@k. ``knobs``
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
    n_questions: int | None
    n_costly: int | None
    draws: int
    atlas: str
    ks: tuple[int, ...]
    knobs: dict[str, tuple[float, ...]]
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
    scale.name: scale
    for scale in (
        Scale(
            name="smoke",
            n_questions=20,
            n_costly=10,
            draws=1_000,
            atlas="small",
            ks=(2, 5, 10),
            knobs={"tfidf": (8, 64, 512), "knn": (2, 16, 128), "entity": (0.8, 0.5, 0.1), "structure": (1, 2, 4)},
            trainings=2,
            n_trains=(5, 20),
            senders=(1, 5),
            competitors=(10, 25),
            epochs=1,
            n_train_encoder=12,
            n_trains_encoder=(12,),
            n_synthetic=24,
            n_ablated=12,
            n_walked=10,
            n_timed=3,
            n_read=5,
            collections=(200, 400),
        ),
        Scale(
            name="class",
            n_questions=500,
            n_costly=250,
            draws=10_000,
            atlas="class",
            ks=(2, 5, 10),
            knobs={
                "tfidf": (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024),
                "knn": (1, 2, 4, 8, 16, 32, 64, 128),
                "entity": (0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1),
                "structure": (1, 2, 3, 4),
            },
            trainings=8,
            n_trains=(5, 10, 20, 50),
            senders=(1, 3, 5, 10, 20),
            competitors=(5, 10, 25, 50),
            epochs=1,
            n_train_encoder=200,
            n_trains_encoder=(100,),
            n_synthetic=3_000,
            n_ablated=600,
            n_walked=100,
            n_timed=20,
            n_read=100,
            collections=(300, 1_000, 3_000, 10_000),
        ),
        Scale(
            name="paper",
            n_questions=None,
            n_costly=None,
            draws=10_000,
            atlas="large",
            ks=(2, 5, 10, 20, 30),
            knobs={
                "tfidf": (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024),
                "knn": (1, 2, 4, 8, 16, 32, 64, 128),
                "entity": (0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1),
                "structure": (1, 2, 3, 4, 8),
            },
            trainings=20,
            n_trains=(5, 10, 20, 50, 100, 200),
            senders=(1, 3, 5, 10, 20),
            competitors=(5, 10, 25, 50),
            epochs=2,
            n_train_encoder=0,
            n_trains_encoder=(50, 100, 200, 400),
            n_synthetic=150_000,
            n_ablated=30_000,
            n_walked=500,
            n_timed=100,
            n_read=500,
            collections=(300, 1_000, 3_000, 10_000, 30_000),
        ),
    )
}


def find_scale(name: str) -> Scale:
    """The scale of this name. Raises ``InputError`` that lists the known ones."""
    if name not in SCALES:
        raise InputError(f"expected one of {', '.join(SCALES)}, not {name!r}", field="scale")
    return SCALES[name]
