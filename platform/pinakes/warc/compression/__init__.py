"""Compressed members, in any compression: gzip, bzip2, Zstandard.

`members` picks one by its first bytes; each is an adapter of `port`.
"""
