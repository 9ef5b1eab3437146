"""`validate --refs` inflates originals once more: those that a revisit names, and once each."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest
from landed_stores import page

from pinakes.dedupe.copy import reference_proof
from pinakes.dedupe.copy.reference_check import check_set
from pinakes.errors import PinakesError
from pinakes.warc.digest import Digest, hasher
from pinakes.warc.source import Source

URI, DATE, LATER = "http://example.org/", "2020-01-02T03:04:05Z", "2021-01-01T00:00:00Z"
OTHER = "2020-01-02T03:04:06Z"
BODY, ELSE = b"the body", b"another body"
AT = [("WARC-Refers-To-Target-URI", URI), ("WARC-Refers-To-Date", DATE)]
TIMES = 3
FLAGS = 3
"""Where the flags of a gzip member's header are (RFC 1952 §2.3)."""


def declared(body: bytes, algorithm: str = "sha1") -> list[tuple[str, str]]:
    return [("WARC-Payload-Digest", str(Digest(algorithm, hasher(algorithm)(body).digest())))]


def original(body: bytes = BODY, uri: str = URI, date: str = DATE) -> bytes:
    return page(uri, body, date=date, extra=declared(body))


def revisit(uri: str, fields: Sequence[tuple[str, str]], algorithm: str = "sha1") -> bytes:
    extra = [*declared(BODY, algorithm), *fields]
    return page(uri, b"", date=LATER, record_type="revisit", extra=extra)


def id_of(data: bytes) -> str:
    """The id of a record, as a revisit refers to it."""
    return gzip.decompress(data).split(b"WARC-Record-ID: ")[1].split(b"\r\n")[0].decode()


FIRST = original()
NAMED = {
    "by place": revisit(f"{URI}r", AT),
    "by digest": revisit(URI, []),
    "by id": revisit(f"{URI}r", [("WARC-Refers-To", id_of(FIRST))]),
}

BY_ANOTHER_DIGEST = {"by another digest": revisit(f"{URI}r", AT, "sha256")}


def write(folder: Path, revisits: bytes) -> list[str]:
    """Three full records, of which the first is named, and the revisits."""
    others = original(ELSE, f"{URI}a", OTHER) + original(BODY * 2, f"{URI}b", OTHER)
    files = {"full.warc.gz": FIRST + others, "revisits.warc.gz": revisits}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [str(folder / name) for name in files]


def outcomes(paths: list[str], **options: object) -> list[str]:
    problems: list[PinakesError] = []
    found = check_set(paths, on_refused=problems.append, **options)  # type: ignore[arg-type]
    return [one.outcome for one in found] + [str(problem) for problem in problems]


@pytest.mark.parametrize("one", NAMED.values(), ids=NAMED)
def test_each_original_is_inflated_once_more(
    one: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[int, int]] = []
    inflates = reference_proof.inflates

    def watch(source: Source, start: int, end: int) -> bool:
        read.append((start, end))
        return inflates(source, start, end)

    monkeypatch.setattr(reference_proof, "inflates", watch)
    assert outcomes(write(tmp_path, one * TIMES)) == ["resolves"] * TIMES
    assert read == [(0, len(FIRST))]
    read.clear()
    assert outcomes(write(tmp_path, b"")) == []
    assert read == []


@pytest.mark.parametrize("one", (NAMED | BY_ANOTHER_DIGEST).values(), ids=NAMED | BY_ANOTHER_DIGEST)
def test_what_zlib_refuses_is_damaged_however_it_is_named(one: bytes, tmp_path: Path) -> None:
    paths = write(tmp_path, one * TIMES)
    rotten = bytearray(Path(paths[0]).read_bytes())
    rotten[FLAGS] ^= 0x20
    Path(paths[0]).write_bytes(rotten)
    assert outcomes(paths) == ["damaged"] * TIMES


@pytest.mark.parametrize("one", NAMED.values(), ids=NAMED)
def test_a_file_that_is_gone_before_the_proof_proves_nothing(one: bytes, tmp_path: Path) -> None:
    paths = write(tmp_path, one)

    def advance(count: int) -> None:
        if count == Path(paths[1]).stat().st_size:
            Path(paths[0]).unlink()

    found, problem = outcomes(paths, advance=advance)
    assert found == "damaged"
    assert paths[0] in problem
