"""Backups of a whole store, and restoring stores from them.

Layer: above `ingest` and `dedupe`, whose unfinished acts a restored store has to settle; below
`config`.  See docs/backup.md for use, docs/adr/0024-backup.md for the design.
"""
