"""Zstandard dictionaries: which records they are made of, and which size saves most.

Layer: above `warc`, next to `index`.  Reads no file and writes none.
"""
