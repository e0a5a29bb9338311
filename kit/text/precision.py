"""How torch computes: in half the precision where that takes half the time, on one thread where tensors are small."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def mixed_precision() -> Iterator[None]:
    """Matrix products in bfloat16 on a CUDA device or a CPU with AMX, in float32 elsewhere; weights stay float32.

    To be entered anew for each step: what PyTorch has cast of the weights is kept until the end.
    """
    cuda = torch.cuda.is_available()
    quick = cuda or torch.cpu.get_capabilities().get("amx_bf16", False)
    with torch.autocast("cuda" if cuda else "cpu", torch.bfloat16, enabled=quick):
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """torch on one thread: where tensors are small, threads wait more than they work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
