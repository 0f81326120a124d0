"""A program to look at: as text, for Graphviz and as SVG."""
