"""What comparing a dialect with its framework found, as text and JSON."""
