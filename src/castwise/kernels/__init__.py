"""Fast ops: a lowered program of typed steps, and one code generator per kind of processor.

It knows no dialect. The dialect's rules have become steps before a program arrives here.
"""
