"""An audit as text, JSON, SARIF and a page, and its progress while the program runs."""
