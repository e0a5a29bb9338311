"""The worlds that networks learn from: of the atlas's program, by other seeds."""

from collections.abc import Sequence

from kit.corpus import Benchmark
from kit.worlds import atlas

FIRST_SEED = 401
HELD_OUT_SEED = 400  # the world that chooses checkpoints


def training_worlds(n: int, **size: int) -> Sequence[Benchmark]:
    """So many worlds with training questions; the first one's dev questions choose checkpoints.

    ``size`` is that of :func:`kit.worlds.atlas.generate`.
    """
    return [atlas.generate(seed) for seed in range(FIRST_SEED, FIRST_SEED + n)]
