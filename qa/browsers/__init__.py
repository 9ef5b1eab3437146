"""Browsers: what is installed, how each is driven, and what one look at a page gives.

`browser_list` is the table, `starting` makes a `session.Session` of one of it; its `capture`
gives a `pinakes.qa.snapshot.Snapshot` whatever the page does.  Needs the extra `qa`, and
`make browsers`.  Layer: in `pinakes.qa`, above `snapshot` alone.
"""
