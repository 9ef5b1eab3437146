"""How verbs say which duplicates stay full."""

from __future__ import annotations

from collections.abc import Mapping


def left_full_text(left: Mapping[str, int]) -> str:
    """Behind a sentence: how many, by reason; nothing where there are none."""
    if not left:
        return ""
    return "; left full: " + ", ".join(
        f"{count} {reason}" for reason, count in sorted(left.items())
    )
