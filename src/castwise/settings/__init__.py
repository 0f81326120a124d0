"""What a project chose: the keys of [tool.castwise], the file that has them, where a value is from.

Only the command line reads the file: importing castwise does not.
"""
