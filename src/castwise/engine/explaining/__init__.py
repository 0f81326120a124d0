"""Explanations: an expression taken apart, each of its ops asked about, and told in words."""
