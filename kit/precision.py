"""In which numbers torch multiplies."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

# The part of a CPU that multiplies bfloat16 faster than float32; AVX-512's needs 1.7 times as long.
BFLOAT16_UNIT = "amx_bf16"


def device() -> str:
    """Where torch computes: on a CUDA device, if there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def has_bfloat16() -> bool:
    """Whether products in bfloat16 are quicker here than those in float32."""
    return device() == "cuda" or torch.cpu.get_capabilities().get(BFLOAT16_UNIT, False)


@contextmanager
def mixed_precision() -> Iterator[None]:
    """Matrix products in bfloat16 on a CUDA device or a CPU that has them, in float32 elsewhere.

    Weights stay float32. To be entered anew for each step: what PyTorch has cast of the weights is
    kept until the end.
    """
    with torch.autocast(device(), torch.bfloat16, enabled=has_bfloat16()):
        yield
