"""The function for an op on arrays of one dtype: a backend's own, or a recipe for any backend."""
