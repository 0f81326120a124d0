"""The libraries that hold and compute arrays, one file each."""

DEFAULT_BACKEND = "numpy"  # for data that is not an array yet
EAGER = ("numpy", "torch", "jax")  # they compute immediately
