"""Changes to a store: who makes them, under which locks, and what they rewrite.

Layer: above `rewrite` and `catalog`, below `ingest` and `dedupe`.
"""
