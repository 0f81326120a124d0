"""What happens: a question is asked, decided step by step, and answered with a Decision."""
