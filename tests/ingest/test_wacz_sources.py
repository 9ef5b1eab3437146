"""What an import is given: files, folders, manifests; and what is wrong with these."""

from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packages import write_package
from range_server import serving

from pinakes.archive_store.trusted_places import TrustedPlaces
from pinakes.errors import InputRefused
from pinakes.ingest.inputs import LeftOut
from pinakes.ingest.wacz import json_entries
from pinakes.ingest.wacz.json_entries import iter_items
from pinakes.ingest.wacz.sources import WaczSource, crawl_of_name, iter_sources

HEX = "0123456789abcdef" * 4


def found(place: Path | str, trusted: str = "") -> list[WaczSource | InputRefused]:
    return list(iter_sources(str(place), LeftOut(), LeftOut(), TrustedPlaces.parse(trusted)))


def manifest(folder: Path, text: str | bytes) -> Path:
    path = folder / "all.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def of(folder: Path, *entries: Any, **more: Any) -> list[WaczSource | InputRefused]:
    return found(manifest(folder, json.dumps({**more, "resources": entries})))


def _names(sources: list[WaczSource | InputRefused]) -> list[tuple[str, str]]:
    return [(s.crawl, s.name) for s in sources if isinstance(s, WaczSource)]


def test_a_file_is_a_crawl_of_its_name(tmp_path: Path) -> None:
    path = write_package(tmp_path / "my.item.wacz")
    assert found(path) == [WaczSource(place=str(path), name="my.item.wacz", crawl="my.item")]
    (tmp_path / "a.warc.gz").write_bytes(b"")
    assert _names(found(tmp_path / "a.warc.gz")) == [("a", "a.warc.gz")]
    with pytest.raises(InputRefused, match="not a WACZ, an archive file"):
        found(tmp_path / "a.txt")


def test_a_folder_is_its_wacz_files(tmp_path: Path) -> None:
    for name in ("b.wacz", "deep/a.wacz"):
        write_package(tmp_path / name)
    for name in ("c.warc.gz", "d.wacz.part", "log.txt"):
        (tmp_path / name).write_bytes(b"x")
    left, beside = LeftOut(), LeftOut()
    sources = list(iter_sources(str(tmp_path), left, beside, TrustedPlaces()))
    names = _names(sources)
    assert [name for _, name in names] == ["b.wacz", "deep/a.wacz"]
    assert names[0][0] == "b"
    assert names[1][0].startswith("deep-a-")
    assert [Path(place).name for place in left.unfinished] == ["d.wacz.part"]
    assert (left.others, beside.others) == (1, 1)


def test_a_folder_without_them_is_one_crawl_of_archive_files(tmp_path: Path) -> None:
    folder = tmp_path / "spring"
    (folder / "archive").mkdir(parents=True)
    for name in ("a.warc.gz", "archive/b.arc"):
        (folder / name).write_bytes(b"x")
    assert _names(found(folder)) == [("spring", "a.warc.gz"), ("spring", "archive/b.arc")]


def test_an_entry_says_place_name_crawl_hash_and_size(tmp_path: Path) -> None:
    entry = {"name": "x.wacz", "path": "in/y.wacz", "hash": HEX, "size": 7, "crawlId": "c"}
    [source] = of(tmp_path, entry, profile="multi-wacz-package")
    assert source == WaczSource(
        place=str(tmp_path / "in" / "y.wacz"),
        name="x.wacz",
        crawl="c",
        sha256=HEX,
        size=7,
        origin=str(tmp_path / "all.json"),
    )


@pytest.mark.parametrize(
    ("entry", "crawl", "name"),
    [
        pytest.param({"path": "a.wacz"}, "a", "a.wacz", id="path alone"),
        pytest.param({"path": "a.wacz", "name": "../../b.wacz"}, "b", "b.wacz", id="no folders"),
        pytest.param({"path": "a.wacz", "name": "title"}, "a", "a.wacz", id="a name that is none"),
        pytest.param({"path": "a.wacz", "crawlId": 7}, "a", "a.wacz", id="a crawl that is none"),
        pytest.param({"path": "/gone/a.wacz", "name": "b.wacz"}, "b", "b.wacz", id="as the hook"),
        pytest.param({"path": "a.warc.gz"}, "a", "a.warc.gz", id="an archive file"),
    ],
)
def test_entries_that_say_less(tmp_path: Path, entry: Any, crawl: str, name: str) -> None:
    assert _names(of(tmp_path, entry)) == [(crawl, name)]


