"""Where finished cells are told of: experiment trackers, one a file."""
