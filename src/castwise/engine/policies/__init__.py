"""How Python scalars and 0-d arrays count when mixed with arrays: a file per policy or family.

A policy returns masks (see reach.py): what each operand reaches, given its role and the others.
"""
