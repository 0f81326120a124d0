"""How far the dialects are apart, and the formats that is written in."""
