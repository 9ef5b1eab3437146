"""Rewriting whole archive files: written aside, checked against the old, published."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pinakes.errors import ConfigError, DigestMismatch, InputRefused
from pinakes.rewrite.aside import hidden_name, sync_folder, written_aside
from pinakes.rewrite.replace import Replacement, copy_with_replacements
from pinakes.warc.source import Source, open_source

from .resolution import Resolution
from .validate import Comparison, compare_files

SUPERSEDED = "superseded"
Replacements = Callable[[Source], Iterator[Replacement]]


def refuse_equal_names(paths: Iterable[str]) -> None:
    """Raise ConfigError where two inputs would be written under one base name."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        by_name[Path(path).name].append(path)
    clashes = [names for names in by_name.values() if len(names) > 1]
    if clashes:
        listed = "; ".join(" and ".join(names) for names in clashes)
        raise ConfigError(f"inputs of one base name, nothing was written: {listed}")


def rewrite_to(path: Path, target: Path, replacements: Replacements) -> None:
    """Write `path` anew as `target`; the old file is not touched.

    Raises:
        InputRefused: where `path` changed meanwhile, or `target` exists.
    """
    with (
        open_source(path) as source,
        path.open("rb") as old,
        written_aside(target) as descriptor,
    ):
        copy_with_replacements(old.fileno(), descriptor, replacements(source))
        source.check_unchanged()


def rewrite_in_place(path: Path, replacements: Replacements) -> Path:
    """Put the rewritten file in the old one's place; return where the old one is now.

    The new file is compared with the old one record by record first.  The old one is
    moved to the folder `superseded` beside it.  Killed in between, the same call ends
    the work.

    Raises:
        DigestMismatch: where the comparison found anything; the old file stays.
    """
    folder = path.parent / SUPERSEDED
    kept = folder / path.name
    if kept.exists():
        raise InputRefused(f"{kept} exists already: move it away first", file=str(path))
    fresh = hidden_name(path).with_suffix(".rewritten")
    fresh.unlink(missing_ok=True)
    rewrite_to(path, fresh, replacements)
    found = Comparison()
    with Resolution() as resolution, open_source(path) as old, open_source(fresh) as new:
        compare_files(old, new, resolution, found)
    if found.discrepancies:
        first = found.discrepancies[0]
        fresh.unlink()
        raise DigestMismatch(
            f"the rewritten file is not what it should be ({first.message}); nothing was changed",
            file=str(path),
            offset=first.offset,
        )
    folder.mkdir(exist_ok=True)
    # The name never stands for nothing: the old file gets its second name, then the
    # new one takes the first.
    os.link(path, kept)
    sync_folder(folder)
    fresh.replace(path)
    sync_folder(path.parent)
    return kept
