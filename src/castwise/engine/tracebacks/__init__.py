"""Reads the op and the dtypes from an error message, or a whole traceback, that was pasted."""
