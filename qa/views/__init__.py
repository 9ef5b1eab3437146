"""What a replay is compared with: an access system, a stored screenshot, the live web."""
