"""The style sheet of pages, and what notebooks show in the same style."""
