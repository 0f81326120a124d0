"""A program as text, for Graphviz and as SVG."""
