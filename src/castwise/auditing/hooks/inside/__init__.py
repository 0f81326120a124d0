"""Casts that a library makes inside its own calls, seen from within."""
