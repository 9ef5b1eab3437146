"""Landing of archive files: rows are written, the file is published, then both are shown.

Layer: above `rewrite` and `catalog`, next to `dedupe`.
"""
