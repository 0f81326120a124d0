"""How a process becomes part of an audit, before its program runs."""
