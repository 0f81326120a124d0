"""Puts this folder on the path: the folders in it share recorded operands and values."""
