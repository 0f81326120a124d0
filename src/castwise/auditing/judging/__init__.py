"""The audit of a program: its findings, where their dtypes come from, and their fixes."""
