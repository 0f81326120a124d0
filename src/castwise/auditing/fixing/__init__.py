"""What to write instead, in the user's own source."""
