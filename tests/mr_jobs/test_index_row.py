"""What a row of `ccindex` says, and how a study is divided and summed; without Spark."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.cli import main
from pinakes.extras import install_command
from pinakes.mr_jobs.study.figures import COUNTS, LARGEST, OTHERS, Share, by_weight
from pinakes.mr_jobs.study.index_row import (
    IndexedFile,
    describe_host,
    pack_captures,
    split_url,
    text,
)
from pinakes.mr_jobs.study.index_tasks import read_packs


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        (
            "https://www.Example.com:8443/a/b?q=1#f",
            ("https", "www.example.com", 8443, "/a/b", "q=1"),
        ),
        ("http://example.com.", ("http", "example.com", None, "", None)),
        ("http://user@[::1]:80/", ("http", "::1", 80, "/", None)),
        ("dns:example.com", ("dns", None, None, "example.com", None)),
        ("http://[broken/", (None, None, None, "http://[broken/", None)),
        ("http://a:99999/", (None, None, None, "http://a:99999/", None)),
    ],
    ids=["all", "dot", "address", "no-host", "broken", "port"],
)
def test_a_url_is_taken_apart(url: str, parts: tuple[object, ...]) -> None:
    assert split_url(url) == parts


@pytest.mark.parametrize(
    ("host", "parts", "suffixes", "backwards"),
    [
        (
            "host1.sub2.subdomain.example.com",
            ("com", "example", "subdomain", "sub2", "host1"),
            ("com", "example.com", "com", "example.com"),
            "com.example.subdomain.sub2.host1",
        ),
        (
            "www.bbc.co.uk",
            ("uk", "co", "bbc", "www", None),
            ("co.uk", "bbc.co.uk", "co.uk", "bbc.co.uk"),
            "uk.co.bbc.www",
        ),
        (
            "myblog.blogspot.com",
            ("com", "blogspot", "myblog", None, None),
            ("com", "blogspot.com", "blogspot.com", "myblog.blogspot.com"),
            "com.blogspot.myblog",
        ),
        ("com", ("com", None, None, None, None), ("com", None, "com", None), "com"),
        ("localhost", ("localhost", None, None, None, None), (None,) * 4, "localhost"),
        ("127.0.0.1", (None,) * 5, (None,) * 4, None),
        ("::1", (None,) * 5, (None,) * 4, None),
        (None, (None,) * 5, (None,) * 4, None),
    ],
    ids=["deep", "two-part-suffix", "private", "suffix", "no-suffix", "ipv4", "ipv6", "none"],
)
def test_a_host_is_described(
    host: str | None,
    parts: tuple[str | None, ...],
    suffixes: tuple[str | None, ...],
    backwards: str | None,
) -> None:
    assert describe_host(host) == (host, parts, *suffixes, backwards)


@given(st.binary())
def test_any_text_is_text_in_a_table(raw: bytes) -> None:
    read = raw.decode("utf-8", "surrogateescape")
    written = text(read)
    assert written is not None
    assert written.encode("utf-8").decode("utf-8") == written
    if read.isascii():
        assert written == read


@given(st.lists(st.integers(0, 50)), st.integers(1, 4), st.integers(1, 60))
def test_packs_hold_every_file_once(counts: list[int], processes: int, limit: int) -> None:
    files = [
        IndexedFile(
            archive_file=f"c/{n}", crawl="c", collection="x", stored=f"c/{n}", captures=count
        )
        for n, count in enumerate(counts)
    ]
    packs = list(pack_captures(files, processes=processes, task_captures=limit))
    assert [file for pack in packs for file in pack] == files
    assert all(len(pack) == 1 or sum(f.captures for f in pack) <= limit for pack in packs)


@pytest.mark.parametrize("count", [0, 3, LARGEST, LARGEST + 7])
def test_what_is_beyond_the_largest_is_one_line(count: int) -> None:
    shares = [
        Share(name=f"{n:05}", **{name: n * (at + 1) + 1 for at, name in enumerate(COUNTS)})
        for n in range(count)
    ]
    sums = {name: sum(getattr(share, name) for share in shares) for name in COUNTS}
    lines = by_weight(shares, Share(name="all", **sums))
    assert len(lines) == min(count, LARGEST + 1)
    assert (lines[-1:] != [] and lines[-1].name == OTHERS) == (count > LARGEST)
    assert {name: sum(getattr(line, name) for line in lines) for name in COUNTS} == sums
    order = [line.duplicate_bytes for line in lines if line.name != OTHERS]
    assert order == sorted(order, reverse=True)


def test_a_sidecar_that_is_not_there_ends_a_task(tmp_path: Path) -> None:
    file = IndexedFile(archive_file="c/a", crawl="c", collection="x", stored="c/g2/a", captures=1)
    settings = {"store": str(tmp_path)}
    with pytest.raises(RuntimeError, match=r"pinakes: c/g2/a.sidecar.parquet: "):
        list(read_packs([[file]], settings=settings, columns=["crawl"]))


def test_an_extra_that_is_missing_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # No others: a class that is imported anew is another class, which Spark cannot pickle.
    for name in ("spark_extra", "duckdb_database", "plots"):
        monkeypatch.delitem(sys.modules, f"pinakes.mr_jobs.study.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    command = ["study", "--all", "--store", str(tmp_path)]
    assert main([*command, "--master", "local[2]"]) == 2
    assert install_command("spark") in capsys.readouterr().err
    for engine in ("duckdb", "matplotlib.figure"):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, engine, None)
            assert main([*command, "-o", str(tmp_path / "out")]) == 2
        said = capsys.readouterr().err
        assert f"needs {engine.partition('.')[0]}" in said
        assert install_command("study") in said
