"""How rules are written down: the records of a dialect, its variations, checks and TOML."""
