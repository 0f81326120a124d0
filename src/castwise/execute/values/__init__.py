"""A dialect's rules about values, where they are not the backend's own: casts, powers, shapes."""
