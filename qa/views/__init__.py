"""Where a page comes from: our replay, an access system, a stored screenshot, the live web."""
