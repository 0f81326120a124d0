"""The mode that a loaded framework is in, one file each; a framework without a file has one."""
