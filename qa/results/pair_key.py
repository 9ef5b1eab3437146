"""The row of a pair in `qa_pairs`: its run, its capture, and what its two views are called."""

from __future__ import annotations

from pinakes.hbase_schema.name_keys import PairKey

from .pair_result import PairResult, View


def pair_key(result: PairResult) -> PairKey:
    """The key of a result; a run judges a pair of views of a capture once.

    Raises:
        ValueError: its capture's key is not in hexadecimal.
    """
    return PairKey(
        result.run,
        bytes.fromhex(result.capture_key),
        view_name(result.reference),
        view_name(result.other),
    )


def view_name(view: View) -> str:
    """What a view is called in the key: see `side_name`."""
    return side_name(view.kind, view.browser)


def side_name(kind: str, browser: str) -> str:
    """`before.chromium`, `current.firefox`, `access.chromium`, `stored`, `live.chromium`.

    Of a generation its name; of another kind what stands before the colon: a run has one
    access system at most.
    """
    word, _, detail = kind.partition(":")
    name = detail if word == "replay" and detail else word
    return f"{name}.{browser}" if browser else name
