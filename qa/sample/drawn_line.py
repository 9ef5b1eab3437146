"""A page of a sample as a line, in the folder of a run and in the input of its tasks."""

from __future__ import annotations

import json

from pinakes.catalog.pages import Page
from pinakes.errors import MalformedRecord

from .draw import Drawn

# Also for numbers of 400 digits, and for too deeply nested brackets.
_DAMAGED = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)


def encode_drawn(drawn: Drawn) -> str:
    """One line of ASCII, without its line end."""
    page = {**drawn.page._asdict(), "row_key": drawn.page.row_key.hex()}
    return json.dumps({**page, "weight": drawn.weight, "is_always": drawn.is_always})


def decode_drawn(line: str | bytes) -> Drawn:
    """Undo `encode_drawn`.

    Raises:
        MalformedRecord: not a page of a sample.
    """
    try:
        entry = json.loads(line)
        weight, is_always = float(entry.pop("weight")), bool(entry.pop("is_always"))
        page = Page(**{**entry, "row_key": bytes.fromhex(entry["row_key"])})
    except _DAMAGED as error:
        raise MalformedRecord(f"not a page of a sample: {error}") from error
    return Drawn(page, weight, is_always)
