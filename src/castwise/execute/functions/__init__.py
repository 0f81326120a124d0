"""What computes an op on arrays of one dtype: a backend's own function, or a recipe for any."""
