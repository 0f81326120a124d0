"""Which findings count: comments and baselines accept the others."""
