"""What a program would give in another dialect."""
