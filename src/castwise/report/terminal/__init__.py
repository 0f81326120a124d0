"""Shared by all terminal reports: colours, folded lines, progress bars and output."""
