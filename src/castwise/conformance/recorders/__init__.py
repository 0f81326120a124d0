"""How each framework is asked, a file per framework."""
