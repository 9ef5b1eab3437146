"""Validating a folder against a folder, and the receipt that permits a commit.

The receipt is JSON: name, size and SHA-256 of both sides of every file, how the
references fared, every discrepancy, who accepted which and why, and the verdict.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinakes.errors import ConfigError, MalformedRecord
from pinakes.warc.source import open_source

from .resolution import HARMLESS, OUTCOMES, Resolution
from .validate import Comparison, Discrepancy, compare_files

VERSION = 1
_SUFFIXES = (".gz", ".warc", ".arc")


@dataclass(slots=True)
class Validation:
    """What the comparison of two folders found."""

    files: list[dict[str, Any]] = field(default_factory=list)
    comparison: Comparison = field(default_factory=Comparison)
    references: Counter[str] = field(default_factory=Counter)
    accepted: list[dict[str, str]] = field(default_factory=list)

    @property
    def open_discrepancies(self) -> list[Discrepancy]:
        """Those that nobody accepted."""
        accepted = {(a["file"], int(a["ordinal"]), a["code"]) for a in self.accepted}
        return [
            d
            for d in self.comparison.discrepancies
            if (Path(d.file).name, d.ordinal, d.code) not in accepted
        ]

    @property
    def passed(self) -> bool:
        return not self.open_discrepancies


def archive_names(folder: Path) -> dict[str, Path]:
    """The archive files below a folder, by relative path without WARC's suffixes.

    Raises:
        ConfigError: where the folder is none, or two files differ by suffix alone.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder} is no folder")
    result: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "superseded" for part in inside.parts)
        if not path.is_file() or hidden or not path.name.removesuffix(".gz").endswith(_SUFFIXES):
            continue
        stem = str(inside).removesuffix(".gz").removesuffix(".warc").removesuffix(".arc")
        if stem in result:
            raise ConfigError(f"{result[stem]} and {path} differ by suffix alone: keep one of them")
        result[stem] = path
    return result


def validate_folders(
    before: Path,
    after: Path,
    *,
    accepted: Iterable[dict[str, str]] = (),
    advance: Callable[[int], None] = lambda count: None,
) -> Validation:
    """Compare every archive file below two folders; files are paired by name's stem."""
    result = Validation(accepted=list(accepted))
    old, new = archive_names(before), archive_names(after)
    with Resolution() as resolution:
        for stem in sorted(old.keys() | new.keys()):
            if stem not in old or stem not in new:
                path = old.get(stem) or new[stem]
                code = "missing" if stem in old else "surplus"
                result.comparison.discrepancies.append(
                    Discrepancy(code, str(path), 0, 0, f"the file has no counterpart ({code})")
                )
                continue
            with open_source(old[stem]) as left, open_source(new[stem]) as right:
                compare_files(left, right, resolution, result.comparison)
                left.check_unchanged()
                right.check_unchanged()
            result.files.append(
                {
                    "name": str(new[stem].relative_to(after)),
                    "before": {"name": str(old[stem].relative_to(before)), **_facts(old[stem])},
                    "after": _facts(new[stem]),
                }
            )
            advance(old[stem].stat().st_size)
        _judge_references(resolution, result)
    return result


def _judge_references(resolution: Resolution, result: Validation) -> None:
    for reference in resolution.outcomes():
        result.references[reference.outcome] += 1
        if reference.outcome not in HARMLESS:
            result.comparison.discrepancies.append(
                Discrepancy(
                    reference.outcome,
                    reference.file,
                    reference.ordinal,
                    0,
                    f"{OUTCOMES[reference.outcome]}: {reference.target_uri}",
                )
            )


def _facts(path: Path) -> dict[str, Any]:
    return {"size": path.stat().st_size, "sha256": file_sha256(path)}


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hex."""
    state = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            state.update(piece)
    return state.hexdigest()


def format_receipt(result: Validation, *, made: str, version: str) -> str:
    """The receipt's text; `made` is the time of the validation, `version` is ours."""
    found = result.comparison
    return json.dumps(
        {
            "receipt": VERSION,
            "made": made,
            "pinakes": version,
            "verdict": "pass" if result.passed else "fail",
            "records": found.records,
            "rewritten": found.rewritten,
            "restored": found.restored,
            "references": dict(sorted(result.references.items())),
            "discrepancies": [d._asdict() for d in found.discrepancies],
            "accepted": result.accepted,
            "files": result.files,
        },
        indent=1,
        ensure_ascii=True,
    )


def read_accepted(path: Path) -> list[dict[str, str]]:
    """Read who accepted what: a JSON object a line with file, ordinal, code, who, why.

    Raises:
        MalformedRecord: for a line without them.
    """
    result = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            result.append({key: str(entry[key]) for key in _ACCEPTED_KEYS})
        except (ValueError, KeyError, TypeError) as error:
            raise MalformedRecord(
                f"line {number} is no object with {', '.join(_ACCEPTED_KEYS)}", file=str(path)
            ) from error
        if not (result[-1]["who"] and result[-1]["why"]):
            raise MalformedRecord(f"line {number} does not say who and why", file=str(path))
    return result


_ACCEPTED_KEYS = ("file", "ordinal", "code", "who", "why")
