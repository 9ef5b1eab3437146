"""Validated sets, their second copies, and verbs that bring those up to date."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from killing import tree
from warc_sets import ArchiveFile, Rec, member, plan, refs, write_set

from pinakes.cli import main

LATER = "2020-02-02T00:00:00Z"
BODY = bytes(range(256)) * 8
COMMIT_COPY = ("commit-copy",)


@dataclass(frozen=True)
class Copy:
    """A validated set, its second copy, the receipt, and the words of the verb."""

    source: Path
    target: Path
    receipt: Path
    verb: tuple[str, ...] = COMMIT_COPY

    def words(self) -> list[str]:
        return [*self.verb, str(self.source), str(self.target), "--receipt", str(self.receipt)]

    def call(self, *options: str) -> int:
        return main([*self.words(), *options])

    def superseded(self) -> dict[str, bytes]:
        (folder,) = self.target.glob("superseded-????-??-??")
        return tree(folder)


def three_files(folder: Path, *, original: str, verb: tuple[str, ...] = COMMIT_COPY) -> Copy:
    """Of a and b one is the original; the other and sub/c refer to it."""
    other = "ab".replace(original, "")
    files = [
        ArchiveFile(original, [Rec(uri=f"http://{original}/", body=BODY)]),
        ArchiveFile(other, [Rec(uri=f"http://{other}/", body=BODY, date=LATER)]),
        ArchiveFile("sub/c", [Rec(uri="http://c/", body=BODY, date=LATER)], "plain"),
    ]
    before, after = folder / "before", folder / "after"
    (before / "sub").mkdir(parents=True)
    paths = write_set(before, files)
    assert refs(paths, plan(paths), after).records == 2
    (after / "sub").mkdir()
    (after / "c.warc").rename(after / "sub" / "c.warc")
    shutil.copytree(before, folder / "copy")
    return validated(folder, verb)


def plain_and_compressed(folder: Path, *, verb: tuple[str, ...] = COMMIT_COPY) -> Copy:
    """One file, compressed in the set, and plain before and in its copy."""
    for where, name, data in (
        ("before", "a.warc", Rec().raw(1)),
        ("after", "a.warc.gz", member(Rec().raw(1))),
        ("copy", "a.warc", Rec().raw(1)),
    ):
        (folder / where).mkdir()
        (folder / where / name).write_bytes(data)
    return validated(folder, verb)


def validated(folder: Path, verb: tuple[str, ...]) -> Copy:
    receipt = folder / "receipt.json"
    words = [str(folder / "before"), str(folder / "after"), "--receipt", str(receipt)]
    assert main(["validate", *words]) == 0
    return Copy(folder / "after", folder / "copy", receipt, verb)


def change(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def edit_receipt(copy: Copy, act: Callable[[dict], None]) -> None:
    value = json.loads(copy.receipt.read_text())
    act(value)
    copy.receipt.write_text(json.dumps(value))