def test_a_path_that_is_local_and_absent_is_looked_for_beside(tmp_path: Path) -> None:
    [source] = of(tmp_path, {"path": "/data/gone/a.wacz", "name": "a.wacz"})
    assert isinstance(source, WaczSource)
    assert source.place == str(tmp_path / "a.wacz")


def test_browsertrix_webhook_and_api(tmp_path: Path) -> None:
    entries = [{"name": "a.wacz", "path": "a.wacz"}]
    event = {"event": "crawlFinished", "itemId": "manual-1", "orgId": "o", "state": "complete"}
    assert _names(of(tmp_path, *entries, **event)) == [("manual-1", "a.wacz")]
    # What follows the list counts as well.
    text = json.dumps({"resources": entries, **event})
    assert _names(found(manifest(tmp_path, text))) == [("manual-1", "a.wacz")]
    replay = {"id": "collection-1", "initialPages": [{"url": "http://a/"}], "pagesQueryUrl": ""}
    entries[0]["crawlId"] = "manual-2"
    assert _names(of(tmp_path, *entries, **replay)) == [("manual-2", "a.wacz")]
    with pytest.raises(InputRefused, match="a webhook of crawlStarted"):
        of(tmp_path, *entries, event="crawlStarted", itemId="manual-1")


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        pytest.param("a.wacz", "an entry without a path", id="no object"),
        pytest.param({"name": "a.wacz"}, "an entry without a path", id="no path"),
        pytest.param({"path": 7}, "an entry without a path", id="a number"),
        pytest.param({"path": "a.wacz", "hash": "md5:" + "0" * 32}, "no SHA-256", id="MD5"),
        pytest.param({"path": "a.wacz", "hash": HEX[:-1]}, "no SHA-256", id="cut"),
        pytest.param({"path": "a.wacz", "hash": 7}, "no SHA-256", id="a number for a hash"),
        *(
            pytest.param({"path": "a.wacz", "size": size}, "its size", id=f"size {size!r}")
            for size in (-1, "12", True, 1000.0)
        ),
        pytest.param({"path": "all.json"}, "not a WACZ", id="the manifest itself"),
        pytest.param({"path": ""}, "an entry without a path", id="nothing"),
        pytest.param(
            {"path": "http://me:pw@host/a.wacz"},
            "names http://host/a.wacz: URLs with a user",
            id="a password",
        ),
    ],
)
def test_one_entry_that_is_wrong_is_named(tmp_path: Path, entry: Any, why: str) -> None:
    place = manifest(tmp_path, json.dumps({"resources": [entry, {"path": "good.wacz"}]}))
    refusal, source = found(place, "host")
    assert isinstance(refusal, InputRefused)
    assert why in str(refusal)
    assert "pw" not in str(refusal)
    assert isinstance(source, WaczSource)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("", "its end where '{' belongs", id="empty"),
        pytest.param("WACZ", "'W' where", id="no JSON"),
        pytest.param(b"PK\x03\x04\xff\xff", "not UTF-8", id="a WACZ file"),
        pytest.param("[]", "where '{' belongs", id="a list"),
        pytest.param("{}", "it lists no resources", id="no list"),
        pytest.param('{"resources": {}}', "it lists no resources", id="an empty object"),
        pytest.param('{"resources": [1, 2', "its end where ',' belongs", id="cut off"),
        pytest.param('{"resources": [1 2]}', "where ',' belongs", id="no comma"),
        pytest.param('{"resources": []} x', "more after its end", id="more"),
        pytest.param('{"resources": [], "resources": []}', "comes twice", id="twice"),
        pytest.param('{"resources": [' + "[" * 100_000, "too deeply", id="nested"),
        pytest.param('{"a": ' + '{"a":' * 100_000, "too deeply", id="nested objects"),
        pytest.param('{"resources": [' + "9" * 5000 + "]}", "not the JSON", id="a long number"),
        pytest.param('{"a": "\\u12', "it ends|Invalid", id="half an escape"),
    ],
)
def test_a_manifest_that_is_none_is_refused_whole(
    tmp_path: Path, text: str | bytes, why: str
) -> None:
    with pytest.raises(InputRefused, match=why):
        found(manifest(tmp_path, text))


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("http://evil.example/a.wacz", "the host evil.example"),
        ("https://evil.example:8443/a.wacz", "evil.example:8443"),
        ("../a.wacz", "a.wacz, which is not its own"),
        ("file:///etc/a.wacz", "/etc/a.wacz, which is not its own"),
        ("s3://bucket/a.wacz", "cannot be fetched"),
        ("ftp://example.org/a.wacz", "cannot be fetched"),
        ("a\0.wacz", "which is no path"),
        ("\ud800.wacz", "which is no path"),
    ],
)
def test_a_manifest_that_names_others_is_refused_whole(tmp_path: Path, path: str, why: str) -> None:
    with pytest.raises(InputRefused, match=why):
        of(tmp_path, {"path": "good.wacz"}, {"path": path})


