"""The receipt of a validation, which permits a commit; and what a person accepted.

The receipt is JSON: name, size and SHA-256 of both sides of every file, how the
references fared, every discrepancy, who accepted which and why, and the verdict.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinakes.errors import ConfigError, MalformedRecord

from .folders import Validation

VERSION = 1
PASS, FAIL = "pass", "fail"


def format_receipt(result: Validation, *, made: str, version: str) -> str:
    """The receipt's text; `made` is the time of the validation, `version` is ours."""
    found = result.comparison
    return json.dumps(
        {
            "receipt": VERSION,
            "made": made,
            "pinakes": version,
            "verdict": PASS if result.passed else FAIL,
            "records": found.records,
            "rewritten": found.rewritten,
            "restored": found.restored,
            "read_with_warcio": found.read_twice,
            "replayed": result.replayed,
            "not_compared": result.others,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptFile:
    """One archive file as a receipt knows it; names are relative to the folders."""

    name: str
    size: int
    sha256: str
    before_name: str
    before_size: int
    before_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a validation said."""

    verdict: str
    made: str
    files: tuple[ReceiptFile, ...]


def read_receipt(path: Path) -> Receipt:
    """Read a receipt that `validate` wrote.

    Raises:
        ConfigError: where it is none, is of a version not known here, or names a file
            outside its folders.
    """
    try:
        value = json.loads(path.read_text(encoding="ascii"))
        if value["receipt"] != VERSION:
            raise ConfigError(f"{path} is a receipt of version {value['receipt']}: upgrade first")
        files = tuple(_file_facts(entry) for entry in value["files"])
        receipt = Receipt(verdict=str(value["verdict"]), made=str(value["made"]), files=files)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} is no receipt that `pinakes validate` wrote") from error
    names = [name for facts in files for name in (facts.name, facts.before_name)]
    for name in names:
        if not _is_inside(name):
            raise ConfigError(f"{path} names a file outside its folder: {name!r}")
    if len({facts.name for facts in files}) < len(files):
        raise ConfigError(f"{path} names a file twice")
    return receipt


def _file_facts(entry: Any) -> ReceiptFile:
    before, after = entry["before"], entry["after"]
    return ReceiptFile(
        name=str(entry["name"]),
        size=int(after["size"]),
        sha256=str(after["sha256"]),
        before_name=str(before["name"]),
        before_size=int(before["size"]),
        before_sha256=str(before["sha256"]),
    )


def _is_inside(name: str) -> bool:
    parts = Path(name).parts
    return bool(parts) and not Path(name).is_absolute() and ".." not in parts and "\0" not in name
