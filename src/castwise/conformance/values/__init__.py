"""What frameworks compute: which values are asked for, recorded, and agree."""
