"""Bytes of archive files: members, records, digests, revisits.

Layer: above `pinakes.errors` only.  Reads WARC 0.17, 0.18, 1.0 and 1.1
(ISO 28500) and ARC 1 and 2, plain or compressed record by record.
"""
