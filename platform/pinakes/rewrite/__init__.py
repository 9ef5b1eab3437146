"""New versions of archive files: written aside, read back, checked, renamed.

Layer: above `catalog`, below `dedupe` and `ingest`.  An archive file is never
changed in place.
"""
