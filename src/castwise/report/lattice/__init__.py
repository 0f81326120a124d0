"""Which dtypes promote to which, in every format."""
