"""What runs with the program: observers, and what they keep of what they see."""
