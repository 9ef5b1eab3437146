"""One pass over one file: every record with what it breaks by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePath

from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch
from pinakes.warc.source import Source

from . import blocks, digests, framing, headers, revisits
from .rules import Hit
from .subject import Subject

Check = Callable[[Subject], Iterator[Hit]]
Examined = tuple["Subject | None", "list[Hit]"]

_ALL_FORMATS: tuple[Check, ...] = (
    headers.check_version,
    framing.check_reader_findings,
    digests.check_block_digest,
    digests.check_payload_digest,
)
_CHECKS: tuple[Check, ...] = (
    headers.check_lines,
    headers.check_presence,
    headers.check_syntax,
    blocks.check_content_type,
    blocks.check_capture,
    blocks.check_truncation,
    blocks.check_fields_block,
    blocks.check_segment,
    revisits.check_revisit,
)


def examine_file(source: Source) -> Iterator[Examined]:
    """Yield every record and what was found, in file order; None where there is no record.

    Of a record that the standard does not cover (ARC, WARC/0.17) only what it shares
    with WARC/1.0 is checked.  What concerns the file comes with its first record,
    whose version says by which clause.
    """
    gaps = framing.Gaps(source)
    about_file = list(framing.check_file(source))
    name = PurePath(source.name).name
    covered = True
    for item in iter_records(source):
        if isinstance(item, DamagedStretch):
            yield None, [*gaps.before(item.offset), framing.check_damaged_stretch(item)]
            gaps.after_stretch(item)
            continue
        subject = Subject.of(item)
        covered = subject.version is not None
        hits = [*about_file, *gaps.before(item.offset)] if covered else []
        about_file = []
        yield subject, [*hits, *examine_record(subject, name)]
        gaps.after_record(subject)
    yield None, [*about_file, *(gaps.before(source.size) if covered else ())]


def examine_record(subject: Subject, file_name: str) -> Iterator[Hit]:
    """What one record breaks, taken alone."""
    for check in _ALL_FORMATS:
        yield from check(subject)
    if subject.version is None:
        if not subject.is_arc:
            yield from headers.check_older_fields(subject)
        return
    if not subject.record.ordinal:
        yield from framing.check_first(subject)
    for check in _CHECKS:
        yield from check(subject)
    yield from blocks.check_warcinfo(subject, file_name)
