"""What the real frameworks answer: the questions, the recorders, the recorded cells."""
