"""The recording backend: its arrays are nodes, and computing with them writes a program down."""
