"""What the auditor knows about each framework, as data."""
