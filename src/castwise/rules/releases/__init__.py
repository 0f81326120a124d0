"""Releases of a framework: what was recorded of them, and which answers for another."""
