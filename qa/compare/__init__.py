"""The differences of two snapshots of a page: named numbers, and reasons in words.

    images ─▶ masked ─▶ aligned, block by block ─▶ tiles ┐
    texts, boxes, resources ─▶ what is gone, what is new ├▶ features ─▶ reasons

Pure: snapshots and pixels in, values out.  Needs the extra `qa`.
"""
