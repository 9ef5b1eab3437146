"""Numbers of things, as all messages write them."""

from __future__ import annotations


def count_of(number: int, one: str, many: str | None = None) -> str:
    """`1 file`, `2 files`, `1,234 files`; `many` is the plural, where that is not with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
