"""torch, on any of its devices."""

from castwise.execute.backend import Backend


def backend() -> Backend:
    """The backend of this package; torch learns of tensors with it."""
    from castwise.execute.backends.torch.arrays import Torch  # walking packages loads no torch
    from castwise.execute.backends.torch.calls import register

    register()
    return Torch()
