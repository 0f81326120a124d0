"""Turns what was seen into questions to the rules, and finds the casts."""
