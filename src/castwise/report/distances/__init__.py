"""How much the dialects differ from each other, in every format."""
