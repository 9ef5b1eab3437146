"""Whether archive files conform to ISO 28500: WARC/1.0 (2009) and WARC/1.1 (2017).

Layer: above `warc`, next to `index`.  `table` has a row for each rule, with the function
that checks it; `references` keeps what is needed to check records against each other.
"""
