"""The same program written down: a static graph in which every cast is explicit."""
