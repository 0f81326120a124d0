"""What the auditor knows of each framework, as data."""
