"""The result of comparing a dialect with its framework, as text and JSON."""
