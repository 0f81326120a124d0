"""The commands that run a program, and their options."""
