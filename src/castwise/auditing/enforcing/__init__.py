"""A program held to a dialect, as a block or a decorator."""
