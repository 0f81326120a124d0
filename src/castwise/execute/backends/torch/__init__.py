"""torch, on any of its devices."""

import functools

from castwise.execute.backend import Backend


def backend() -> Backend:
    """The backend; this also registers tensors with torch."""
    from castwise.execute.backends.torch.arrays import (
        Torch,
    )  # so that walking the packages does not load torch

    introduce()
    return Torch()


@functools.cache
def introduce() -> None:
    """Registers tensors with torch, once, because compiled code may make the first one."""
    from castwise.execute.backends.torch import calls, compiled

    compiled.register()
    calls.register()
