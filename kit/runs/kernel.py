"""The kernel that a notebook is run in."""

from __future__ import annotations

from collections.abc import Mapping

from ipykernel.kernelspec import get_kernel_dict
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager


def kernel_manager(environment: Mapping[str, str]) -> type[AsyncKernelManager]:
    """A kernel manager whose kernels have these variables and the Python that runs the kit.

    A kernel named ``python3`` may be registered for another Python, or for none. What passes between runner and kernel
    is encrypted, for other users of the machine can reach its ports.
    """
    spec = KernelSpec(**get_kernel_dict(), env=dict(environment))

    class Manager(AsyncKernelManager):
        def __init__(self, **settings: object) -> None:
            super().__init__(transport_encryption="auto", **settings)

        @property
        def kernel_spec(self) -> KernelSpec:
            return spec

    return Manager
