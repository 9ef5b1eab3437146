"""Backups of a whole store, and stores made of them again.

Layer: above `ingest` and `dedupe`, whose unfinished acts a restored store has to end; below
`config`.  docs/backup.md is for those who use it, docs/adr/0024-backup.md says why.
"""
