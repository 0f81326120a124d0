"""What runs inside the program: the observers, and what they record."""
