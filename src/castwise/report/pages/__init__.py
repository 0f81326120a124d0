"""The parts of the documentation that are written from the dialects' records and from trials."""
