"""fsck: rows and files compared both ways, repaired by what their bytes say; and what repairs keep.

`check` is all of it; `quarantine` keeps what a repair replaces, `undoing` puts it back.
"""
