"""The libraries that hold and compute arrays, one file each."""

DEFAULT = "numpy"  # of data that is no array yet
