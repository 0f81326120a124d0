"""Writes a program to a file, and reads it back."""
