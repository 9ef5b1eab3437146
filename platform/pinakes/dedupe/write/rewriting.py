"""Rewriting whole archive files with replacements: proven on raw bytes, then published."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from pinakes.archive_store.local.files import sha256_of
from pinakes.archive_store.local.whole_files import OutputFolder
from pinakes.archive_store.located import file_on_disk, local_path, output_name
from pinakes.errors import ConfigError, DigestMismatch, InputRefused
from pinakes.rewrite.new_file import NewFiles, publish_checked
from pinakes.rewrite.replace import (
    Replacement,
    copy_file_with_replacements,
    copy_source_with_replacements,
)
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
        Conflict, StoreUnavailable: as `new_file.publish_checked`.
    Then nothing is published.
    """
    if target.exists() and not is_remote(place) and _is_same_file(target, local_path(place)):
        raise InputRefused("this is the input itself: write to another folder", file=str(target))
    with file_on_disk(place) as old:
        source = Source(old, name=place)

        def write(out: BinaryIO) -> None:
            # The kernel copies what stays.
            copy_file_with_replacements(
                cast("BinaryIO", old), out, source.size, replacements(source)
            )

        publish_checked(
            OutputFolder(target.parent), target.name, source, write, partial(check, source)
        )


def rewrite_source(
    source: Source, files: NewFiles, replacements: Replacements, *, check: Check
) -> None:
    """The same of a file that is open, by its base name, wherever new files go."""

    def write(out: BinaryIO) -> None:
        copy_source_with_replacements(source, out, replacements(source))

    publish_checked(files, PurePosixPath(source.name).name, source, write, partial(check, source))


def rewrite_or_copy(
    rewrite: Callable[..., None],
    replacements: Replacements,
    count: RefsCount,
    *,
    proven: Check = lambda before, after: None,
) -> None:
    """Rewrite a file with revisits; where their proof fails, leave it as it is.

    `rewrite` is `rewrite_to` or `rewrite_source` but for the replacements.  Then `count`,
    which `replacements` filled, says so.  `proven` is called once the revisits are proven.
    """

    def check(before: Source, after: Source) -> None:
        require_revisits(before, after, count.take_bodies())
        proven(before, after)

    try:
        rewrite(replacements, check=check)
    except DigestMismatch as problem:
        count.keep_full(problem)
        rewrite(lambda source: iter(()), check=require_given_back)


def _is_same_file(target: Path, path: Path) -> bool:
    try:
        return target.samefile(path)
    except NotADirectoryError:  # in a package
        return False
