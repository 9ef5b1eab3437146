"""Browsers: which are installed, how each is driven, and snapshots of pages taken with them.

`browser_list` is the table; `session.open_browser` gives a `Session`, whose `capture`
returns a `pinakes.qa.snapshot.Snapshot` regardless of what the page does.  Needs the extra `qa`,
and `make browsers`.  Layer: in `pinakes.qa`, above `snapshot` alone.
"""
