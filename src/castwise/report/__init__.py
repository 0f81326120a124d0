"""How things look: a folder for each that is shown, as text, JSON, pages and pictures."""
