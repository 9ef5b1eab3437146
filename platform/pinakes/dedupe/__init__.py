"""Decisions about duplicates, and the chain that carries them out.

Layer: above `rewrite` and `catalog`, beside `ingest`.  Equal bytes are the only
reason to merge; see docs/dedupe.md for every rule and what would break without it.
"""
