"""Recordings of releases, devices and compilers, as layers over the dialects."""
