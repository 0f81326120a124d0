"""The answer to one question, as an explanation or as a line of JSON."""
