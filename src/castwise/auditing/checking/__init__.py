"""Reads the values of arrays, to see which of them an operation or a cast lost."""
