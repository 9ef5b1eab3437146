"""Rewriting whole archive files: written aside, proven on raw bytes, published."""

from __future__ import annotations

import filecmp
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pinakes.archive_store.local_files import sha256_of
from pinakes.archive_store.located import file_on_disk, local_path, output_name
from pinakes.archive_store.whole_files import remove_leftover, written_aside
from pinakes.errors import ConfigError, DigestMismatch, InputRefused
from pinakes.rewrite.replace import Replacement, copy_with_replacements
from pinakes.warc.file_names import is_remote
from pinakes.warc.source import Source

from .given_back import require_given_back, require_revisits
from .refs import RefsCount

Replacements = Callable[[Source], Iterator[Replacement]]
Check = Callable[[Source, Source], None]
"""Of the old file and the new; raises DigestMismatch."""


def refuse_equal_names(places: Iterable[str]) -> None:
    """Raise ConfigError where two inputs would be written under one name."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for place in places:
        by_name[output_name(place)].append(place)
    clashes = [names for names in by_name.values() if len(names) > 1]
    if clashes:
        listed = "; ".join(" and ".join(names) for names in clashes)
        raise ConfigError(f"inputs of one name, nothing was written: {listed}")


def run_name_of(manifest: Path) -> str:
    """A name for the run that is the same whenever the manifest is."""
    return f"refs-{sha256_of(manifest)[:12]}"


def rewrite_to(
    place: str, target: Path, replacements: Replacements, *, check: Check = require_given_back
) -> None:
    """Write the file at `place`, a path or URL, anew as `target`; the old file is not touched.

    Where `target` is there already with just these bytes, it stays: an earlier run was
    stopped behind it.

    Raises:
        DigestMismatch: by `check`.
        InputRefused: where the file changed meanwhile, or `target` is another file.
    Then nothing is published.
    """
    if not target.exists():
        _write(place, target, replacements, check)
        return
    if not is_remote(place) and _is_same_file(target, local_path(place)):
        raise InputRefused("this is the input itself: write to another folder", file=str(target))
    again = target.with_name(f".{target.name}.pinakes-again")
    again.unlink(missing_ok=True)
    try:
        _write(place, again, replacements, check)
        if not filecmp.cmp(again, target, shallow=False):
            raise InputRefused("exists already and is not replaced", file=str(target))
        remove_leftover(target)
    finally:
        again.unlink(missing_ok=True)


def rewrite_or_copy(place: str, target: Path, replacements: Replacements, count: RefsCount) -> None:
    """`rewrite_to` with revisits; where their proof fails, the file as it is.

    Then `count`, which `replacements` filled, says so.
    """
    try:
        rewrite_to(
            place,
            target,
            replacements,
            check=lambda before, after: require_revisits(before, after, count.take_bodies()),
        )
    except DigestMismatch as problem:
        count.keep_full(problem)
        rewrite_to(place, target, lambda source: iter(()))


def _is_same_file(target: Path, path: Path) -> bool:
    try:
        return target.samefile(path)
    except NotADirectoryError:  # in a package
        return False


def _write(place: str, target: Path, replacements: Replacements, check: Check) -> None:
    with file_on_disk(place) as old, written_aside(target) as descriptor:
        source = Source(old, name=place)
        copy_with_replacements(old.fileno(), descriptor, replacements(source))
        with open(descriptor, "rb", buffering=0, closefd=False) as new:
            check(source, Source(new, name=str(target)))
        source.check_unchanged()
