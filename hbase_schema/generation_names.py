r"""Names of stored files: each generation of an archive file is another file.

    crawl/p/x.warc.gz              as it landed: generation 1, and the identity of the file
    crawl/g2/p/x.warc.gz           generation 2, with the ending that the file landed with
    crawl/g3-gz/p/x.warc.zst       generation 3, in Zstandard
          │  │            └─ what this file is
          │  └ the ending with which it landed: gz, zst, bz2, or plain
          └ number

So a name shows what the file is, and its identity without the catalogue.  Only a name that ends in
`.warc` or `.arc`, and perhaps `.gz`, `.zst` or `.bz2`, has generations with another ending.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

GZIP, ZSTD, PLAIN = "gz", "zst", "plain"
_FOLDER = re.compile(r"g[0-9]+(?:-(?:gz|zst|bz2|plain))?/")
_AS_LANDED = re.compile(r"g([0-9]+)/")
_CHANGED = re.compile(r"g([2-9]|[1-9][0-9]+)-(gz|zst|bz2|plain)/")
_ENDING = re.compile(r"(.*[^/]\.w?arc)(?:\.(gz|zst|bz2))?\Z", re.DOTALL)


class Generation(NamedTuple):
    """A generation of an archive file; `ending` None: that with which the file landed."""

    archive_file: str
    number: int
    ending: str | None = None

    @property
    def name(self) -> str:
        """The stored file."""
        return generation_file(*self)

    @property
    def outside_name(self) -> str:
        """The identity with the ending of this generation: how it is named outside the store."""
        if self.ending is None:
            return self.archive_file
        return with_ending(self.archive_file, self.ending)

    def following(self) -> Generation:
        """The next one, with the same ending."""
        return self._replace(number=self.number + 1)


def ending_of(name: str) -> str | None:
    """`gz`, `zst`, `bz2` or `plain`, as the name says; None where it does not say so."""
    found = _ENDING.match(name)
    return (found[2] or PLAIN) if found is not None else None


def with_ending(name: str, ending: str) -> str:
    """The name of a file in another compression: `a.warc.zst` of `a.warc.gz`.

    Raises ValueError for a name that has no ending of these.
    """
    found = _ENDING.match(name)
    if found is None:
        raise ValueError(f"no ending to change: {name!r}")
    return found[1] if ending == PLAIN else f"{found[1]}.{ending}"


def ending_in(archive_file: str, ending: str) -> str | None:
    """This ending, as cells and `Generation` have it: None where the file landed with it."""
    return None if ending == ending_of(archive_file) else ending


def has_generation_folder(path: str) -> bool:
    """Whether the first folder of a path is named like one of generations: `g2`, `g2-gz`."""
    return _FOLDER.match(path) is not None


def generation_file(archive_file: str, number: int, ending: str | None = None) -> str:
    """The file that holds a generation, as named in CDX; the first is the identity.

    Raises ValueError for a number below 1, and for an ending that the generation cannot have.
    """
    if number < 1:
        raise ValueError("generations are numbered from 1")
    landed = ending_of(archive_file)
    if ending is not None and (number == 1 or landed is None or ending == landed):
        raise ValueError(f"generation {number} of {archive_file!r} has no ending of its own")
    if number == 1:
        return archive_file
    crawl, _, path = archive_file.partition("/")
    if ending is None:
        return f"{crawl}/g{number}/{path}"
    return f"{crawl}/g{number}-{landed}/{with_ending(path, ending)}"


def generation_of(name: str) -> Generation:
    """What a stored file holds, by its name: the inverse of `generation_file`."""
    crawl, _, path = name.partition("/")
    as_landed = _AS_LANDED.match(path)
    if as_landed is not None:
        return Generation(f"{crawl}/{path[as_landed.end() :]}", int(as_landed[1]))
    changed = _CHANGED.match(path)
    if changed is not None:
        number, landed = changed.groups()
        path = path[changed.end() :]
        ending = ending_of(path)
        if ending is not None and ending != landed:
            return Generation(f"{crawl}/{with_ending(path, landed)}", int(number), ending)
    return Generation(name, 1)


def iter_generation_files(archive_file: str, number: int) -> Iterator[str]:
    """Yield the names that a generation may have, by any act that wrote it: as landed first."""
    yield generation_file(archive_file, number)
    landed = ending_of(archive_file)
    if number == 1 or landed is None:
        return
    # No act writes bzip2.
    for ending in (GZIP, ZSTD, PLAIN):
        if ending != landed:
            yield generation_file(archive_file, number, ending)
