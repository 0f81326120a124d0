"""How a process joins an audit before its program runs."""
