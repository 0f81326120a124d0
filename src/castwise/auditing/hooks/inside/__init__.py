"""Observes casts that a library makes inside its own calls."""
