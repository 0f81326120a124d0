"""What each framework says: data only, a file per framework with its versions and modes."""
