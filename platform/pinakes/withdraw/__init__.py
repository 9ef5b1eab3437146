"""Take-down: records replaced by tombstones, wherever their bytes lie in a store.

    targets      what was asked for: captures of the rows
    survey       what refers to them, and what belongs to them
    companions   what belongs to them in the files of their crawl
    choices      which reference becomes an original, and what refers to it then (pure)
    repointing   revisits that refer to another original
    entombing    tombstones for records, and what is asked of the new file
    cutting      members that records share, cut apart
    withdrawing  the act, step by step; what it would do

Layer: above `ingest` and `dedupe`, whose leases, claims and rewriting it uses.
"""
