"""What a program would compute in another dialect."""
