"""What a program would get in another dialect, as text and JSON."""
