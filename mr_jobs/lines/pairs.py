"""The input of `validate`: archive files before and after, one line per pair.

    {"name": "sub/a.warc.gz", "before": "old/sub/a.warc.gz", "after": "new/sub/a.warc.gz"}
    {"name": "originals/b.warc.gz", "originals": "originals/b.warc.gz", "at": [[0, 0], …]}

A second kind of line names a file that is read for full records only: all, or with `at` those at
these places (offset, and offset in the member).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pinakes.config import Configuration
from pinakes.dedupe.validate.folders import sort_out
from pinakes.errors import ConfigError
from pinakes.profile import open_folder
from pinakes.warc.file_names import without_compression

_SUFFIXES = (".arc", ".warc")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePair:
    """One file before and after, by the names that a job opens; None if missing.

    `name` is its name in the output.
    """

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalsFile:
    """A file whose full records may be referred to; `at` names some of them, None is all."""

    name: str
    at: Sequence[tuple[int, int]] | None = None


def format_pair(pair: FilePair | OriginalsFile) -> str:
    """Format as a line."""
    if isinstance(pair, FilePair):
        value: dict[str, object] = {"before": pair.before, "after": pair.after}
    else:
        value = {"originals": pair.name, **({"at": pair.at} if pair.at is not None else {})}
    return json.dumps({"name": pair.name, **value})


def parse_pair(line: str) -> FilePair | OriginalsFile:
    """Undo `format_pair`."""
    value = json.loads(line)
    if "originals" not in value:
        return FilePair(**value)
    places = value.get("at")
    at = None if places is None else [(offset, inner) for offset, inner in places]
    return OriginalsFile(name=value["originals"], at=at)


def files_of_pair(line: str) -> Iterator[str]:
    """The archive files of a line, by the names that a job opens."""
    pair = parse_pair(line)
    names = (pair.before, pair.after) if isinstance(pair, FilePair) else (pair.name,)
    yield from filter(None, names)


def pair_folders(before: str, after: str, configuration: Configuration) -> list[FilePair]:
    """Every archive file below two folders (paths, `hdfs://…`), paired as the verb pairs them.

    Raises:
        ConfigError: there is no pair, or two names differ only by suffix.
    """
    old, new = (_archives(folder, configuration) for folder in (before, after))
    if not old.keys() & new.keys():
        raise ConfigError(f"no pair of archive files in {before} and {after}")
    return [
        FilePair(
            name=new.get(stem) or old[stem],
            before=_below(before, old[stem]) if stem in old else None,
            after=_below(after, new[stem]) if stem in new else None,
        )
        for stem in sorted(old.keys() | new.keys())
    ]


def archives_below(folder: str, configuration: Configuration) -> list[str]:
    """Every archive file below a folder, by the name that a job opens.

    Raises:
        ConfigError: there is none.
    """
    with open_folder(folder, configuration) as store:
        names = [
            _below(folder, name)
            for name, _ in store.list()
            if without_compression(name).endswith(_SUFFIXES)
        ]
    if not names:
        raise ConfigError("no archive files in this folder", file=folder)
    return names


def _archives(folder: str, configuration: Configuration) -> dict[str, str]:
    with open_folder(folder, configuration) as store:
        return sort_out((stored.name for stored in store.list()), folder).archives


def _below(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}"