def test_a_crawl_that_is_no_text_is_refused(tmp_path: Path) -> None:
    bad, good = of(tmp_path, {"path": "a.wacz", "crawlId": "\ud800"}, {"path": "b.wacz"})
    assert isinstance(bad, InputRefused)
    assert "its crawl in the manifest is no text" in bad.message
    assert isinstance(good, WaczSource)


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match="which is no path"):
        of(tmp_path, {"path": "a.wacz", "name": "\udc00\ud800.wacz"})


def test_an_absolute_path_outside_is_refused(tmp_path: Path) -> None:
    outside = write_package(tmp_path / "a.wacz")
    (tmp_path / "in").mkdir()
    path = manifest(tmp_path / "in", json.dumps({"resources": [{"path": str(outside)}]}))
    with pytest.raises(InputRefused, match="import_from"):
        found(path)
    assert _names(found(path, str(tmp_path))) == [("a", "a.wacz")]


def test_a_manifest_on_a_server_names_no_file_here(tmp_path: Path) -> None:
    write_package(tmp_path / "a.wacz")
    body = json.dumps({"resources": [{"path": f"file://{tmp_path}/a.wacz"}]}).encode()
    with serving({"all.json": body}) as server, pytest.raises(InputRefused, match="its own"):
        found(f"{server.url}/all.json")


def test_a_long_manifest_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    with path.open("w") as out:
        out.write('{"resources": [')
        for number in range(2_000):
            out.write("," * bool(number))
            out.write(json.dumps({"path": f"{number}.wacz", "hash": HEX, "more": "x" * 20_000}))
        out.write("]}")
    tracemalloc.start()
    sources = iter_sources(str(path), LeftOut(), LeftOut(), TrustedPlaces())
    assert sum(1 for _ in sources) == 2_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Python's table of names that it keeps once may grow meanwhile, by some megabytes.
    assert peak < path.stat().st_size / 4


def test_a_value_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_entries, "_LONGEST_VALUE", 1 << 17)
    with pytest.raises(InputRefused, match="a value is longer than"):
        list(iter_items(io.BytesIO(b'{"a": "' + b"x" * (1 << 20)), "resources", place="m"))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    before=st.dictionaries(st.text().filter(lambda name: name != "resources"), values, max_size=3),
    entries=st.lists(values, max_size=6),
    indent=st.sampled_from([None, 0, 3]),
    ascii_only=st.booleans(),
)
def test_items_are_what_json_has(
    before: dict[str, Any], entries: list[Any], indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps({**before, "resources": entries}, indent=indent, ensure_ascii=ascii_only)
    file = io.BytesIO(text.encode("utf-8", "surrogatepass"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    items = list(iter_items(file, "resources", place="m"))
    assert [value for name, value in items if name == "resources"] == [[], *entries]
    assert {name: value for name, value in items if name != "resources"} == before


@pytest.mark.parametrize("piece", [1, 2, 3, 7])
def test_pieces_may_end_anywhere(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(json_entries, "_PIECE_BYTES", piece)
    text = '\ufeff { "é" : -12.5e3 , "resources" : [ 123456 , "a\\u00e9π" , {"b": [true]} ] } '
    items = list(iter_items(io.BytesIO(text.encode()), "resources", place="m"))
    assert items == [
        ("é", -12500.0),
        ("resources", []),
        ("resources", 123456),
        ("resources", "aéπ"),
        ("resources", {"b": [True]}),
    ]


@pytest.mark.parametrize("name", ["a b", "a/b", "é", "", "-a", "x" * 200])
def test_names_that_cannot_name_a_crawl_get_crawls_of_their_own(name: str) -> None:
    others = ["a-b", "a", "crawl", "x" * 100]
    made = crawl_of_name(name)
    assert crawl_of_name(made) == made
    assert made not in map(crawl_of_name, others)
