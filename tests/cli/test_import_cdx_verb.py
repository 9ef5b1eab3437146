"""`pinakes import-cdx`: any index or manifest comes in as lines of other archives, line by line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from landed_stores import LandedStore, page, sha1_of
from verbs_here import call_here

from pinakes.counts import count_of
from pinakes.hbase_schema.capture_cells import ExternalLine
from pinakes.hbase_schema.cells import decode_cell

URI = "http://example.org/"
SHA1 = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
CDXJ = (
    'org,example)/ 20200102030405 {"url":"http://example.org/","mime":"text/html","status":"200",'
    f'"digest":"{SHA1}","length":"700","offset":"12","filename":"theirs.warc.gz"}}\n'
)
CDX_11 = (
    " CDX N b a m s k r M S V g\n"
    f"org,example)/ 20200102030405 http://example.org/ text/html 200 {SHA1} - - 700 12 "
    "theirs.warc.gz\n"
)
MANIFEST = f"theirs.warc.gz 12 700 http://example.org/ 2020-01-02T03:04:05Z sha1:{SHA1}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pinakes.toml").write_text('store = "store"\ncollection = "news"\n')
    LandedStore(tmp_path / "store").close()
    return tmp_path


def externals(folder: Path) -> dict[bytes, ExternalLine]:
    store = LandedStore(folder / "store")
    rows = {row.key: row.value(ExternalLine.COLUMN) for row in store.rows.scan("captures")}
    store.close()
    return {key: decode_cell(ExternalLine, cell) for key, cell in rows.items() if cell is not None}


def take(folder: Path, *files: str) -> tuple[int, list[str], str]:
    done = call_here(folder, "import-cdx", *files)
    return done.returncode, done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize(
    ("text", "mime", "status"),
    [
        pytest.param(CDXJ, "text/html", "200", id="CDXJ"),
        pytest.param(CDX_11, "text/html", "200", id="CDX-11"),
        pytest.param(CDX_11.partition("\n")[2], "text/html", "200", id="no first line"),
        pytest.param(MANIFEST, None, None, id="manifest as in the paper"),
        pytest.param(f"{MANIFEST} 0 1 - - size=5 status=200\r\n", None, "200", id="manifest"),
        pytest.param(f"\n{MANIFEST} type=revisit\n\n", "warc/revisit", None, id="a revisit"),
    ],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_each_form_gives_the_same_row(
    folder: Path, text: str, mime: str | None, status: str | None, packed: bool
) -> None:
    data = text.encode()
    (folder / "a.cdx").write_bytes(gzip.compress(data) if packed else data)
    assert take(folder, "a.cdx") == (0, ["a.cdx: 1 line taken"], "")
    [(key, line)] = externals(folder).items()
    assert key.startswith(b"org,example)/ 20200102030405000 ")
    assert (line.url, line.mime, line.status) == (URI, mime, status)
    assert (line.digest, line.collection) == (SHA1, "news")
    assert (line.filename, line.offset, line.length) == ("theirs.warc.gz", "12", "700")
    before = externals(folder)
    assert take(folder, "a.cdx")[0] == 0
    assert externals(folder) == before


def test_what_pinakes_writes_comes_in(folder: Path) -> None:
    """`cdx` and `manifest`, and what is in them is found by URL, but is no original here."""
    warc = folder / "theirs.warc.gz"
    warc.write_bytes(page(URI, b"hello") + page(f"{URI}b", b"more"))
    for name, words in {
        "a.cdxj": ["cdx"],
        "a.cdx": ["cdx", "--format", "cdx11"],
        "a.manifest": ["manifest"],
    }.items():
        assert call_here(folder, *words, warc.name, "-o", name).returncode == 0
        assert take(folder, name)[:2] == (0, [f"{name}: 2 lines taken"])
        assert {line.url for line in externals(folder).values()} == {URI, f"{URI}b"}
        assert len(externals(folder)) == 2
    found = call_here(folder, "lookup", sha1_of(b"hello"), "--json").stdout
    assert json.loads(found)["captures"] == []
    wget = call_here(folder, "cdx", "news", "--format", "wget")
    assert wget.returncode == 2  # a collection of no crawl: nothing has landed


def test_bad_lines_are_named_and_the_rest_is_taken(folder: Path) -> None:
    bad = [
        "nonsense",
        CDXJ.replace("20200102030405", "2020010203x"),
        CDXJ.replace('"12"', '"-12"'),
        f"theirs.warc.gz 12 700 http://example.org/ yesterday sha1:{SHA1}",
        MANIFEST.replace("12", "9" * 40),
        "x" * (3 << 20),
        CDXJ.replace("theirs", "th\x00eirs"),
    ]
    lines = [*(line.rstrip("\n") for line in bad), CDXJ, MANIFEST.replace("12", "13")]
    (folder / "a.cdx").write_text("\n".join(lines))
    code, out, err = take(folder, "a.cdx", "-v")
    assert (code, out) == (3, ["a.cdx: 2 lines taken, 7 left out"])
    assert err.count("warning: a.cdx: ") == 7
    for number, words in enumerate(
        ("is not a CDX line", "is not", "has no place", "has no time", "has no place"), 1
    ):
        assert f"line {number} {words}" in err
    assert "line 6 has more than" in err
    assert len(externals(folder)) == 2


def cdxj(number: int) -> bytes:
    return (
        CDXJ.replace("org,example)/", f"org,example)/{number}")
        .replace("12", f"{number}12")
        .encode()
    )


def cdx_11(number: int) -> bytes:
    line = CDX_11.partition("\n")[2].replace("- 700 12", f"- 700 {number}12")
    return line.replace("org,example)/", f"org,example)/{number}").encode()


def manifest(number: int) -> bytes:
    return MANIFEST.replace("12", f"{number}12").replace("org/", f"org/{number}").encode() + b"\n"


BLOCKS = [3, 1, 5, 2, 1, 1, 7]


@pytest.mark.parametrize("line", [cdxj, cdx_11, manifest], ids=["cdxj", "cdx-11", "manifest"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("last", [b"", b"\r", None], ids=["no-end", "cr", "end"])
def test_each_block_ends_its_last_line(
    folder: Path, line: Callable[[int], bytes], end: bytes, last: bytes | None
) -> None:
    """As in ZipNum indexes whose blocks lack the last line end."""
    numbers, packed = iter(range(10, 100)), b""
    for count in BLOCKS:
        text = end.join(line(next(numbers)).rstrip(b"\n") for _ in range(count))
        padding = {1: b"", 2: gzip.compress(b""), 3: b"\0" * 9}.get(count, b"")
        packed += gzip.compress(text + (end if last is None else last)) + padding
    (folder / "a.cdx.gz").write_bytes(packed)
    assert take(folder, "a.cdx.gz") == (0, [f"a.cdx.gz: {sum(BLOCKS)} lines taken"], "")
    offsets = {found.offset for found in externals(folder).values()}
    assert offsets == {f"{number}12" for number in range(10, 10 + sum(BLOCKS))}


@pytest.mark.parametrize("line", [cdxj, cdx_11, manifest], ids=["cdxj", "cdx-11", "manifest"])
@pytest.mark.parametrize("size", [1, 50, 233])
def test_a_line_over_several_blocks_stays_one(
    folder: Path, line: Callable[[int], bytes], size: int
) -> None:
    """As in BGZF, whose members end anywhere."""
    text = b"".join(map(line, range(10, 30)))
    packed = (gzip.compress(text[at : at + size]) for at in range(0, len(text), size))
    (folder / "a.cdx.gz").write_bytes(b"".join(packed))
    assert take(folder, "a.cdx.gz") == (0, ["a.cdx.gz: 20 lines taken"], "")
    offsets = {found.offset for found in externals(folder).values()}
    assert offsets == {f"{number}12" for number in range(10, 30)}


def test_a_bad_line_takes_no_other_with_it(folder: Path) -> None:
    """At the end of a block, and at the beginning of one."""
    blocks = [
        cdxj(10) + b"not a line",
        cdxj(11).rstrip(b"\n"),
        b"not a line\n" + cdxj(12),
        cdxj(13),
    ]
    (folder / "a.cdx.gz").write_bytes(b"".join(map(gzip.compress, blocks)))
    code, out, _ = take(folder, "a.cdx.gz")
    assert (code, out) == (3, ["a.cdx.gz: 4 lines taken, 2 left out"])


def test_columns_are_not_guessed_behind_a_first_line(folder: Path) -> None:
    swapped = CDX_11.replace(" S V g", " V S g").replace(" CDX", "\ufeffcdx").encode()
    (folder / "swapped.cdx.gz").write_bytes(gzip.compress(swapped))
    (folder / "none.cdx").write_text(CDX_11.replace(" S V g", ""))
    code, out, err = take(folder, "swapped.cdx.gz", "none.cdx")
    assert (code, out) == (
        3, ["swapped.cdx.gz: 1 line taken", "none.cdx: 0 lines taken, 2 left out"]
    )  # fmt: skip
    assert "none.cdx: line 1 does not name the columns a, b, V and g" in err
    assert [(line.offset, line.length) for line in externals(folder).values()] == [("700", "12")]


def test_files_that_cannot_be_read(folder: Path) -> None:
    packed = gzip.compress((CDXJ * 2000 + MANIFEST).encode())
    (folder / "cut.cdx.gz").write_bytes(packed[: len(packed) // 2])
    flipped = bytearray(packed)
    flipped[-6] ^= 1
    (folder / "wrong.cdx.gz").write_bytes(flipped)
    (folder / "fine.cdx").write_text(CDXJ)
    (folder / "empty.cdx").write_bytes(b"")
    names = ["cut.cdx.gz", "wrong.cdx.gz", "none.cdx", "store", "empty.cdx", "fine.cdx"]
    code, out, err = take(folder, *names)
    assert code == 3
    assert out[-2:] == ["empty.cdx: 0 lines taken", "fine.cdx: 1 line taken"]
    for name in names[:4]:
        assert f"warning: {name}: " in err


@pytest.mark.parametrize(
    ("tail", "count"),
    [
        pytest.param("cut", 450, id="cut, before the first write"),
        pytest.param("cut", 7000, id="cut, after one"),
        pytest.param("damage", 700, id="damage"),
        pytest.param("garbage", 1, id="behind a whole member"),
    ],
)
def test_lines_before_a_cut_are_taken(folder: Path, tail: str, count: int) -> None:
    """As many whole lines as zlib gives."""
    data = "".join(lines(count)).encode()
    packed = gzip.compress(data)
    if tail == "cut":
        packed = packed[: len(packed) * 9 // 10]
    elif tail == "damage":
        packer = zlib.compressobj(wbits=31)
        packed = packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH) + b"\x07" * 600
    else:
        packed += b"trailing garbage"
    (folder / "a.cdx.gz").write_bytes(packed)
    whole = inflated(packed).count(b"\n")
    assert 0 < whole <= count
    code, out, err = take(folder, "a.cdx.gz")
    assert (code, out) == (3, [f"a.cdx.gz: {count_of(whole, 'line')} taken"])
    assert "warning: a.cdx.gz: cannot be read to its end" in err
    assert len(externals(folder)) == whole


def inflated(packed: bytes) -> bytes:
    """What zlib gives of the first member, byte by byte, until it refuses one."""
    inflater, out = zlib.decompressobj(31), b""
    with suppress(zlib.error):
        for n in range(len(packed)):
            out += inflater.decompress(packed[n : n + 1])
    return out


def test_dry_run_changes_nothing(folder: Path) -> None:
    (folder / "a.cdx").write_text(CDXJ)
    assert take(folder, "a.cdx", "--dry-run")[1] == ["a.cdx: 1 line would be taken"]
    assert externals(folder) == {}


def lines(count: int) -> Iterator[str]:
    for n in range(count):
        yield CDXJ.replace('"12"', f'"{n}"')


def test_more_lines_than_are_written_together(folder: Path) -> None:
    (folder / "a.cdx").write_text("".join(lines(12_000)))
    assert take(folder, "a.cdx")[:2] == (0, ["a.cdx: 12,000 lines taken"])
    assert len(externals(folder)) == 12_000
