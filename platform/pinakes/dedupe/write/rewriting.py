"""Rewriting whole archive files: written aside, proven on raw bytes, published."""

from __future__ import annotations

import filecmp
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pinakes.archive_store.local_files import sha256_of
from pinakes.archive_store.whole_files import remove_leftover, written_aside
from pinakes.errors import ConfigError, DigestMismatch, InputRefused
from pinakes.rewrite.replace import Replacement, copy_with_replacements
from pinakes.warc.source import Source, open_source

from .given_back import require_given_back, require_revisits
from .refs import RefsCount

Replacements = Callable[[Source], Iterator[Replacement]]
Check = Callable[[Source, Source], None]
"""Of the old file and the new; raises DigestMismatch."""


def refuse_equal_names(paths: Iterable[str]) -> None:
    """Raise ConfigError where two inputs would be written under one base name."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        by_name[Path(path).name].append(path)
    clashes = [names for names in by_name.values() if len(names) > 1]
    if clashes:
        listed = "; ".join(" and ".join(names) for names in clashes)
        raise ConfigError(f"inputs of one base name, nothing was written: {listed}")


def run_name_of(manifest: Path) -> str:
    """A name for the run that is the same whenever the manifest is."""
    return f"refs-{sha256_of(manifest)[:12]}"


def rewrite_to(
    path: Path, target: Path, replacements: Replacements, *, check: Check = require_given_back
) -> None:
    """Write `path` anew as `target`; the old file is not touched.

    Where `target` is there already with just these bytes, it stays: an earlier run was
    stopped behind it.

    Raises:
        DigestMismatch: by `check`.
        InputRefused: where `path` changed meanwhile, or `target` is another file.
    Then nothing is published.
    """
    if not target.exists():
        _write(path, target, replacements, check)
        return
    if target.samefile(path):
        raise InputRefused("this is the input itself: write to another folder", file=str(target))
    again = target.with_name(f".{target.name}.pinakes-again")
    again.unlink(missing_ok=True)
    try:
        _write(path, again, replacements, check)
        if not filecmp.cmp(again, target, shallow=False):
            raise InputRefused("exists already and is not replaced", file=str(target))
        remove_leftover(target)
    finally:
        again.unlink(missing_ok=True)


def rewrite_or_copy(path: Path, target: Path, replacements: Replacements, count: RefsCount) -> None:
    """`rewrite_to` with revisits; where their proof fails, the file as it is.

    Then `count`, which `replacements` filled, says so.
    """
    try:
        rewrite_to(path, target, replacements, check=require_revisits)
    except DigestMismatch as problem:
        count.keep_full(problem)
        rewrite_to(path, target, lambda source: iter(()))


def _write(path: Path, target: Path, replacements: Replacements, check: Check) -> None:
    with (
        open_source(path) as source,
        path.open("rb") as old,
        written_aside(target) as descriptor,
    ):
        copy_with_replacements(old.fileno(), descriptor, replacements(source))
        with open(descriptor, "rb", buffering=0, closefd=False) as new:
            check(source, Source(new, name=str(target)))
        source.check_unchanged()
