"""Which dialect: by its name, by a release of its framework, by a file, by what runs here."""
