"""What comes with WACZ files and goes on: lists of pages, what was signed, what is needed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exported import described, export, members
from importing import COLLECTION, entry_of, import_all, sha256_of, write_manifest, write_wacz
from landed_stores import LandedStore, page, revisit
from packages import members_of, signing, with_datapackage, write_package
from store_chain import call

from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.required_files import scan_required
from pinakes.errors import MalformedRecord, PinakesError
from pinakes.export.members import without_header
from pinakes.export.signatures import signed_hashes

URI = "http://example.org/"
HEADER = {"format": "json-pages-1.0", "id": "p", "title": "Of a crawler", "hasText": True}


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def exported(
    store: LandedStore, crawl: str, folder: Path, problems: list[PinakesError] | None = None
) -> dict[str, bytes]:
    wacz = folder / f"out-{crawl}.wacz"
    wacz.unlink(missing_ok=True)
    export(store.rows, store.archive, crawl, wacz, problems=problems)
    return members(wacz)


def imported(store: LandedStore, *waczs: Path) -> None:
    assert not [x for x in import_all(store.rows, store.archive, waczs) if isinstance(x, Exception)]


def wacz_with(path: Path, number: int, **more: bytes) -> Path:
    """A WACZ file of one page, with these members besides, `__` for `/`."""
    found = members_of({f"{number}.warc.gz": page(f"{URI}{number}")})
    del found["pages/pages.jsonl"]
    return write_package(path, found | {name.replace("__", "/"): v for name, v in more.items()})


# --- pages


def test_one_list_is_what_it_was(store: LandedStore, tmp_path: Path) -> None:
    pages = lines(HEADER, {"url": f"{URI}1", "text": "x" * 3_000_000}).rstrip(b"\n")
    extra = b"no json at all\n"
    path = wacz_with(
        tmp_path / "c.wacz", 1, **{"pages__pages.jsonl": pages, "pages__extraPages.jsonl": extra}
    )
    imported(store, path)
    found = exported(store, "c", tmp_path)
    assert (found["pages/pages.jsonl"], found["pages/extraPages.jsonl"]) == (pages, extra)


def test_lists_of_several_are_one(store: LandedStore, tmp_path: Path) -> None:
    one, two = ({"url": f"{URI}{number}", "ts": "2020-01-02T03:04:05Z"} for number in (1, 2))
    folder = tmp_path / "in"
    paths = [
        wacz_with(folder / "a.wacz", 1, **{"pages__pages.jsonl": lines(HEADER, one)}),
        wacz_with(
            folder / "b.wacz",
            2,
            **{
                "pages__pages.jsonl": lines(two).rstrip(b"\n"),
                "pages__extraPages.jsonl": lines(HEADER, two),
            },
        ),
        wacz_with(folder / "d.wacz", 3, **{"pages__pages.jsonl": lines(HEADER)}),
        wacz_with(folder / "e.wacz", 4),
    ]
    entries = [entry_of(path, crawlId="c") for path in paths]
    imported(store, write_manifest(folder / "all.json", entries))
    found = exported(store, "c", tmp_path)
    header = {"format": "json-pages-1.0", "id": "pages", "title": "pages"}
    assert found["pages/pages.jsonl"] == lines(header, one, two)
    assert found["pages/extraPages.jsonl"] == lines(HEADER, two)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([b""], b""),
        ([], b""),
        ([b'{"format": "x"}\n{"url": 1}\n'], b'{"url": 1}\n'),
        ([b'{"format":', b' "x"}', b'\n{"url"', b": 1}"], b'{"url": 1}\n'),
        ([b'{"format": "x"}'], b""),
        ([b'{"format": "x", "url": "y"}'], b'{"format": "x", "url": "y"}\n'),
        ([b"junk", b"\n", b"\xff"], b"junk\n\xff\n"),
        ([b"x" * (1 << 24), b"xx", b"yy\n"], b"x" * (1 << 24) + b"xxyy\n"),
    ],
    ids=["empty", "none", "header", "in pieces", "header alone", "a page", "junk", "long"],
)
def test_of_a_list_all_but_its_header_is_kept(given: list[bytes], wanted: bytes) -> None:
    assert b"".join(without_header(given)) == wanted


def test_pages_are_html_that_was_there(store: LandedStore, tmp_path: Path) -> None:
    """HTML with a 2xx status, each URL once, at its first capture."""
    html = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    missing = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n"
    image = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
    store.land(
        "c",
        "a.warc.gz",
        page(f"{URI}b", head=html, date="2021-01-01T00:00:00Z"),
        page(f"{URI}b", head=html),
        page(f"{URI}gone", head=missing),
        page(f"{URI}i.png", head=image),
        page(f"{URI}a", head=html, date="2021-01-01T00:00:00Z"),
    )
    header, *pages = map(
        json.loads, exported(store, "c", tmp_path)["pages/pages.jsonl"].splitlines()
    )
    assert header == {"format": "json-pages-1.0", "id": "pages", "title": "Pages"}
    assert [(one["url"], one["ts"]) for one in pages] == [
        (f"{URI}a", "2021-01-01T00:00:00Z"),
        (f"{URI}b", "2020-01-02T03:04:05Z"),
    ]


ODD_LISTS = (
    "pages/..%2F..%2Fetc.jsonl",
    "../../pages/a.jsonl",
    "pages/%00.jsonl",
    "pages/%FF.jsonl",
    f"pages/{'x' * 70_000}.jsonl",
    "pages/.jsonl",
    "/pages/a.jsonl",
    "",
)


def test_lists_with_odd_names(store: LandedStore, tmp_path: Path) -> None:
    """A folder that looks like a package holds what nobody would put into one."""
    records = [
        page(
            f"urn:wacz:item.wacz/{path}",
            lines(HEADER, {"url": URI}),
            record_type="resource",
            head=b"",
            date=f"2020-01-01T00:00:{second:02d}Z",
        )
        for second, path in enumerate(ODD_LISTS)
    ]
    store.land("c", "item.wacz/documents.warc", *records)
    found = exported(store, "c", tmp_path)
    names = {name.removeprefix("pages/") for name in found if name.startswith("pages/")}
    long = f"{'x' * 194}.jsonl"
    assert names == {"%00.jsonl", "%FF.jsonl", "a.jsonl", long, "pages.jsonl"}
    assert found["pages/a.jsonl"] == lines(HEADER, {"url": URI})


# --- signed


def test_what_was_signed_is_kept_as_it_was(store: LandedStore, tmp_path: Path) -> None:
    given = signing(members_of({"a.warc.gz": page(URI)}))
    imported(store, write_package(tmp_path / "c.wacz", given))
    problems: list[PinakesError] = []
    found = exported(store, "c", tmp_path, problems)
    assert found["signed/c.datapackage"] == given["datapackage.json"]
    assert found["signed/c.datapackage-digest"] == given["datapackage-digest.json"]
    signed = {
        one["path"]: one["hash"] for one in json.loads(given["datapackage.json"])["resources"]
    }
    now = {one["path"]: one["hash"] for one in described(found)["resources"]}
    assert signed["archive/a.warc.gz"] == now["archive/a.warc.gz"]
    assert "signedData" not in json.loads(found["datapackage-digest.json"])
    assert problems == []
    # Imported again, and exported from there, it is kept on.
    again = LandedStore(tmp_path / "again")
    imported(again, (tmp_path / "out-c.wacz").rename(tmp_path / "x.wacz"))
    later = exported(again, "x", tmp_path)
    for name in ("signed/c.datapackage", "signed/c.datapackage-digest"):
        assert later[name] == found[name]
    again.close()


def test_a_signature_of_another_datapackage_is_named(store: LandedStore, tmp_path: Path) -> None:
    given = signing(members_of({"a.warc.gz": page(URI)}), b"another")
    imported(store, write_package(tmp_path / "c.wacz", given))
    problems: list[PinakesError] = []
    found = exported(store, "c", tmp_path, problems)
    assert not [name for name in found if name.startswith("signed/")]
    [problem] = problems
    assert str(problem) == (
        "c/c.wacz/datapackage-digest.json: its signature is of another datapackage.json: "
        "kept among its documents only"
    )
    assert given["datapackage-digest.json"] in found["archive/documents.warc"]


def test_signatures_of_several(store: LandedStore, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    entries = []
    for name in ("a/x.wacz", "b/x.wacz", "y.wacz"):
        given = signing(members_of({f"{name[0]}.warc.gz": page(f"{URI}{name}")}))
        path = write_package(folder / name, given)
        (folder / name.replace("/", "-")).write_bytes(path.read_bytes())
        entries.append(entry_of(folder / name.replace("/", "-"), crawlId="c"))
    imported(store, write_manifest(folder / "all.json", entries))
    found = exported(store, "c", tmp_path)
    assert sorted(name for name in found if name.startswith("signed/")) == [
        f"signed/{name}.datapackage{end}" for name in ("a-x", "b-x", "y") for end in ("", "-digest")
    ]


def test_two_of_one_place_are_both_kept(store: LandedStore, tmp_path: Path) -> None:
    one = signing({"datapackage.json": b"one"})
    two = signing({"datapackage.json": b"two"})
    found = members_of({"a.warc.gz": page(URI)}) | {
        "x/datapackage.json": one["datapackage.json"],
        "x/datapackage-digest.json": one["datapackage-digest.json"],
        "x.datapackage": two["datapackage.json"],
        "x.datapackage-digest": two["datapackage-digest.json"],
    }
    imported(store, write_package(tmp_path / "c.wacz", found))
    kept = exported(store, "c", tmp_path)
    signed = {data for name, data in kept.items() if name.endswith(".datapackage")}
    assert signed == {b"one", b"two"}


SIGNINGS: dict[str, Callable[[str], object]] = {
    "in capitals": lambda h: {"hash": h, "signedData": {"hash": h.upper()}},
    "without label": lambda h: {"hash": h, "signedData": {"hash": h[7:]}},
    "no hash in it": lambda h: {"hash": h, "signedData": {"signature": "s"}},
    "no hash beside it": lambda h: {"signedData": {"hash": h}},
}
OTHER = f"sha256:{'0' * 64}"
ODD_SIGNINGS: dict[str, tuple[Callable[[str], object], str]] = {
    "other beside it": (lambda h: {"hash": OTHER, "signedData": {"hash": h}}, "of another"),
    "other in it": (lambda h: {"hash": h, "signedData": {"hash": OTHER}}, "of another"),
    "a string": (lambda h: {"hash": h, "signedData": "abc"}, "is no signature"),
    "empty": (lambda h: {"hash": h, "signedData": {}}, "is no signature"),
    "no hash": (lambda h: {"signedData": {"a": 1}}, "has no hash"),
    "a number": (lambda h: {"hash": 1, "signedData": {"a": 1}}, "has no hash"),
    "a list": (lambda h: [{"signedData": {"hash": h}}], "cannot be read"),
}


def with_digest(path: Path, make: Callable[[str], object]) -> Path:
    given = members_of({"a.warc.gz": page(URI)})
    said = f"sha256:{hashlib.sha256(given['datapackage.json']).hexdigest()}"
    return write_package(path, given | {"datapackage-digest.json": json.dumps(make(said)).encode()})


@pytest.mark.parametrize("make", SIGNINGS.values(), ids=SIGNINGS)
def test_signatures_in_other_spellings_are_kept(
    store: LandedStore, tmp_path: Path, make: Callable[[str], object]
) -> None:
    imported(store, with_digest(tmp_path / "c.wacz", make))
    problems: list[PinakesError] = []
    assert "signed/c.datapackage" in exported(store, "c", tmp_path, problems)
    assert problems == []


@pytest.mark.parametrize(("make", "words"), ODD_SIGNINGS.values(), ids=ODD_SIGNINGS)
def test_every_signature_that_is_not_kept_is_named(
    store: LandedStore, tmp_path: Path, make: Callable[[str], object], words: str
) -> None:
    imported(store, with_digest(tmp_path / "c.wacz", make))
    problems: list[PinakesError] = []
    found = exported(store, "c", tmp_path, problems)
    assert not [name for name in found if name.startswith("signed/")]
    [problem] = problems
    assert str(problem).startswith("c/c.wacz/datapackage-digest.json: ")
    assert words in str(problem)


def test_a_signature_of_nothing_is_named(store: LandedStore, tmp_path: Path) -> None:
    given = signing(members_of({"a.warc.gz": page(URI)}))
    extra = {"x/datapackage-digest.json": given["datapackage-digest.json"]}
    imported(store, write_package(tmp_path / "c.wacz", given | extra))
    problems: list[PinakesError] = []
    assert "signed/c.datapackage" in exported(store, "c", tmp_path, problems)
    [problem] = problems
    assert str(problem) == (
        "c/c.wacz/x/datapackage-digest.json: what it signs is not there: "
        "kept among its documents only"
    )


@pytest.mark.parametrize("digest", [b"", b"[]", b"[" * 100_000, b"{", b'{"a": "\xff"}'])
def test_what_cannot_be_read_is_no_digest(digest: bytes) -> None:
    with pytest.raises(MalformedRecord, match="cannot be read"):
        signed_hashes(digest)


@pytest.mark.parametrize(
    "digest", [b"{}", b'{"hash": "sha256:ab"}', b'{"hash": "sha256:ab", "signedData": null}']
)
def test_what_is_not_signed(digest: bytes) -> None:
    assert signed_hashes(digest) is None


# --- needed


def requires(found: dict[str, bytes]) -> list[dict[str, Any]]:
    named: list[dict[str, Any]] = described(found).get("relation", {}).get("requires", [])
    return named


def test_a_wacz_file_that_is_needed_is_named(store: LandedStore, tmp_path: Path) -> None:
    """A crawl's list has it by SHA-256; the archive file in it is named besides."""
    date = "2020-01-02T03:04:05Z"
    spring = write_wacz(tmp_path / "spring.wacz", page(URI), page(f"{URI}b"))
    later = "2021-01-01T00:00:00Z"
    records = (revisit(URI, later, URI, date), revisit(f"{URI}b", later, f"{URI}b", date))
    summer = write_wacz(tmp_path / "summer.wacz", *records)
    imported(store, spring, summer)
    [facts] = [e.facts for e in scan_entries(store.rows, "spring") if "a.warc" in e.archive_file]
    assert facts is not None
    found = exported(store, "summer", tmp_path)
    wanted = {
        "filename": "spring.wacz",
        "hash": sha256_of(spring),
        "size": spring.stat().st_size,
        "crawlId": "spring",
        "resources": [
            {
                "path": "archive/a.warc.gz",
                "hash": f"sha256:{facts.sha256}",
                "bytes": facts.size,
            }
        ],
    }
    assert requires(found) == [wanted]
    assert requires(exported(store, "spring", tmp_path)) == []
    # Elsewhere, what was exported of it will do.
    again = LandedStore(tmp_path / "again")
    exports = [tmp_path / f"out-{name}.wacz" for name in ("summer", "spring")]
    imported(again, *exports)
    [one] = scan_required(again.rows, again.archive, "out-summer", COLLECTION)
    assert one.found == ("out-spring/out-spring.wacz/archive/a.warc.gz",)
    again.close()


