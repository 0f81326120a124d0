"""Which dtype becomes which, and the formats that is written in."""
