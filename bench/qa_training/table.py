"""Writes the table of labelled pairs that ships in `pinakes.qa.training`."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable
from pathlib import Path

from pinakes.errors import MalformedRecord
from pinakes.qa.training.labelled import LEADING, LabelledPair

_DIGITS = 4


def write_table(file: Path, pairs: Iterable[LabelledPair]) -> int:
    """Write a table, the same bytes for the same pairs; how many lines.

    Raises:
        MalformedRecord: pairs with features of other names.
    """
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    names: tuple[str, ...] | None = None
    count = 0
    for pair in pairs:
        if names is None:
            names = tuple(pair.features)
            lines.writerow([*LEADING, *names])
        elif set(names) != set(pair.features):
            raise MalformedRecord(f"a pair of {pair.site} has other features than the first pair")
        numbers = [f"{round(pair.features[name], _DIGITS):g}" for name in names]
        lines.writerow([pair.site, pair.kind, pair.pair, pair.label, *numbers])
        count += 1
    file.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
    return count
