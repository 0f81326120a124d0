"""Where two dialects differ, in every format."""
