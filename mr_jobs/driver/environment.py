"""The environment that tasks of jobs run in: what the driver runs, as one archive.

A task runs on a host that knows nothing of Pinakes, with the interpreter that is there and
this archive unpacked next to it (`PYTHONPATH`).  It holds the distributions that Pinakes and
the extras of a job need, native libraries included, in the versions that the driver itself
imports, and Pinakes: nothing is resolved or fetched.  Its name is a hash of what is in it
(docs/adr/0025-the-environment-of-jobs.md).
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import tarfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, NamedTuple

from isal import igzip

from pinakes.extras import missing_extra
from pinakes.mr_jobs.extra import Requirement, canonicalize_name

NAME = "pinakes"
EXTRAS = ("jobs", "cluster")
# The distribution of ours may be installed editable: its modules are where they are imported from.
_OUR_PACKAGES = ("pinakes", "pinakes.hbase_schema", "pinakes.mr_jobs", "pinakes.qa")
_LEFT_OUT = ("__pycache__", "tests", "include")
_SUFFIXES_LEFT_OUT = (".pyc", ".pyx", ".pxd", ".a", ".lib", ".h")


class EnvironmentFile(NamedTuple):
    """One file of the environment: its path in the archive, and where it is now."""

    name: str
    path: Path


def python_tag() -> str:
    """What an environment was made for: no other interpreter can import its libraries."""
    return f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"


def distributions(
    extras: Iterable[str] = EXTRAS, others: Iterable[str] = ()
) -> dict[str, Distribution]:
    """What Pinakes with these extras and these other distributions need, by canonical name,
    Pinakes left out.

    Raises:
        MissingExtra: naming what is not installed.
    """
    extras = frozenset(extras)
    found: dict[str, Distribution] = {}
    waiting = [(NAME, extras), *((name, frozenset[str]()) for name in others)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            one = distribution(name)
        except PackageNotFoundError as error:
            what = f"{name} is not installed, and jobs need it"
            raise missing_extra(what, *sorted(extras)) from error
        if name != NAME:
            found[name] = one
        for text in one.requires or ():
            need = Requirement(text)
            if need.marker is None or any(
                need.marker.evaluate({"extra": extra}) for extra in ("", *wanted)
            ):
                waiting.append((canonicalize_name(need.name), frozenset(need.extras)))
    return found


def environment_files(found: Iterable[Distribution]) -> Iterator[EnvironmentFile]:
    """Every file of the environment, in no order."""
    for one in found:
        for entry in one.files or ():
            path = Path(str(one.locate_file(entry)))
            # Scripts lie outside; what is not there was compiled for another Python.
            if ".." not in entry.parts and _is_wanted(entry.parts) and path.is_file():
                yield EnvironmentFile(entry.as_posix(), path)
    yield from _our_files()


def _is_wanted(parts: tuple[str, ...]) -> bool:
    return not any(part in _LEFT_OUT for part in parts) and not parts[-1].endswith(
        _SUFFIXES_LEFT_OUT
    )


def _our_files() -> Iterator[EnvironmentFile]:
    for package in _OUR_PACKAGES:
        spec = find_spec(package)
        places = spec.submodule_search_locations if spec is not None else None
        for place in places or ():
            for folder, subfolders, names in os.walk(place):
                # Links to the packages that lie elsewhere are walked as those.
                subfolders[:] = [name for name in subfolders if name not in _LEFT_OUT]
                inside = Path(folder).relative_to(place).parts
                for name in names:
                    parts = (*package.split("."), *inside, name)
                    if _is_wanted(parts):
                        yield EnvironmentFile("/".join(parts), Path(folder, name))


class Environment:
    """The environment of this process, packed when it is wanted."""

    def __init__(self, extras: Iterable[str] = EXTRAS, others: Iterable[str] = ()) -> None:
        """Look at what is installed: see `distributions`.

        Raises:
            MissingExtra: where something is not.
        """
        found = distributions(extras, others)
        self.versions = {name: one.version for name, one in sorted(found.items())}
        self.files = sorted({file.name: file for file in environment_files(found.values())}.items())
        self.archive_name = f"environment-{self._hash()[:20]}.tar.gz"

    def _hash(self) -> str:
        """Of versions, of the interpreter, and of every byte of ours."""
        state = hashlib.sha256(python_tag().encode())
        for name, version in self.versions.items():
            state.update(f"\n{name}=={version}".encode())
        for name, file in self.files:
            if name.startswith(f"{NAME}/"):
                state.update(
                    f"\n{name} {hashlib.sha256(file.path.read_bytes()).hexdigest()}".encode()
                )
        return state.hexdigest()

    def pack(self, out: BinaryIO) -> None:
        """Write the archive; the same environment gives the same bytes."""
        # A twelfth of the time that zlib takes, for an eighth more bytes: it is sent once.
        packed = igzip.IGzipFile(  # type: ignore[no-untyped-call]
            fileobj=out, mode="wb", compresslevel=2, mtime=0, filename=""
        )
        with (
            packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for name, file in self.files:
                member = tarfile.TarInfo(name)
                member.size = file.path.stat().st_size
                member.mode = 0o755 if os.access(file.path, os.X_OK) else 0o644
                with file.path.open("rb") as content:
                    archive.addfile(member, content)


def main() -> None:
    """`make bundle`: the environment as a file in a folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    environment = Environment()
    path = folder / environment.archive_name
    with path.open("wb") as out:
        environment.pack(out)
    print(f"{path}: {len(environment.files):,} files, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
