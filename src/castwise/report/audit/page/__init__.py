"""An audit as one self-contained page."""
