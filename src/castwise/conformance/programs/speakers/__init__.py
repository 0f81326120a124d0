"""How each framework writes the steps of a program, and how its arrays are read."""
