"""From one program to another, or to what can be said of it."""
