"""Text forms of records: manifest lines, CDX, urlkeys; sorting outside memory.

Layer: above `warc`, below all packages that store or decide.
"""
