"""What `cat` and `show` do with a stored file in which one bit is not what it was.

The bytes are right, or the verb ends with 3, names file and offset, and gives nothing.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from archive_builders import HTTP
from landed_stores import LandedStore, page, revisit, sha1_of
from rotten import FORMS, flipped, flips
from scenes import make_scene

from pinakes.catalog.captures import scan_captures_of
from pinakes.cli import main
from pinakes.cli.frame.exits import Exit
from pinakes.index.urlkey import urlkey
from pinakes.warc.source import IN_MEMORY_BYTES

URI, AGAIN = "http://example.org/page", "http://example.org/again"
DATE, LATER = "2020-01-02T03:04:05Z", "2021-01-01T00:00:00Z"
BODY = random.Random(7).randbytes(600).hex().encode()


class Rotting(NamedTuple):
    """A file with one page, and the record of it; what has to come out."""

    store: LandedStore
    file: Path
    record: bytes

    def call(self, capfdbinary: pytest.CaptureFixture[bytes], *argv: object) -> tuple[int, bytes]:
        capfdbinary.readouterr()
        code = main([*map(str, argv), "--store", str(self.store.folder)])
        out, self_said = capfdbinary.readouterr()
        if code:
            assert b":" in self_said
        return code, out


@pytest.fixture(params=FORMS.values(), ids=FORMS)
def rotting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rotting]:
    name, made = request.param
    whole = gzip.decompress(page(URI, BODY, extra=[("WARC-Payload-Digest", sha1_of(BODY))]))
    store = LandedStore(tmp_path / "store")
    store.land("one", name, made(whole))
    store.land("two", "r.warc.gz", revisit(AGAIN, LATER, URI, DATE))
    yield Rotting(store, store.folder / "archive" / "one" / name, whole[:-4])
    store.close()


VERBS = {
    "cat-place": (["cat", "one/{file}:0", "--payload"], BODY),
    "cat-capture": (["cat", "{key}", "--payload"], BODY),
    "cat-revisit": (["cat", "{again}", "--payload"], BODY),
    "cat-file": (["cat", "{path}:0", "--payload"], BODY),
    "show-capture": (["show", "{key}", "--payload"], BODY),
    "show-revisit": (["show", "{again}", "--payload"], BODY),
    "show-file": (["show", "{path}:0", "--payload"], BODY),
}


def words(rotting: Rotting, verb: str) -> list[str]:
    keys = [
        next(iter(scan_captures_of(rotting.store.rows, urlkey(uri)))).key.decode()
        for uri in (URI, AGAIN)
    ]
    named = {"file": rotting.file.name, "path": rotting.file, "key": keys[0], "again": keys[1]}
    return [word.format(**named) for word in VERBS[verb][0]]


@pytest.mark.parametrize("verb", VERBS)
def test_no_rotten_body_is_given_out(
    verb: str, rotting: Rotting, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    whole, argv = rotting.file.read_bytes(), words(rotting, verb)
    assert rotting.call(capfdbinary, *argv) == (Exit.DONE, BODY)
    refused = 0
    for rotten in flips(whole, 16):
        rotting.file.write_bytes(rotten)
        code, out = rotting.call(capfdbinary, *argv)
        assert (code, out) in ((Exit.DONE, BODY), (Exit.SOME_FAILED, b"")), (verb, code)
        refused += bool(code)
    assert refused > 5
    rotting.file.write_bytes(whole)
    assert rotting.call(capfdbinary, *argv) == (Exit.DONE, BODY)


@pytest.mark.parametrize("what", ["--record", "--headers"])
def test_no_rotten_head_is_given_out(
    what: str, rotting: Rotting, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Where no checksum of a compression covers it, by the whole file."""
    key = next(iter(scan_captures_of(rotting.store.rows, urlkey(URI)))).key.decode()
    whole = rotting.file.read_bytes()
    for named in (key, f"one/{rotting.file.name}:0"):
        good = rotting.call(capfdbinary, "cat", named, what)
        assert good[0] == Exit.DONE
        assert good[1].startswith(b"WARC/1.")
        for rotten in flips(whole, 16):
            rotting.file.write_bytes(rotten)
            assert rotting.call(capfdbinary, "cat", named, what) in (good, (Exit.SOME_FAILED, b""))
        rotting.file.write_bytes(whole)


