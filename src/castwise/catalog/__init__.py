"""All dialects by name: of a release of their framework, from a file, or of what runs here."""
