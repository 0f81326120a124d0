"""Dialects held side by side: what tables, differences, distances, lattices and checks compute."""