def test_the_wacz_file_is_named_also_when_its_file_was_written_anew(
    store: LandedStore, tmp_path: Path
) -> None:
    """Recompressed, the archive file is another; the WACZ file that holds the record is not."""
    date = "2020-01-02T03:04:05Z"
    spring = write_wacz(tmp_path / "spring.wacz", page(URI))
    summer = write_wacz(tmp_path / "summer.wacz", revisit(URI, "2021-01-01T00:00:00Z", URI, date))
    imported(store, spring, summer)
    before = requires(exported(store, "summer", tmp_path))
    assert call("zstd", "compress", "spring", "--store", store.folder).exit_code == 0
    assert 2 in [entry.generation for entry in scan_entries(store.rows, "spring")]
    assert requires(exported(store, "summer", tmp_path)) == before
    assert [one["hash"] for one in before] == [sha256_of(spring)]


def test_what_is_needed_and_missing_stays_named(store: LandedStore, tmp_path: Path) -> None:
    """As it was written; what the store has is not named, unless a revisit refers to it."""
    there = write_wacz(tmp_path / "there.wacz", page(f"{URI}there"))
    gone = {"filename": "gone.wacz", "hash": "ab" * 32, "size": 7, "crawlId": "g", "other": [1]}
    named = [gone, {"filename": "there.wacz", "hash": sha256_of(there)}]
    date = "2020-01-02T03:04:05Z"
    records = revisit(f"{URI}x", "2021-01-01T00:00:00Z", f"{URI}nowhere", date)
    given = with_datapackage(members_of({"s.warc.gz": records}), relation={"requires": named})
    imported(store, there, write_package(tmp_path / "summer.wacz", given))
    more = with_datapackage(members_of({"t.warc.gz": page(URI)}), relation={"requires": named})
    path = write_package(tmp_path / "in" / "more.wacz", more)
    imported(store, write_manifest(path.with_name("m.json"), [entry_of(path, crawlId="summer")]))
    assert requires(exported(store, "summer", tmp_path)) == [gone]
