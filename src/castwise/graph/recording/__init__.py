"""The recording backend: its arrays are nodes, and computing with them records a program."""
