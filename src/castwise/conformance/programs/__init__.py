"""Random programs, run step by step in a framework: what no grid of questions asks."""
