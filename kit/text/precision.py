"""Training in half the precision where that takes half the time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def mixed_precision() -> Iterator[None]:
    """Matrix products in bfloat16 on a CUDA device or a CPU with AMX, in float32 elsewhere; weights stay float32.

    A step of contrastive training takes 1.3 instead of 2.5 seconds on two cores with AMX. PyTorch's fused attention is
    slow on such a CPU in bfloat16, so attention is computed in plain matrix products there. To be entered anew for each
    step: what PyTorch has cast of the weights is kept until the end.
    """
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with ExitStack() as stack:
        if torch.cuda.is_available():
            stack.enter_context(torch.autocast("cuda", torch.bfloat16))
        elif torch.cpu.get_capabilities().get("amx_bf16"):
            stack.enter_context(torch.autocast("cpu", torch.bfloat16))
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        yield
