"""How results look: one file per report, as text, JSON, pages and pictures."""
