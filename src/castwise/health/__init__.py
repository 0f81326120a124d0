"""Whether all is well here: what is installed, by its metadata, and what is wrong with it.

Nothing is imported for this: a large framework takes seconds.
"""
