"""What would change for a program in another dialect, as text and JSON."""
