"""A run of `dedupe` over a store: what it reads, decides, writes, and takes up again."""
