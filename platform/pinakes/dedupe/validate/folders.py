"""Comparing a folder of archive files with a folder: what `validate` does to two of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pinakes.archive_store.located import open_place, output_name
from pinakes.dedupe.archive_files import SUPERSEDED
from pinakes.dedupe.references.outcomes import HARMLESS, OUTCOMES
from pinakes.dedupe.references.resolution import Reference, Resolution
from pinakes.errors import ConfigError
from pinakes.warc.file_names import is_package_name, without_compression
from pinakes.warc.file_progress import FileProgress
from pinakes.warc.opening import open_source
from pinakes.warc.packages.paths import flat_name, open_package

from .file_pairs import Discrepancy, FilesComparison, Observers, compare_files

_SUFFIXES = (".warc", ".arc")
_PASSES = 2
"""`compare_files` goes over a file twice."""


class Proven(NamedTuple):
    """The SHA-256 of a file and of the one that it became, of which the latter gives it back."""

    before: str
    after: str


@dataclass(slots=True)
class Validation:
    """What the comparison of two folders found."""

    files: list[dict[str, Any]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    comparison: FilesComparison = field(default_factory=FilesComparison)
    references: Counter[str] = field(default_factory=Counter)
    accepted: list[dict[str, str]] = field(default_factory=list)
    replayed: int | None = None

    @property
    def open_discrepancies(self) -> list[Discrepancy]:
        """Those that no one accepted."""
        accepted = {(a["file"], a["ordinal"], a["code"]) for a in self.accepted}
        return [
            d
            for d in self.comparison.discrepancies
            if (d.file, str(d.ordinal), d.code) not in accepted
        ]

    @property
    def passed(self) -> bool:
        return not self.open_discrepancies


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """Relative paths of archive files, by their `flat_name` without suffixes; and of the rest."""

    archives: dict[str, str]
    others: list[str]
    root: Path = Path()
    """What the paths are relative to."""


def archive_folder(folder: Path) -> Folder:
    """What is below a folder; hidden files and `superseded*` folders are passed over.

    Raises:
        ConfigError: where the folder is none, or two files differ by suffix alone.
        InputRefused: a package in it cannot be read.
    """
    if is_package_name(folder.name) and folder.is_file():
        root, files = folder.parent, [folder]
    elif folder.is_dir():
        root, files = folder, sorted(folder.rglob("*"))
    else:
        raise ConfigError(f"{folder} is not a folder")
    names = (str(found.relative_to(root)) for path in files for found in _files_at(path))
    return replace(sort_out(names, str(root)), root=root)


def _files_at(path: Path) -> Iterator[Path]:
    """The file itself; of a package what is in it, but for indexes; nothing for a folder."""
    if not path.is_file():
        return
    if not is_package_name(path.name):
        yield path
        return
    with open_package(str(path)) as package:
        for name in (*package.archives(), *package.others()):
            yield path / name


def sort_out(names: Iterable[str], folder: str) -> Folder:
    """The same of relative paths of files, wherever `folder` is."""
    archives: dict[str, str] = {}
    others = []
    for name in names:
        if any(part.startswith((".", SUPERSEDED)) for part in name.split("/")):
            continue
        if not without_compression(name).endswith(_SUFFIXES):
            others.append(name)
            continue
        stem = without_compression(flat_name(name)).removesuffix(".warc").removesuffix(".arc")
        if stem in archives:
            both = f"{folder}/{archives[stem]} and {folder}/{name}"
            raise ConfigError(f"{both} differ by suffix alone: keep one")
        archives[stem] = name
    return Folder(archives=archives, others=others)


def not_compared(before: Folder, after: Folder) -> list[str]:
    """What is in either folder and is no archive file by its name."""
    return sorted({*before.others, *after.others})


def validate_folders(
    before: Path,
    after: Path,
    *,
    accepted: Iterable[dict[str, str]] = (),
    observers: Observers | None = None,
    advance: Callable[[int], None] = lambda count: None,
    add_further: Callable[[Resolution], None] = lambda resolution: None,
) -> Validation:
    """Compare every archive file below two folders; files are paired by name's stem.

    `add_further` makes originals known that are in neither folder.
    """
    old, new = archive_folder(before), archive_folder(after)
    result = Validation(accepted=list(accepted), others=not_compared(old, new))
    pairs = []
    for stem in sorted(old.archives.keys() | new.archives.keys()):
        old_name, new_name = old.archives.get(stem), new.archives.get(stem)
        if old_name is None or new_name is None:
            result.comparison.discrepancies.append(
                without_counterpart(old_name or new_name or stem, is_missing=new_name is None)
            )
        else:
            pairs.append((str(old.root / old_name), old_name, new_name))
    _validate_pairs(pairs, new.root, result, observers or Observers(), advance, add_further)
    if not result.files:
        raise ConfigError(f"there is no pair of archive files in {before} and {after}")
    return result


def validate_files(
    places: Iterable[str],
    after: Path,
    *,
    proven: Mapping[str, Proven] = MappingProxyType({}),
    observers: Observers | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Validation:
    """Compare the file at each place with the one of its name in a folder.

    `proven`, by place, are pairs that the proof on raw bytes has passed in this run: it is not run
    again where both files are still these.
    """
    result = Validation()
    pairs = [(place, place, output_name(place)) for place in places]
    _validate_pairs(pairs, after, result, observers or Observers(), advance, proven=proven)
    return result


def _validate_pairs(
    pairs: Iterable[tuple[str, str, str]],
    after: Path,
    result: Validation,
    observers: Observers,
    advance: Callable[[int], None],
    add_further: Callable[[Resolution], None] = lambda resolution: None,
    proven: Mapping[str, Proven] = MappingProxyType({}),
) -> None:
    """Compare each file, named as the second says, with the third in `after`."""
    with Resolution() as resolution:
        for left, old_name, new_name in pairs:
            right = after / new_name
            with (
                open_place(left) as was,
                open_source(right) as is_now,
                FileProgress(advance, was.size, passes=_PASSES) as done,
            ):
                was.watch(done.reached)
                # Hashed while the files are open: the receipt is of what was compared.
                both = Proven(was.again().sha256(), is_now.sha256())
                compare_files(
                    was,
                    is_now,
                    resolution,
                    result.comparison,
                    observers=observers,
                    is_proven=proven.get(left) == both,
                )
                result.files.append(
                    {
                        "name": new_name,
                        "before": {"name": old_name, "size": was.size, "sha256": both.before},
                        "after": {"size": is_now.size, "sha256": both.after},
                    }
                )
                was.check_unchanged()
                is_now.check_unchanged()
        add_further(resolution)
        _judge_references(resolution, result)
    found = result.comparison
    found.discrepancies = [_inside(after, d) for d in found.discrepancies]


def _inside(folder: Path, found: Discrepancy) -> Discrepancy:
    """The discrepancy with its file named relatively, as acceptances and receipts do."""
    path = Path(found.file)
    return (
        found._replace(file=str(path.relative_to(folder))) if path.is_relative_to(folder) else found
    )


def without_counterpart(name: str, *, is_missing: bool) -> Discrepancy:
    """Of a file that is there only before, or only after."""
    code = "missing" if is_missing else "surplus"
    return Discrepancy(code, name, 0, 0, f"the file has no counterpart ({code})")


def unresolved_reference(reference: Reference) -> Discrepancy | None:
    """Of a reference that does harm."""
    if reference.outcome in HARMLESS:
        return None
    message = f"{OUTCOMES[reference.outcome]}: {reference.target_uri}"
    return Discrepancy(reference.outcome, reference.file, reference.ordinal, 0, message)


def _judge_references(resolution: Resolution, result: Validation) -> None:
    for reference in resolution.outcomes():
        result.references[reference.outcome] += 1
        if (found := unresolved_reference(reference)) is not None:
            result.comparison.discrepancies.append(found)
