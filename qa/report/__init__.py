"""What a run found, as pages for people to read."""
