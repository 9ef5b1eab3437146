"""What differs between two snapshots of a page: numbers with names, and words for people.

    images ─▶ masked ─▶ aligned, block by block ─▶ tiles ┐
    texts, boxes, resources ─▶ what is gone, what is new ├▶ features ─▶ reasons

Pure: snapshots and pixels in, values out.  Needs the extra `qa`.
"""
