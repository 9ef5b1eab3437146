"""What references mean, and whether they resolve."""
