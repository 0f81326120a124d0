"""What was seen, judged by the rules: findings, origins and fixes."""
