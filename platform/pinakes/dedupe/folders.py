"""Comparing a folder of archive files with a folder: what `validate` does to two of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinakes.archive_store.local_files import sha256_of
from pinakes.errors import ConfigError
from pinakes.warc.source import open_source

from .archive_files import SUPERSEDED
from .outcomes import HARMLESS, OUTCOMES
from .resolution import Resolution
from .validate import Comparison, Discrepancy, Witnesses, compare_files

_SUFFIXES = (".warc", ".arc")


@dataclass(slots=True)
class Validation:
    """What the comparison of two folders found."""

    files: list[dict[str, Any]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    comparison: Comparison = field(default_factory=Comparison)
    references: Counter[str] = field(default_factory=Counter)
    accepted: list[dict[str, str]] = field(default_factory=list)
    replayed: int | None = None

    @property
    def open_discrepancies(self) -> list[Discrepancy]:
        """Those that nobody accepted."""
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
    """Archive files by relative path without WARC's suffixes; and what else lies there."""

    archives: dict[str, Path]
    others: list[str]


def archive_folder(folder: Path) -> Folder:
    """What lies below a folder; hidden files and `superseded*` folders are passed over.

    Raises:
        ConfigError: where the folder is none, or two files differ by suffix alone.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder} is no folder")
    archives: dict[str, Path] = {}
    others = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not path.is_file() or any(part.startswith((".", SUPERSEDED)) for part in inside.parts):
            continue
        if not path.name.removesuffix(".gz").endswith(_SUFFIXES):
            others.append(str(inside))
            continue
        stem = str(inside).removesuffix(".gz").removesuffix(".warc").removesuffix(".arc")
        if stem in archives:
            raise ConfigError(f"{archives[stem]} and {path} differ by suffix alone: keep one")
        archives[stem] = path
    return Folder(archives=archives, others=others)


def validate_folders(
    before: Path,
    after: Path,
    *,
    accepted: Iterable[dict[str, str]] = (),
    witnesses: Witnesses | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Validation:
    """Compare every archive file below two folders; files are paired by name's stem."""
    old, new = archive_folder(before).archives, archive_folder(after)
    result = Validation(accepted=list(accepted), others=new.others)
    with Resolution() as resolution:
        for stem in sorted(old.keys() | new.archives.keys()):
            left, right = old.get(stem), new.archives.get(stem)
            if left is None or right is None:
                code = "missing" if right is None else "surplus"
                result.comparison.discrepancies.append(
                    Discrepancy(code, stem, 0, 0, f"the file has no counterpart ({code})")
                )
                continue
            with open_source(left) as was, open_source(right) as is_now:
                compare_files(
                    was, is_now, resolution, result.comparison, witnesses=witnesses or Witnesses()
                )
                # Hashed before the files are let go: the receipt is of what was compared.
                result.files.append(
                    {
                        "name": str(right.relative_to(after)),
                        "before": {"name": str(left.relative_to(before)), **_facts(left)},
                        "after": _facts(right),
                    }
                )
                was.check_unchanged()
                is_now.check_unchanged()
            advance(left.stat().st_size)
        _judge_references(resolution, result)
    found = result.comparison
    found.discrepancies = [_inside(after, d) for d in found.discrepancies]
    if not result.files:
        raise ConfigError(f"there is no pair of archive files in {before} and {after}")
    return result


def _inside(folder: Path, found: Discrepancy) -> Discrepancy:
    """The discrepancy with its file named relatively, as acceptances and receipts do."""
    path = Path(found.file)
    return (
        found._replace(file=str(path.relative_to(folder))) if path.is_relative_to(folder) else found
    )


def _judge_references(resolution: Resolution, result: Validation) -> None:
    for reference in resolution.outcomes():
        result.references[reference.outcome] += 1
        if reference.outcome not in HARMLESS:
            message = f"{OUTCOMES[reference.outcome]}: {reference.target_uri}"
            result.comparison.discrepancies.append(
                Discrepancy(reference.outcome, reference.file, reference.ordinal, 0, message)
            )


def _facts(path: Path) -> dict[str, Any]:
    return {"size": path.stat().st_size, "sha256": sha256_of(path)}
