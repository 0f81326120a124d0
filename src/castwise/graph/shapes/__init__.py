"""Shapes with symbolic sizes, and the shapes of results."""
