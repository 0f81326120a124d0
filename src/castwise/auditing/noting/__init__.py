"""What is written down about an operation: its arrays, its callee, its place, in a log."""
