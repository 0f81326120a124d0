"""A program in a file: writing it, and reading it again."""
