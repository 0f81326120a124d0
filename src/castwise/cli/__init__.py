"""The command line: a file for each group of commands, which parse, call the library and print."""
