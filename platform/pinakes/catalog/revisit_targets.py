"""What a revisit that a crawler wrote refers to, by rows alone.

As replay tools look for it: at the URI and second that it names; else by its record id, or by its
digest among the captures of that URI; else by both at another URI; where it names no second, digest
or id, any earlier capture of its URI may be meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pinakes.hbase_schema.capture_keys import captures_of, decode_capture_key
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import parse_digest

from .captures import COLUMNS, TABLE, CaptureRow, decode_capture, scan_captures_of
from .file_rows import hidden_among
from .many_ranges import rows_in
from .payloads import at_moment, full_with_digest, has_digest, may_have_digest

FULL = ("response", "resource")
SEVERAL_MEANT = "this revisit may mean several records of unequal bodies"
ID_ALONE = "a record id alone says what this revisit means, and other records may have it"
Named = tuple[str, str]
"""A URI and a second."""


def is_foreign_revisit(capture: CaptureRow) -> bool:
    """Whether a crawler wrote it as a revisit, and it stands."""
    return capture.facts.type == "revisit" and capture.withdrawal is None


def captures_named(rows: RowStore, revisits: Iterable[CaptureRow]) -> dict[Named, list[CaptureRow]]:
    """The captures that readers see at the URIs and seconds that these revisits name.

    Over a network the ranges are read side by side, each pair once.
    """
    named = sorted({one for one in map(_named_by, revisits) if one is not None})
    ranges = [
        captures_of(urlkey(uri), start_time=second, stop_time=f"{int(second) + 1:014d}")
        for uri, second in named
    ]
    found: dict[Named, list[CaptureRow]] = {one: [] for one in named}
    for number, row in rows_in(rows, TABLE, ranges, COLUMNS):
        capture = decode_capture(row)
        if capture is not None:
            found[named[number]].append(capture)
    hidden = hidden_among(rows, {c.facts.archive_file for some in found.values() for c in some})
    return {
        one: [capture for capture in captures if capture.facts.archive_file not in hidden]
        for one, captures in found.items()
    }


def _named_by(revisit: CaptureRow) -> Named | None:
    facts = revisit.facts
    if not facts.refers_to_target_uri or not facts.refers_to_date:
        return None
    second = second_of(facts.refers_to_date)
    return (facts.refers_to_target_uri, second) if second is not None else None


class RevisitTargets:
    """What revisits of crawlers refer to; names that were looked for are not looked for again."""

    def __init__(self, rows: RowStore, there: Mapping[Named, Sequence[CaptureRow]]) -> None:
        """`there` is what `captures_named` gave for the revisits that are asked for."""
        self._rows = rows
        self._there = there
        self._elsewhere: dict[tuple[object, ...], list[CaptureRow]] = {}

    def resolve(self, revisit: CaptureRow) -> bool:
        """Whether it leads to a record, as readers of its body look for that: a URI and second that
        it names decide, and nothing else of that URI stands in for what is not there."""
        named = _named_by(revisit)
        if named is None:
            return bool(self.of(revisit))
        declared = revisit.facts.declared_digest
        return any(
            capture.facts.target_uri == named[0] and may_have_digest(capture.facts, declared)
            for capture in _full(self._there[named])
        )

    def of(self, revisit: CaptureRow, beside: Sequence[CaptureRow] = ()) -> list[CaptureRow]:
        """The records, full as they landed, that this revisit may mean, the most likely first.

        Those that `dedupe` has made revisits since are among them; captures in flight are not.
        `beside` are captures under other urlkeys that may be meant: by their record id, or as the
        answer to a POST.  Where nothing is at the second that it names, a scan of its target's
        urlkey.
        """
        facts = revisit.facts
        uri = facts.refers_to_target_uri or facts.target_uri
        named = _named_by(revisit)
        further = [capture for capture in beside if capture.facts.target_uri == uri]
        at: list[CaptureRow] = []
        if named is not None:
            second = named[1]
            at = [c for c in _full((*self._there[named], *further)) if c.time.startswith(second)]
            fitting = [c for c in at if may_have_digest(c.facts, facts.declared_digest)]
            found = _meant(revisit, at, lambda c: c in fitting)
            if found:
                exact = [capture for capture in found if capture.facts.target_uri == uri]
                dated = at_moment(fitting, facts.refers_to_date)
                if dated is not fitting and not any(capture in dated for capture in found):
                    return [*dated, *found]  # its id names another one of that second
                return list(at_moment(exact or found, facts.refers_to_date))
        with_id = [c for c in _full(beside) if c.facts.record_id == facts.refers_to_id is not None]
        if with_id:
            return with_id
        names = (
            uri,
            named,
            facts.declared_digest,
            facts.refers_to_id,
            () if named else revisit.key,
        )
        if further or names not in self._elsewhere:
            captures = (*scan_captures_of(self._rows, urlkey(uri)), *further)
            self._elsewhere[names] = _of_uri(
                revisit, list(_full(captures)), has_second=named is not None
            ) or list(self._of_other_uris(revisit))
        # Tools that go by URI and second alone are led there with any digest.
        return self._elsewhere[names] or [one for one in at if one.facts.target_uri == uri]

    def _of_other_uris(self, revisit: CaptureRow) -> Iterator[CaptureRow]:
        """Those with the id that it names alone, found by its digest: no row leads from an id."""
        facts = revisit.facts
        digest = parse_digest(facts.declared_digest or "")
        if facts.refers_to_id is None or facts.refers_to_target_uri is not None or digest is None:
            return
        for one in full_with_digest(self._rows, revisit, digest):
            if one.facts.record_id == facts.refers_to_id:
                yield one


def _of_uri(
    revisit: CaptureRow, captures: list[CaptureRow], *, has_second: bool
) -> list[CaptureRow]:
    """By id or digest among the captures of its URI; else, without a second or id, any earlier
    one."""
    if not has_second:
        own = decode_capture_key(revisit.key).time
        captures = [capture for capture in captures if capture.time <= own]
    declared = revisit.facts.declared_digest
    found = _meant(
        revisit, captures, lambda c: declared is not None and has_digest(c.facts, declared)
    )
    if not found and not has_second and revisit.facts.refers_to_id is None:
        found = [c for c in captures if may_have_digest(c.facts, declared)]
    return found[::-1]


def is_named_by_id_alone(revisit: CaptureRow, original: CaptureRow) -> bool:
    """Whether nothing but a record id leads from a revisit to this record.

    No row leads from an id to records: only a scan shows whether another one has it.
    """
    facts = revisit.facts
    uri = facts.refers_to_target_uri or facts.target_uri
    return facts.declared_digest is None and original.facts.target_uri != uri


def _full(captures: Iterable[CaptureRow]) -> Iterator[CaptureRow]:
    seen = set()
    for capture in captures:
        if capture.facts.type in FULL and capture.withdrawal is None and capture.key not in seen:
            seen.add(capture.key)
            yield capture


def _meant(
    revisit: CaptureRow, captures: list[CaptureRow], fits: Callable[[CaptureRow], bool]
) -> list[CaptureRow]:
    """By record id, else by what fits."""
    wanted = revisit.facts.refers_to_id
    by_id = [capture for capture in captures if wanted and capture.facts.record_id == wanted]
    return by_id or [capture for capture in captures if fits(capture)]
