"""Runs a program on arrays of any backend."""
