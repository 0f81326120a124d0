"""Pictures: the parts of an SVG and the colours of dtypes."""
