"""Runs the program in a separate process, and collects what its processes report."""
