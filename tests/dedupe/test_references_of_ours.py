"""`validate --refs` and `restore` say the same of revisits of ours: whether the original is right.

The originals here are whole by every checksum of their members, and declare what they declared.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from rotten import flipped
from verbs_here import call_here
from warc_sets import ArchiveFile, Rec, chunked, plan, refs, sha1_base32, write_set

BODY = random.Random(48).randbytes(300).hex().encode()
FLIPPED = flipped(BODY, 100)
CHUNKED = (b"Content-Type: text/html", b"Transfer-Encoding: chunked")
LAYOUTS = ("gzip", "shared", "frames", "one frame", "plain")


class Case(NamedTuple):
    """An original's body as it was and as it is now, what it declares, and the outcome."""

    body: bytes
    now: bytes
    declared: str | None
    outcome: str
    head: tuple[bytes, ...] = CHUNKED[:1]


CASES = {
    "its digest": Case(BODY, FLIPPED, sha1_base32(BODY), "damaged"),
    "that of something else": Case(BODY, FLIPPED, sha1_base32(b"else"), "damaged"),
    "that of its content": Case(
        chunked(BODY, 100), chunked(BODY, 99), sha1_base32(BODY), "other-body", CHUNKED
    ),
    "what is no digest": Case(BODY, FLIPPED, "sha1:none", "other-body"),
    "nothing": Case(BODY, FLIPPED, None, "other-digest"),
    "of another length": Case(BODY, BODY[:-9], sha1_base32(BODY), "damaged"),
}


def original(case: Case, body: bytes) -> Rec:
    digest = (b"WARC-Payload-Digest: " + case.declared.encode(),) if case.declared else ()
    return Rec(body=body, http_fields=case.head, declared=None, fields=digest)


def written(folder: Path, case: Case, layout: str) -> None:
    """`a` has the original, `b` two revisits of ours."""
    first = original(case, case.body)
    later = [replace(first, uri=f"http://example.org/{n}", date=f"202{n}-01-01T00:00:00Z")
             for n in (1, 2)]  # fmt: skip
    files = [ArchiveFile("a", [first], layout), ArchiveFile("b", later, layout)]
    paths = write_set(folder / "before", files)
    assert refs(paths, plan(paths), folder / "after").records == 2


def alter(folder: Path, case: Case, layout: str) -> None:
    now = ArchiveFile("a", [original(case, case.now)], layout)
    [path] = write_set(folder / "now", [now])
    path.rename(folder / "after" / path.name)


def outcome_of(folder: Path, where: str) -> tuple[str, int]:
    names = sorted(path.name for path in folder.iterdir())
    if where == "set":
        done = call_here(folder, "validate", "--refs", *names)
    else:
        (folder / "further").mkdir(exist_ok=True)
        (folder / names[0]).rename(folder / "further" / names[0])
        done = call_here(folder, "validate", "--refs", names[1], "--dir", "further")
    [_, outcome] = done.stderr.strip().rpartition("references: ")[::2]
    return outcome, done.returncode


@pytest.mark.parametrize("where", ["set", "further"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_another_body_is_found(case: Case, layout: str, where: str, tmp_path: Path) -> None:
    written(tmp_path, case, layout)
    alter(tmp_path, case, layout)
    after = tmp_path / "after"
    restored = call_here(
        after, "restore", *sorted(p.name for p in after.iterdir()), "-o", "../back"
    )
    assert restored.returncode == 3
    assert "has another body" in restored.stderr
    assert outcome_of(after, where) == (f"2 {case.outcome}", 1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_its_own_body_resolves(case: Case, layout: str, tmp_path: Path) -> None:
    """Whatever its writer hashed."""
    written(tmp_path, case, layout)
    assert outcome_of(tmp_path / "after", "set") == ("2 resolves", 0)


def test_each_revisit_is_proven_by_itself(tmp_path: Path) -> None:
    """Of two originals in a file one was altered; its revisit is named."""
    case = CASES["that of something else"]
    first = original(case, BODY)
    second = replace(first, uri="http://example.org/other", body=BODY[::-1])
    later = [replace(one, uri=f"{one.uri}?", date="2021-01-01T00:00:00Z")
             for one in (first, second)]  # fmt: skip
    paths = write_set(tmp_path, [ArchiveFile("a", [first, second]), ArchiveFile("b", later)])
    assert refs(paths, plan(paths), tmp_path / "after").records == 2
    [path] = write_set(tmp_path, [ArchiveFile("a", [first, replace(second, body=FLIPPED)])])
    path.rename(tmp_path / "after" / path.name)
    done = call_here(tmp_path / "after", "validate", "--refs", "b.warc.gz", "--dir", ".")
    assert done.returncode == 1
    assert "references: 1 damaged, 1 resolves" in done.stderr
    assert done.stdout.startswith("b.warc.gz: record 1: damaged: ")
