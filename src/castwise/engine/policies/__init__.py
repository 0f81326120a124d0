"""How Python scalars and 0-d arrays take part beside arrays: a file per policy or family of them.

A policy answers masks (see reach.py): what the operands can reach, given their roles and company.
"""
