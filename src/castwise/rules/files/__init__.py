"""Dialects in TOML files: reading one, and writing one down."""
