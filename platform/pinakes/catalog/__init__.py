"""Captures, digests, archive files, crawls, runs, sidecars: domain words over a row store.

Layer: above `row_store` and `archive_store`, below `rewrite`.
"""
