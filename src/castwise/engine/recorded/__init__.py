"""Recorded answers that count for more than the rules, and cells as questions."""
