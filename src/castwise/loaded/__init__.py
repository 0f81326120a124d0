"""What runs here: which dialect a loaded framework follows, by its version and its mode."""
