"""How it looks: text, JSON, HTML and pictures of what was found."""
