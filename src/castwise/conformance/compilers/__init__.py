"""The transformations of each framework, a file each, found by its name."""
