"""Which fixes remove which findings: recomputed over the whole log."""
