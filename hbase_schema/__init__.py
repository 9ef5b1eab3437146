"""What is stored: tables, families, row keys and cells.

Layer: beside `pinakes.warc`, above `pinakes.errors`.  Standard library and primitives
only: `pinakes.catalog` converts to and from domain values.
"""
