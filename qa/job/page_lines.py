"""The input of a task, a line per page: the page, and its pairs to judge."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pinakes.errors import MalformedRecord
from pinakes.qa.run.plan import Pair
from pinakes.qa.sample.draw import Drawn
from pinakes.qa.sample.drawn_line import decode_drawn, encode_drawn


def encode_page(drawn: Drawn, pairs: Sequence[Pair]) -> str:
    """One line of ASCII, without its end."""
    return json.dumps({"drawn": encode_drawn(drawn), "pairs": [list(pair) for pair in pairs]})


def decode_page(line: bytes) -> tuple[Drawn, list[Pair]]:
    """Undo `encode_page`.

    Raises:
        MalformedRecord: not such a line.
    """
    try:
        entry = json.loads(line)
        return decode_drawn(entry["drawn"]), [Pair(*pair) for pair in entry["pairs"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise MalformedRecord(f"not a page of a QA run: {error}") from error
