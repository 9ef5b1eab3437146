"""`validate --refs`: a digest of another algorithm than the original's is judged by the body."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from landed_stores import page
from verbs_here import call_here

from pinakes.warc.digest import Digest, hasher

URI, DATE, LATER = "http://example.org/", "2020-01-02T03:04:05Z", "2021-01-01T00:00:00Z"
BODY, ELSE = b"the body", b"another body"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
FRAMED = b"8\r\nthe body\r\n0\r\n\r\n"
LARGE = bytes(range(256)) * (40 << 10)
"""Larger than what is kept in memory."""


def declared(algorithm: str | None, body: bytes) -> list[tuple[str, str]]:
    if algorithm is None:
        return []
    return [("WARC-Payload-Digest", str(Digest(algorithm, hasher(algorithm)(body).digest())))]


def original(algorithm: str | None, body: bytes = BODY, date: str = DATE) -> bytes:
    return page(URI, body, date=date, extra=declared(algorithm, body))


def revisit(algorithm: str, body: bytes = BODY, name: str = "r") -> bytes:
    fields = [
        *declared(algorithm, body),
        ("WARC-Refers-To-Target-URI", URI),
        ("WARC-Refers-To-Date", DATE),
    ]
    return page(f"{URI}{name}", b"", date=LATER, record_type="revisit", extra=fields)


def chunked(algorithm: str | None, over: bytes) -> bytes:
    return page(URI, FRAMED, date=DATE, head=CHUNKED, extra=declared(algorithm, over))


CASES = {
    "sha256 of sha1": ([original("sha1"), revisit("sha256")], "resolves"),
    "sha1 of sha256": ([original("sha256"), revisit("sha1")], "resolves"),
    "md5 of sha1": ([original("sha1"), revisit("md5")], "resolves"),
    "sha512 of nothing": ([original(None), revisit("sha512")], "resolves"),
    "of a large body": ([original("sha1", LARGE), revisit("sha256", LARGE)], "resolves"),
    "of a chunked body": ([chunked("sha1", FRAMED), revisit("sha256")], "resolves"),
    "of its chunks": ([chunked("sha1", BODY), revisit("sha256", FRAMED)], "resolves"),
    "of a chunked body that declares nothing": ([chunked(None, b""), revisit("sha1")], "resolves"),
    "of another body": ([original("sha1"), revisit("sha256", ELSE)], "other-digest"),
    "of the same algorithm": ([original("sha1"), revisit("sha1", ELSE)], "other-digest"),
    # What it declares is wrong, and the revisit does not carry it.
    "not what it declares": (
        [
            page(URI, BODY, date=DATE, extra=declared("sha1", ELSE)),
            revisit("sha1"),
        ],
        "other-digest",
    ),
    "of a capture a second later": (
        [original("sha1", ELSE), original("sha1", date="2020-01-02T03:04:06Z"), revisit("sha256")],
        "other-digest",
    ),
    "the second of two": (
        [original("sha1", ELSE), original("sha1"), revisit("sha256")],
        "resolves",
    ),
    "before its original": ([revisit("sha256"), original("sha1")], "resolves"),
}


@pytest.mark.parametrize(("records", "outcome"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("by", ["in the file", "in --dir"])
def test_the_body_decides(tmp_path: Path, records: list[bytes], outcome: str, by: str) -> None:
    revisits = [one for one in records if b"WARC-Type: revisit" in gzip.decompress(one)]
    rest = [one for one in records if one not in revisits]
    (tmp_path / "further").mkdir()
    options = []
    if by == "in --dir":
        (tmp_path / "further" / "o.warc.gz").write_bytes(b"".join(rest))
        options = ["--dir", "further"]
        records = revisits
    (tmp_path / "a.warc.gz").write_bytes(b"".join(records))
    done = call_here(tmp_path, "validate", "--refs", "a.warc.gz", *options)
    assert f"references: 1 {outcome}" in done.stderr
    assert done.returncode == int(outcome != "resolves")


def test_several_at_once(tmp_path: Path) -> None:
    """Each by itself: one that is wrong does not make the other right."""
    (tmp_path / "a.warc.gz").write_bytes(original("sha1"))
    wrong = revisit("sha256", ELSE, "wrong")
    (tmp_path / "b.warc.gz").write_bytes(revisit("sha256") + wrong + revisit("md5", name="m"))
    done = call_here(tmp_path, "validate", "--refs", "a.warc.gz", "b.warc.gz")
    assert done.returncode == 1
    assert "references: 1 other-digest, 2 resolves" in done.stderr
    assert done.stdout.startswith("b.warc.gz: record 1: other-digest: ")


def test_a_file_that_is_cut_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(original("sha1") + revisit("sha256"))
    done = call_here(tmp_path, "validate", "--refs", "a.warc.gz", "missing.warc.gz")
    assert done.returncode == 3
    assert done.stderr.count("missing.warc.gz") == 1
    assert "references: 1 resolves" in done.stderr
