"""Applies the rules to what was seen: findings, origins and fixes."""
