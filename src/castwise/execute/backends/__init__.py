"""The libraries that hold and compute arrays, one file each."""

DEFAULT = "numpy"  # of data that is no array yet
EAGER = ("numpy", "torch", "jax")  # they compute at once, wherever they are installed
