"""torch, on any of its devices."""

import functools

from castwise.execute.backend import Backend


def backend() -> Backend:
    """The backend of this package; torch learns of tensors with it."""
    from castwise.execute.backends.torch.arrays import Torch  # walking packages loads no torch

    introduce()
    return Torch()


@functools.cache
def introduce() -> None:
    """Tells torch of tensors, once: what it compiles may make the first one."""
    from castwise.execute.backends.torch import calls, compiled

    compiled.register()
    calls.register()
