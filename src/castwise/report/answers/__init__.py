"""What one question is answered: explained to a person, or as a line of JSON."""
