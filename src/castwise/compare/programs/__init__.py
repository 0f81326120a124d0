"""Random programs in a framework and as tensors, side by side: `castwise verify --programs`."""
