"""`process`: copy numbers and originals for a resolved manifest.

Two sorts outside memory, by urlkey and second (`flags`) and by content, and one back to
file and offset, the order in which `refs` rewrites.  No archive file is read.

    by content ─▶ decided ────────────────────────────▶ by place
                    └─ what waits, what is full ─▶ by content and scope ─▶ decided

Captures that refer within a scope alone (`policy`) wait until it is known which of the others
stay full, since they may refer to those, too.  The others never refer to what has waited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from pinakes.errors import ConfigError
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine, estimate_entry_bytes, estimate_line_bytes, place_of
from pinakes.index.seconds import second_of

from .bodies import BodyReader
from .clusters import WAITS
from .contents import Compare
from .counting import Decisions, ProcessCount
from .entries import (
    Entry,
    WaitingEntries,
    decide_contents,
    is_decided_on,
    leave_undecided,
    waits,
)
from .flags import flag_lines
from .policy import scope_of
from .resolve import UNWATCHED, Comparing, resolve_lines
from .trust import Trust


def process_lines(
    lines: Iterable[ManifestLine],
    *,
    count: ProcessCount,
    resources: bool = False,
    only_duplicates: bool = False,
    space: SortSpace = DEFAULT_SPACE,
) -> Iterator[ManifestLine]:
    """Yield every line with its decision, in order of file, offset, inner offset.

    A line that may take part gets a copy number: 1 where the record stays full, more
    where it is to become a revisit, with the original it refers to in the `original_`
    fields.  Earlier decisions in the lines are dropped, so that processing twice is
    processing once.  `resources` lets `resource` records take part, too.  Of
    `only_duplicates` lines only those that are to become revisits are yielded.  Reads all
    lines before the first is yielded; memory is a few times `space`.

    Raises:
        ConfigError: for a line that may take part and has not been resolved.
    """
    rest_of = Spool[ManifestLine](space=space, item_bytes=estimate_line_bytes)
    with rest_of as rest, Spool[Entry](space=space, item_bytes=estimate_entry_bytes) as scoped:
        scopes: set[str] = set()
        entries = _entries(lines, rest, scopes, count, resources=resources, space=space)
        by_content = sort_outside_memory(entries, space=space, item_bytes=estimate_entry_bytes)
        in_content = decide_contents(by_content, count, aside=WaitingEntries(scoped, scopes))
        # In this order: all that is in `scoped` and `rest` is there when they are read.
        decided: Iterator[ManifestLine] = chain(
            in_content, _decide_scoped(scoped, count, space), rest
        )
        if only_duplicates:
            decided = (line for line in decided if line.is_duplicate)
        yield from sort_outside_memory(
            decided, key=place_of, space=space, item_bytes=estimate_line_bytes
        )


def resolve_and_process(
    lines: Iterable[ManifestLine],
    bodies: BodyReader | None,
    decisions: Decisions,
    *,
    trust: Trust | None = None,
    resources: bool = False,
    only_duplicates: bool = False,
    space: SortSpace = DEFAULT_SPACE,
    compare: Compare | None = None,
    comparing: Comparing = UNWATCHED,
) -> Iterator[ManifestLine]:
    """What `process_lines` gives of what `resolve_lines` gives.

    Raises:
        ConfigError: as both.
    """
    resolved = resolve_lines(
        lines,
        bodies,
        count=decisions.resolved,
        trust=trust,
        space=space,
        compare=compare,
        comparing=comparing,
    )
    return process_lines(
        resolved,
        count=decisions.processed,
        resources=resources,
        only_duplicates=only_duplicates,
        space=space,
    )


def _decide_scoped(
    scoped: Spool[Entry], count: ProcessCount, space: SortSpace
) -> Iterator[ManifestLine]:
    ordered = sort_outside_memory(scoped, space=space, item_bytes=estimate_entry_bytes)
    yield from decide_contents(ordered, count)


def _entries(
    lines: Iterable[ManifestLine],
    rest: Spool[ManifestLine],
    scopes: set[str],
    count: ProcessCount,
    *,
    resources: bool,
    space: SortSpace,
) -> Iterator[Entry]:
    """What is to be decided on; the other lines go to `rest`.  `scopes` gets those that wait."""
    number = 0
    for line, flags in flag_lines(lines, space=space):
        file, offset, _, _, date, digest, extension = line[:7]
        second = second_of(date)
        if is_decided_on(line, resources=resources):
            if extension is None or second is None:
                raise ConfigError(
                    "this line has no hash extension: run `pinakes resolve` on the manifest first",
                    file=file,
                    offset=offset,
                )
            number += 1
            waiting = WAITS if waits(line, flags) else 0
            if waiting:
                scopes.add(scope_of(line.marks))
            yield (
                digest, extension, second, file, offset, line.inner_offset, number,
                flags | waiting, line,
            )  # fmt: skip
            continue
        rest.append(leave_undecided(line, count))
