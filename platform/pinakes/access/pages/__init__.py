"""Pages for people: collections and crawls, search, a URL's captures, one capture.

Rendered here, readable without a script; every text of an archive is escaped and bounded, and no
archived byte is ever rendered in the pages' origin.  All captures come from `access.readable`.
"""
