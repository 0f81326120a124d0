"""torch, on any of its devices."""

from castwise.execute.backend import Backend


def backend() -> Backend:
    """The backend of this package."""
    from castwise.execute.backends.torch.arrays import Torch  # walking packages loads no torch

    return Torch()
