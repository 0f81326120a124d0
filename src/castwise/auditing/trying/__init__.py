"""Runs the program again with its fixes, and compares."""
