"""What each release of a framework changed, as text, JSON, Markdown and a page."""
