"""Whether archive files conform to ISO 28500: WARC/1.0 (2009) and WARC/1.1 (2017).

Layer: above `warc`, beside `index`.  `table.RULES` declares every rule; pure functions
find where one is broken; `references` checks what needs more than one record.
"""
