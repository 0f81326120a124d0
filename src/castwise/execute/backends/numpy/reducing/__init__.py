"""Reductions of an array that is cast first, in blocks, with the bits of the whole computation."""
