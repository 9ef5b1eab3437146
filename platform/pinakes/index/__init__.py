"""Text about records: manifest lines, CDX, urlkeys, sorting outside memory.

Layer: above `warc`, below everything that stores or decides.
"""
