"""A dialect's value rules where they differ from the backend's: casts, powers, shapes."""
