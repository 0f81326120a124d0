"""The source of the program: rewriting, quoting and changing it."""
