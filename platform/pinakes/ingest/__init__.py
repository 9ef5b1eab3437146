"""Landing: archive files come in, their rows first, then the file, then both visible.

Layer: above `rewrite` and `catalog`, beside `dedupe`.
"""
