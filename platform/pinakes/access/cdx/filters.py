"""Which lines of a query are left out: `filter` and `collapse`.

Regular expressions are RE2's: their time is linear in the text, in every form, since anyone
may send one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

import re2

from pinakes.errors import ConfigError
from pinakes.hbase_schema.capture_cells import FACTS_LEAD as LEAD

from .lines import NAMES, Line, canonical_name

_OUTBACK = re.compile(r"(~)?(!)?(\w+):(.*)\Z", re.DOTALL)
_LITERAL = re.compile(r"[A-Za-z0-9_:=/ -]+\Z", re.ASCII)
"""A text that is the same as a regular expression, and in JSON."""
_MOST_LENGTH = 2000
MOST_PROGRAM = 2000
"""RE2's instructions of all expressions of a query: its time is at worst that by the text's length,
here 0.1 ms a line.  `.{0,200}` has 1,800."""
_MOST_MEMORY = 8 << 20
_UNKNOWN = "-"
_BEHIND_LEAD = LEAD[:-1] + bytes([LEAD[-1] + 1])


class LineFilter(NamedTuple):
    """Keeps the lines for which `fits` is not `inverted`; `text` is as it was given.

    `hint` is in the stored value of every capture whose line it keeps; `program` is the size of
    its expression.
    """

    text: str
    inverted: bool
    fits: Callable[[Line], bool]
    hint: bytes | None = None
    program: int = 0

    def keeps(self, line: Line) -> bool:
        """Whether the line stays."""
        return self.fits(line) is not self.inverted


def parse_filters(texts: Iterable[str], *, is_regex: bool) -> tuple[LineFilter, ...]:
    """The filters of a query.

    Raises:
        ConfigError: one is none, or their expressions are too large together.
    """
    found = tuple(parse_filter(text, is_regex=is_regex) for text in texts)
    if sum(each.program for each in found) > MOST_PROGRAM:
        raise ConfigError("the regular expressions of the query are too large: count less in them")
    return found


def parse_filter(text: str, *, is_regex: bool) -> LineFilter:
    """A filter as it stands in a query.

    pywb's: `[!]field:text` is contained, `[!]=field:text` is equal, `[!]~field:regex` matches at
    the beginning; without a field, the whole line.  OutbackCDX's (`is_regex`) and Wayback's:
    `[!]field:regex` matches the whole value, `~[!]field:text` is contained.

    Raises:
        ConfigError: it is none, or the expression is not RE2's.
    """
    if len(text) > _MOST_LENGTH:
        raise ConfigError(f"a filter has more than {_MOST_LENGTH} characters")
    if is_regex:
        match = _OUTBACK.match(text)
        if match is None and text[:1] not in ("=", "!"):
            raise ConfigError(f"filter={text[:80]!r} is not [!]field:regex")
        if match is not None:
            contains, inverted, field, wanted = match.groups()
            name = canonical_name(field)
            if not contains and name in NAMES and _LITERAL.match(wanted):
                return _equal(text, inverted is not None, name, wanted)
            test, program = _contains(wanted) if contains else _regex(wanted, whole=True)
            fits = _on_field(field, test, _UNKNOWN)
            return LineFilter(text, inverted is not None, fits, program=program)
    inverted = text.startswith("!")
    rest = text[1:] if inverted else text
    operator = rest[:1] if rest[:1] in ("=", "~") else ""
    field, colon, wanted = rest[len(operator) :].partition(":")
    if not colon:
        field, wanted = "", field
    field = canonical_name(field)
    if operator == "=":
        if field in NAMES and _LITERAL.match(wanted):
            return _equal(text, inverted, field, wanted)
        return LineFilter(text, inverted, _on_field(field, wanted.__eq__, ""))
    test, program = _regex(wanted, whole=False) if operator == "~" else _contains(wanted)
    return LineFilter(text, inverted, _on_field(field, test, ""), program=program)


def _on_field(field: str, test: Callable[[str], bool], missing: str) -> Callable[[Line], bool]:
    name = canonical_name(field)
    if not name:
        return lambda line: test(line.cdxj()[:-1].decode("utf-8", "replace"))
    return lambda line: test(missing if (value := line.value(name)) is None else value)


def _equal(text: str, inverted: bool, field: str, wanted: str) -> LineFilter:
    """Equality without taking the value out: its JSON text stands in the line, or not."""
    stored = f'"{field}":"{wanted}"'.encode("ascii")
    # What does not change where a record becomes a revisit, or moves.
    hint = stored if field in ("digest", "status") and not inverted else None
    return LineFilter(text, inverted, lambda line: stored in line.fields, hint)


def _contains(wanted: str) -> tuple[Callable[[str], bool], int]:
    return lambda value: wanted in value, 0


def _regex(pattern: str, *, whole: bool) -> tuple[Callable[[str], bool], int]:
    options = re2.Options()
    options.max_mem = _MOST_MEMORY
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        raise ConfigError(f"{pattern[:80]!r} is not a regular expression of RE2") from error
    match = compiled.fullmatch if whole else compiled.match

    def test(value: str) -> bool:
        return match(value.encode("utf-8", "replace").decode()) is not None

    return test, compiled.programsize


def with_hints(
    values: Mapping[bytes, bytes], filters: Iterable[LineFilter]
) -> Mapping[bytes, bytes]:
    """Those of these stored values of which filters may keep the lines; of old versions, all."""
    for hint in [each.hint for each in filters if each.hint is not None]:
        if values and min(values.values()) >= LEAD and max(values.values()) < _BEHIND_LEAD:
            values = _with_hint(values, hint)
        else:
            values = {k: v for k, v in values.items() if hint in v or v[:7] != LEAD}
    return values


def _with_hint(values: Mapping[bytes, bytes], hint: bytes) -> dict[bytes, bytes]:
    """Those that have it, found in all of them at once: half the time of a look into each."""
    text = b"\n".join(values.values())  # a hint has no line end
    at = text.find(hint)
    if at < 0:
        return {}
    found = {}
    keys, ends = list(values), list(accumulate([len(value) + 1 for value in values.values()]))
    while at >= 0:
        row = bisect_right(ends, at)
        found[keys[row]] = values[keys[row]]
        at = text.find(hint, ends[row])
    return found


class Collapse(NamedTuple):
    """Of neighbouring lines that agree in a field, or the first characters of it, one is kept."""

    field: str
    length: int | None
    also: str | None
    keeps_last: bool

    @classmethod
    def of(cls, text: str, *, also: str | None = None, keeps_last: bool = False) -> Collapse:
        """`field` or `field:N`.  Raises ConfigError."""
        field, _, length = text.partition(":")
        if not field or (length and not re.fullmatch("[0-9]{1,4}", length)):
            raise ConfigError(f"collapse={text[:40]!r} is not field or field:length")
        return cls(canonical_name(field), int(length) if length else None, also, keeps_last)

    def value(self, line: Line) -> str:
        """What neighbours are compared by."""
        value = (line.value(self.field) or _UNKNOWN)[: self.length]
        return value if self.also is None else f"{value} {line.value(self.also) or ''}"

    def iter_kept(self, batches: Iterable[list[Line]], last: str | None) -> Iterator[list[Line]]:
        """The lines that are kept, batch by batch; `last` is the value of the line before them."""
        held: Line | None = None
        for batch in batches:
            kept = []
            for line in batch:
                value = self.value(line)
                if self.keeps_last:
                    if held is not None and value != last:
                        kept.append(held)
                    held = line
                elif value != last:
                    kept.append(line)
                last = value
            yield kept
        if held is not None:
            yield [held]
