"""Puts this folder on the path: the folders in it share under_audit.py."""
