"""What a revisit that a crawler wrote refers to, by rows alone.

As replay tools look for it: at the URI and second that it names; else by its record id, or by its
digest among the captures of that URI; where it names neither second nor digest, any earlier
capture of its URI may be meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from pinakes.hbase_schema.capture_keys import decode_capture_key
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import parse_digest

from .captures import Capture, scan_captures_of
from .payloads import has_digest

FULL = ("response", "resource")
_COMPUTED = ("sha1", "sha256")


def is_foreign_revisit(capture: Capture) -> bool:
    """Whether a crawler wrote it as a revisit, and it stands."""
    return capture.facts.type == "revisit" and capture.withdrawal is None


def targets_of(rows: RowStore, revisit: Capture, beside: Sequence[Capture] = ()) -> list[Capture]:
    """The records, full as they landed, that this revisit may mean, the most likely first.

    Those that `dedupe` has made revisits since are among them; captures in flight are not.
    `beside` are captures under other urlkeys that may be meant: by their record id, or as the
    answer to a POST.
    One scan of the second that it names, or, where nothing is there, one of its target's urlkey.
    """
    facts = revisit.facts
    uri = facts.refers_to_target_uri or facts.target_uri
    named = facts.refers_to_target_uri and facts.refers_to_date
    second = second_of(named) if named else None
    further = [capture for capture in beside if capture.facts.target_uri == uri]
    if second is not None:
        following = f"{int(second) + 1:014d}"
        there = scan_captures_of(rows, urlkey(uri), start_time=second, stop_time=following)
        at = [c for c in _full((*there, *further)) if c.time.startswith(second)]
        found = _meant(revisit, at, lambda c: _may_have_digest(c, facts.declared_digest))
        if found:
            exact = [capture for capture in found if capture.facts.target_uri == uri]
            return exact or found
    with_id = [c for c in _full(beside) if c.facts.record_id == facts.refers_to_id is not None]
    if with_id:
        return with_id
    captures = list(_full((*scan_captures_of(rows, urlkey(uri)), *further)))
    if second is None:
        own = decode_capture_key(revisit.key).time
        captures = [capture for capture in captures if capture.time <= own]
    declared = facts.declared_digest
    found = _meant(
        revisit, captures, lambda c: declared is not None and has_digest(c.facts, declared)
    )
    if not found and second is None:
        found = [c for c in captures if _may_have_digest(c, declared)]
    return found[::-1]


def _full(captures: Iterable[Capture]) -> Iterator[Capture]:
    seen = set()
    for capture in captures:
        if capture.facts.type in FULL and capture.withdrawal is None and capture.key not in seen:
            seen.add(capture.key)
            yield capture


def _meant(
    revisit: Capture, captures: list[Capture], fits: Callable[[Capture], bool]
) -> list[Capture]:
    """By record id, else by what fits."""
    wanted = revisit.facts.refers_to_id
    by_id = [capture for capture in captures if wanted and capture.facts.record_id == wanted]
    return by_id or [capture for capture in captures if fits(capture)]


def _may_have_digest(capture: Capture, declared: str | None) -> bool:
    """Whether nothing says that its digest is another one."""
    if declared is None or has_digest(capture.facts, declared):
        return True
    digest = parse_digest(declared)
    if digest is None or digest.algorithm not in _COMPUTED:
        known = parse_digest(capture.facts.declared_digest or "")
        return known is None or digest is None or known.algorithm != digest.algorithm
    return capture.facts.payload_sha256 is None
