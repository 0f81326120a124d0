"""Transformations of a program: a simpler one, one under another dialect, and reports on it."""
