"""lookup, timeline and show, on a store of a few captures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from landed_stores import LandedStore, page, revisit, sha1_of
from reporting import report, report_of

from pinakes.catalog.captures import scan_captures_of
from pinakes.cli import main
from pinakes.hbase_schema.capture_cells import DedupeMark, Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import Put

URI = "http://example.org/"
DATE = "2020-01-02T03:04:05Z"


@dataclass
class Said:
    code: int
    out: str
    err: str

    def objects(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.out.splitlines()]


Call = Callable[..., Said]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LandedStore]:
    made = LandedStore(tmp_path / "store")
    made.land(
        "one",
        "a.warc.gz",
        page(URI, b"one\0two"),
        revisit(URI, "2021-01-01T00:00:00Z", URI, DATE),
        revisit(URI, "2022-01-01T00:00:00Z", URI, "1999-01-01T00:00:00Z"),
        revisit(URI, "2023-01-01T00:00:00Z", URI, "2021-01-01T00:00:00Z"),
    )
    yield made
    made.close()


@pytest.fixture
def call(store: LandedStore, capfdbinary: pytest.CaptureFixture[bytes]) -> Call:
    def run(*argv: str) -> Said:
        code = main([*argv, "--store", str(store.folder)])
        out, err = capfdbinary.readouterr()
        return Said(code, out.decode("latin-1"), err.decode())

    return run


def capture_of(store: LandedStore, year: str) -> str:
    [capture] = scan_captures_of(store.rows, urlkey(URI), start_time=year, stop_time=year + "9")
    return capture.key.decode()


def test_lookup_answers_each_query(call: Call) -> None:
    said = call("lookup", "--json", sha1_of(b"one\0two"), "http://nowhere.example/")
    known, unknown = said.objects()
    assert said.code == 0
    assert (known["known"], unknown["known"], unknown["captures"]) == (True, False, [])
    said = call("lookup", "md5:900150983cd24fb0d6963f7d28e17f72", URI)
    assert said.code == 3
    assert "known by sha1 and sha256" in said.err
    assert f"{URI}: known since" in said.out


@pytest.mark.parametrize("limit", ["1", "15000", "1000000"])
def test_lookup_answers_in_order_however_few_are_asked_together(call: Call, limit: str) -> None:
    queries = ["http://nowhere.example/", URI, sha1_of(b"one\0two"), "http://nowhere.example/2"]
    said = call("lookup", "--json", "--limit", limit, *queries)
    answers = [(answer["query"], answer["known"]) for answer in said.objects()]
    assert answers == list(zip(queries, [False, True, True, False], strict=True))


def test_timeline_prints_what_show_takes(call: Call) -> None:
    said = call("timeline", URI, "--json")
    ids = [line["capture"] for line in said.objects()]
    assert len(ids) == 4
    assert [call("show", str(name)).code for name in ids] == [0] * 4
    assert [line.split("  ")[-1] for line in call("timeline", URI).out.splitlines()] == ids
    assert len(call("timeline", URI, "--from", "2021", "--to", "2022").out.splitlines()) == 1
    assert call("timeline", URI, "--from", "x").code == 2


def test_timeline_says_what_dedupe_found(store: LandedStore, call: Call) -> None:
    original, copy = capture_of(store, "2020"), capture_of(store, "2021")
    mark = DedupeMark(run="r", hash_extension=0, copy_number=2, refers_to_key=original)
    pin = {Pin.COLUMN: encode_cell(Pin(run="r"))}
    cells = {DedupeMark.COLUMN: encode_cell(mark)}
    puts = [Put(original.encode(), pin, 1 << 42), Put(copy.encode(), cells, 1 << 42)]
    store.rows.mutate("captures", puts)
    lines = call("timeline", URI).out.splitlines()
    assert f"  pinned  {original}" in lines[0]
    assert f"  duplicate of [{original}]  {copy}" in lines[1]


@pytest.mark.parametrize("year", ["2020", "2021"], ids=["full", "revisit"])
def test_a_payload_is_the_stored_body_to_the_byte(
    store: LandedStore, call: Call, year: str
) -> None:
    said = call("show", "--payload", capture_of(store, year))
    assert (said.code, said.out, said.err) == (0, "one\0two", "")


@pytest.mark.parametrize("year", ["2022", "2023"], ids=["dangles", "chains"])
def test_a_reference_that_leads_nowhere_is_an_error(
    store: LandedStore, call: Call, year: str
) -> None:
    said = call("show", "--payload", capture_of(store, year))
    assert (said.code, said.out) == (3, "")
    assert "not in the store" in said.err


def test_what_dedupe_wrote_resolves_by_its_mark(store: LandedStore, call: Call) -> None:
    mark = DedupeMark(
        run="r", hash_extension=0, copy_number=2, refers_to_key=capture_of(store, "2020")
    )
    key = capture_of(store, "2022")
    cells = {DedupeMark.COLUMN: encode_cell(mark)}
    store.rows.mutate("captures", [Put(key.encode(), cells, 1 << 42)])
    assert call("show", "--payload", key).out == "one\0two"


def test_as_of_shows_what_was_and_says_what_is_not_kept(store: LandedStore, call: Call) -> None:
    key = capture_of(store, "2020")
    start = 1_893_456_000_000  # 2030
    for number in range(12):
        pin = encode_cell(Pin(run=f"r{number}"))
        store.rows.mutate("captures", [Put(key.encode(), {Pin.COLUMN: pin}, start + number)])
    cells = call("show", key, "--json", "--as-of", "2030-01-01T00:00:00.005Z").objects()[0]["cells"]
    assert isinstance(cells, dict)
    assert cells["d:pin"]["value"]["run"] == "r5"
    assert cells["d:pin"]["written"] == "2030-01-01T00:00:00.005Z"
    said = call("show", key, "--as-of", "2030-01-01T00:00:00.001Z")
    assert "d:pin  not kept" in said.out
    assert "m:capture  20" in said.out
    other = capture_of(store, "2021")
    assert "not in the catalogue then" in call("show", other, "--as-of", "1999").out
    assert call("show", key, "--as-of", "yesterday").code == 2
    assert call("show", other, "--as-of", "1999", "--payload").code == 3
    assert call("show", key, "--as-of", "2030", "--payload").out == "one\0two"
    # It was not known then in which file it lies now.
    assert call("show", key, "--json", "--as-of", "2030").objects()[0]["file"] is None


def test_a_place_in_a_file_of_the_store_or_outside(store: LandedStore, call: Call) -> None:
    assert call("show", "one/a.warc.gz:0", "--payload").out == "one\0two"
    assert '"offset":"0"' in call("show", "one/a.warc.gz:0").out
    local = store.inbox / "one/a.warc.gz"
    shown = call("show", f"{local}:0")
    assert (shown.code, shown.out.splitlines()[1]) == (0, "WARC/1.1")
    assert call("show", f"{local}:0", "--payload").out == "one\0two"


@pytest.mark.parametrize(
    ("capture", "code"),
    [
        ("nothing", 2),
        ("one/a.warc.gz:1", 3),
        ("one/none.warc.gz:0", 3),
        ("org,example)/ 20200102030405000 AAAAAAAA", 3),
    ],
    ids=["no capture", "no record", "no file", "unknown"],
)
def test_what_is_not_there_is_an_error(call: Call, capture: str, code: int) -> None:
    said = call("show", capture)
    assert (said.code, said.out) == (code, "")
    assert said.err.startswith("pinakes: error: ")


def test_a_crawl_is_listed_shown_counted_committed_and_removed(
    store: LandedStore, call: Call
) -> None:
    assert call("crawl", "list").out.startswith("one  open  default  1 file, 4 captures, ")
    crawl, file = call("crawl", "show", "one", "--json").objects()
    assert (crawl["state"], file["state"], file["hidden"]) == ("open", "stored", False)
    [stats] = call("crawl", "stats", "one", "--json").objects()
    assert stats["types"] == {"response": 1, "revisit": 3}
    left_open = "; 2 revisits refer to nothing in the store\n"
    assert call("crawl", "commit", "one", "--dry-run").out == f"one: would be committed{left_open}"
    committed = call("crawl", "commit", "one")
    assert (committed.code, committed.out) == (0, f"one: committed{left_open}")
    assert "] refers to http://example.org/ 1999-01-01T00:00:00Z" in committed.err
    store.land("two", "t.warc.gz", revisit("http://x.example/", "2024-01-01T00:00:00Z", URI, DATE))
    refused = call("crawl", "remove", "one")
    assert refused.code == 3
    assert "two/t.warc.gz: [" in refused.err
    by_its_old_name = call("crawl", "cancel", "two")
    assert by_its_old_name.code == 0
    assert by_its_old_name.err == "`pinakes crawl cancel` is `pinakes crawl remove` now\n"
    assert call("crawl", "remove", "one", "--dry-run").out.startswith("one: would be removed; 1 f")
    assert call("crawl", "remove", "one").code == 0
    assert call("crawl", "remove", "one").code == 0
    assert call("timeline", URI).out == ""
    assert (
        "one  removed  default  0 files, 0 captures, 0 bytes" in call("crawl", "list", "--all").out
    )
    assert call("crawl", "list").out == ""
    assert call("crawl", "list").err == "2 removed crawls not shown: --all\n"
    assert call("crawl", "show", "none").code == 2


def test_commit_says_what_never_landed(store: LandedStore, call: Call) -> None:
    lost = report_of(b"lost", f"{URI}lost", DATE)
    report(store.rows, "two", [lost, report_of(b"b", f"{URI}b", DATE)])
    to_lost = revisit(URI, "2024-01-01T00:00:00Z", f"{URI}lost", DATE)
    store.land("two", "a.warc.gz", page(f"{URI}b", b"b", date=DATE), to_lost)
    said = call("crawl", "commit", "two")
    assert said.out == (
        "two: committed; 1 reported capture never landed; 1 revisit refers to nothing in the "
        "store, 1 of them to captures that were reported\n"
    )
    [again] = call("crawl", "commit", "two", "--json").objects()
    assert again == {
        "crawl": "two",
        "outcome": "was committed already",
        "reports_landed": 1,
        "reports_never_landed": 1,
        "unresolved": 1,
        "unresolved_reported": 1,
    }


def test_counts_as_browsertrix_has_them(store: LandedStore, call: Call) -> None:
    [plain] = call("crawl", "list", "--json").objects()
    assert "totalUrls" not in plain
    [one] = call("crawl", "list", "--counts", "--json").objects()
    assert (one["totalUrls"], one["dupeUrls"]) == (4, 3)
    assert one["totalCrawlSize"] == one["bytes"]
    call("crawl", "commit", "one")
    store.land("two", "t.warc.gz", page(f"{URI}two", b"two"))
    _, two, total = call("crawl", "list", "--counts", "--json").objects()
    assert two["totalUrls"] == 1
    # What is open is in no sum.
    names = ("totalCrawlSize", "totalUrls", "dupeUrls", "conservedSize")
    assert total == {"committed_of": "default", **{name: one[name] for name in names}}
    said = call("crawl", "show", "one", "--counts").out
    assert said.startswith("one  committed  default  1 file, 4 captures, ")
    assert "; 4 URLs, 3 of them duplicates, " in said


def test_show_names_what_is_reported(store: LandedStore, call: Call) -> None:
    lost = report_of(b"lost", f"{URI}lost", DATE)
    report(store.rows, "one", [lost, report_of(b"one\0two", URI, DATE)])
    crawl, file, reported = call("crawl", "show", "one", "--json").objects()
    assert (crawl["reports_landed"], crawl["reports_not_landed"]) == (1, 1)
    assert file["file"] == "one/a.warc.gz"
    assert reported == {
        "reported": f"{URI}lost",
        "date": DATE,
        "digest": sha1_of(b"lost"),
        "in": None,
    }
    assert call("crawl", "show", "one").out.endswith("  reported, has not landed\n")
    call("crawl", "commit", "one")
    crawl, file = call("crawl", "show", "one", "--json").objects()
    assert (crawl["reports_never_landed"], crawl["unresolved"]) == (1, 2)
    assert (
        call("crawl", "show", "one")
        .out.splitlines()[0]
        .endswith(" now; 1 reports landed, 1 reports never landed, 2 unresolved")
    )


def test_fsck_finds_then_mends_then_finds_nothing(store: LandedStore, call: Call) -> None:
    assert (call("fsck").code, call("fsck", "--full").out) == (0, "")
    (store.folder / "archive/one/a.warc.gz.sidecar.parquet").unlink()
    found = call("fsck", "--quick")
    assert found.code == 1
    line = "one/a.warc.gz: sidecar-missing: has no sidecar; --repair: rebuild "
    assert found.out.startswith(line)
    [mended] = call("fsck", "--repair", "--json").objects()
    assert (mended["code"], mended["mended"]) == ("sidecar-missing", True)
    assert call("fsck", "--full").code == 0
