"""The source of the program: how it is rewritten, quoted and changed."""
