"""What exists: dtypes, ops, operands, their notation, and live objects of any framework."""