def test_unpack_and_filter_give_out_no_rotten_head(
    rotting: Rotting, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    whole = rotting.file.read_bytes()
    for number, rotten in enumerate(flips(whole, 16)):
        rotting.file.write_bytes(rotten)
        unpacked, filtered = tmp_path / f"out-{number}", tmp_path / f"out-{number}.warc"
        for argv in (
            ["unpack", "one", "--records", "-o", unpacked],
            ["filter", "one", "-o", filtered],
        ):
            code, _ = rotting.call(capfdbinary, *argv)
            given = [path for path in (*unpacked.rglob("*.warc*"), filtered) if path.is_file()]
            for path in given:
                data = path.read_bytes()
                record = gzip.decompress(data) if path.suffix == ".gz" else data
                assert record[: len(rotting.record)] == rotting.record
            assert code == Exit.SOME_FAILED or given


def test_raw_gives_what_is_stored(
    rotting: Rotting, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    whole = rotting.file.read_bytes()
    at = len(whole) - 80
    rotting.file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    for verb in ("cat-place", "show-capture", "show-file"):
        argv = words(rotting, verb)
        code, out = rotting.call(capfdbinary, *argv)
        assert (code, out) == (Exit.SOME_FAILED, b"")
        code, out = rotting.call(capfdbinary, *argv, "--raw")
        assert code == Exit.DONE
        assert out != BODY


def test_raw_records_are_unpacked_as_they_are_stored(
    rotting: Rotting, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    whole = rotting.file.read_bytes()
    at = len(whole) - 80
    rotting.file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    for number, (what, code, files) in enumerate(
        (((), Exit.SOME_FAILED, 0), (("--raw",), Exit.DONE, 1))
    ):
        out = tmp_path / str(number)
        done = rotting.call(capfdbinary, "unpack", "one", "--records", *what, "-o", out)
        assert done[0] == code
        assert len([*out.rglob("*-response.warc*")]) == files


def test_the_message_names_file_and_offset(
    rotting: Rotting, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    whole = rotting.file.read_bytes()
    at = len(whole) - 80
    rotting.file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    for verb in ("cat-place", "show-capture", "show-revisit"):
        main([*words(rotting, verb), "--store", str(rotting.store.folder)])
        said = capfdbinary.readouterr().err.decode()
        assert f"one/{rotting.file.name}:0: damaged: " in said


def test_unpack_leaves_out_what_is_rotten(
    rotting: Rotting, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    whole = rotting.file.read_bytes()
    for number, rotten in enumerate(flips(whole, 8)):
        rotting.file.write_bytes(rotten)
        for what in ("one", rotting.file):
            folder = tmp_path / f"out-{number}-{what == 'one'}"
            code, _ = rotting.call(capfdbinary, "unpack", what, "-o", folder, "--stored")
            bodies = [p.read_bytes() for p in folder.rglob("*.html") if p.is_file()]
            bodies += [p.read_bytes() for p in folder.rglob("page") if p.is_file()]
            assert code == Exit.SOME_FAILED or bodies == [BODY]
            assert bodies in ([], [BODY])


def test_filter_copies_nothing_of_a_crawl_that_is_rotten(
    rotting: Rotting, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """What it writes has a checksum of its own: rot would be whole from then on."""
    whole = rotting.file.read_bytes()
    for number, rotten in enumerate(flips(whole, 8)):
        rotting.file.write_bytes(rotten)
        out = tmp_path / f"out-{number}.warc.gz"
        code, _ = rotting.call(capfdbinary, "filter", "one", "-o", out)
        given = gzip.decompress(out.read_bytes()) if out.exists() else b""
        assert BODY in given or not given
        assert code == Exit.SOME_FAILED or BODY in given


def test_a_digest_that_was_wrong_from_the_beginning_is_no_rot(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """By the SHA-256 of the file, which is on record; a file without a store has nothing else."""
    wrong = [("WARC-Payload-Digest", sha1_of(b"else")), ("WARC-Block-Digest", sha1_of(b"else"))]
    store = LandedStore(tmp_path / "store")
    store.land("one", "a.warc", gzip.decompress(page(URI, BODY, extra=wrong)))
    file = store.folder / "archive/one/a.warc"
    rotting = Rotting(store, file, b"")
    whole, argv = file.read_bytes(), ["cat", "one/a.warc:0", "--payload"]
    assert rotting.call(capfdbinary, *argv) == (Exit.DONE, BODY)
    assert rotting.call(capfdbinary, "cat", f"{file}:0", "--payload") == (Exit.SOME_FAILED, b"")
    assert rotting.call(capfdbinary, "cat", f"{file}:0", "--payload", "--raw")[1] == BODY
    file.write_bytes(whole.replace(b"text/html", b"text/htmm"))
    assert rotting.call(capfdbinary, *argv) == (Exit.SOME_FAILED, b"")
    store.close()


def test_a_head_is_judged_by_the_digest_of_its_block(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    right = [("WARC-Block-Digest", sha1_of(HTTP + BODY))]
    store = LandedStore(tmp_path / "store")
    store.land("one", "a.warc", gzip.decompress(page(URI, BODY, extra=right)))
    file = store.folder / "archive/one/a.warc"
    rotting = Rotting(store, file, b"")
    argv = ["cat", "one/a.warc:0", "--headers"]
    assert rotting.call(capfdbinary, *argv)[0] == Exit.DONE
    file.write_bytes(file.read_bytes().replace(b"text/html", b"text/htmm"))
    assert rotting.call(capfdbinary, *argv) == (Exit.SOME_FAILED, b"")
    store.close()


def test_two_files_that_were_swapped_are_not_taken_for_each_other(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    store = LandedStore(tmp_path / "store")
    for name in ("a", "b"):
        store.land("one", f"{name}.warc.gz", page(f"http://{name}.example/", name.encode() * 9))
    files = [store.folder / f"archive/one/{name}.warc.gz" for name in ("a", "b")]
    for first, second in (files, [Path(f"{file}.sidecar.parquet") for file in files]):
        was = first.read_bytes()
        first.write_bytes(second.read_bytes())
        second.write_bytes(was)
    rotting = Rotting(store, files[0], b"")
    key = next(iter(scan_captures_of(store.rows, urlkey("http://a.example/")))).key.decode()
    for argv in (["cat", key, "--payload"], ["cat", key], ["cat", "one/a.warc.gz:0"]):
        assert rotting.call(capfdbinary, *argv) == (Exit.SOME_FAILED, b"")
    store.close()


def test_what_landed_damaged_and_is_as_it_landed_is_given(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A crawler that was killed leaves such files."""
    store = LandedStore(tmp_path / "store")
    whole = page(URI, random.Random(3).randbytes(2000))
    store.land("one", "a.warc.gz", whole[:-600])
    rotting = Rotting(store, store.folder / "archive/one/a.warc.gz", b"")
    code, out = rotting.call(capfdbinary, "cat", "one/a.warc.gz:0", "--payload")
    assert code == Exit.DONE
    assert random.Random(3).randbytes(2000).startswith(out)
    rotting.file.write_bytes(whole[:-900])
    assert rotting.call(capfdbinary, "cat", "one/a.warc.gz:0") == (Exit.SOME_FAILED, b"")
    store.close()


def test_a_record_too_large_for_memory_is_checked_before_its_first_byte(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    body = random.Random(5).randbytes(IN_MEMORY_BYTES + 1000)
    store = LandedStore(tmp_path / "store")
    for name, made in (("a.warc.gz", bytes), ("a.warc", gzip.decompress)):
        store.land("one", name, made(page(URI, body)))
        rotting = Rotting(store, store.folder / "archive/one" / name, b"")
        whole, argv = rotting.file.read_bytes(), ["cat", f"one/{name}:0", "--payload"]
        assert rotting.call(capfdbinary, *argv) == (Exit.DONE, body)
        at = len(whole) - 1000
        rotting.file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert rotting.call(capfdbinary, *argv) == (Exit.SOME_FAILED, b"")
    store.close()


@pytest.mark.parametrize("what", ["--record", "--headers", "--payload"])
def test_a_head_promises_the_length_that_it_did(
    what: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Its body is right, as is the digest of its block, and the next record follows."""
    right = [("WARC-Block-Digest", sha1_of(HTTP + BODY))]
    store = LandedStore(tmp_path / "store")
    after = gzip.decompress(page(AGAIN))
    store.land("one", "a.warc", gzip.decompress(page(URI, BODY, extra=right)), after)
    rotting = Rotting(store, store.folder / "archive/one/a.warc", b"")
    key = next(iter(scan_captures_of(store.rows, urlkey(URI)))).key.decode()
    assert rotting.call(capfdbinary, "cat", key, what)[0] == Exit.DONE
    size = f"Content-Length: {len(HTTP + BODY)}".encode()
    rotting.file.write_bytes(rotting.file.read_bytes().replace(size, size[:-4] + b"9999", 1))
    assert rotting.call(capfdbinary, "cat", key, what) == (Exit.SOME_FAILED, b"")
    store.close()


@pytest.mark.parametrize("field", ["WARC-Refers-To-Target-URI", "WARC-Refers-To-Date"])
def test_a_revisit_of_ours_refers_to_what_it_was_written_with(
    field: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    with make_scene(tmp_path) as scene:
        scene.land(1)
        scene.land(2)
        scene.dedupe()
        words = ("--store", str(scene.folder / "store"))
        assert main(["-q", "zstd", "decompress", "c2", "--plain", *words]) == Exit.DONE
        [file, *_] = sorted((scene.archive.folder / "c2").rglob("part-1.warc"))
        data = file.read_bytes()
        at = data.index(f"\r\n{field}: ".encode()) + len(field) + 15
        file.write_bytes(flipped(data, at))
        keys = [
            capture.key.decode()
            for number in (1, 3, 5, 7, 9, 11)
            for capture in scan_captures_of(scene.rows, urlkey(f"http://example.org/{number}"))
            if capture.facts.archive_file == "c2/part-1.warc.gz"
        ]
        capfdbinary.readouterr()
        codes = [main(["cat", key, "--payload", *words]) for key in keys]
        assert sorted(codes) == [Exit.DONE] * (len(keys) - 1) + [Exit.SOME_FAILED]
