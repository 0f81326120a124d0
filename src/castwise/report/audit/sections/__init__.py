"""The parts of a report, each for every format that shows it."""
