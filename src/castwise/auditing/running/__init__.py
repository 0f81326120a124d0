"""The program in a process of its own, and what its processes hand over."""
