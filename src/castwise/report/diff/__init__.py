"""Where two dialects differ, and the formats that is written in."""
