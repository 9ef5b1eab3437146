"""The row key of a pair in `qa_pairs`: its run, its capture, and the names of its two views."""

from __future__ import annotations

from pinakes.hbase_schema.name_keys import PairKey

from .pair_result import PairResult, View


def pair_key(result: PairResult) -> PairKey:
    """The key of a result; a run judges a pair of views of a capture once.

    Raises:
        ValueError: the capture's key is not hexadecimal.
    """
    return PairKey(
        result.run,
        bytes.fromhex(result.capture_key),
        view_name(result.reference),
        view_name(result.other),
    )


def view_name(view: View) -> str:
    """The name of a view in the key: see `side_name`."""
    return side_name(view.kind, view.browser)


def side_name(kind: str, browser: str) -> str:
    """`before.chromium`, `current.firefox`, `access.chromium`, `stored`, `live.chromium`.

    The name of a generation, or the part of another kind before its colon: a run has at most one
    access system.
    """
    word, _, detail = kind.partition(":")
    name = detail if word == "replay" and detail else word
    return f"{name}.{browser}" if browser else name
