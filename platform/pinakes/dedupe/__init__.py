"""Decisions about duplicates, and the chain that carries them out.

Layer: above `rewrite` and `catalog`, next to `ingest`.  Equal bytes are the only
reason to merge; see docs/dedupe.md for every rule and what would break without it.
`decide` and `references` judge, `validate` proves, `write` and `copy` change archive files,
`run` is all of it over a store.
"""
