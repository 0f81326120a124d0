"""Shapes with symbolic sizes: what ops and functions make of them."""
