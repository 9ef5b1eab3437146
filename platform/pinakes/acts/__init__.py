"""Changes to a store: who makes them, under which locks, and what they write anew.

Layer: above `rewrite` and `catalog`, below `ingest` and `dedupe`.
"""
