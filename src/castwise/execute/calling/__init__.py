"""From a call to its result: arguments, the engine's decision, and the backend's computation."""
