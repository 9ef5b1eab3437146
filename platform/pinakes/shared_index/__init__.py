"""Indexes that crawlers share in a Redis: keys of Browsertrix, and the sorted set of pywb.

    rows ─▶ what may be referred to ─▶ keys aside ─▶ one transaction ─▶ keys that crawlers read
    keys that crawlers wrote ─▶ read whole, checked ─▶ reports of open crawls, external lines

`keys` and `gathered` know no server, `server` alone speaks to one.  docs/redis.md.
"""
