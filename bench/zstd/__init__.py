"""Zstandard beside the gzip that an archive has: sizes, speeds, and reading back."""
