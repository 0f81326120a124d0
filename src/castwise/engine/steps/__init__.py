"""The steps of a decision, a file per part of a rule that is read."""
