"""How results look: one folder per report, as text, JSON, pages and pictures."""
