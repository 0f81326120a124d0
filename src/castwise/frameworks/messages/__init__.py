"""What each framework says when it refuses dtypes: data only, a file per framework."""
