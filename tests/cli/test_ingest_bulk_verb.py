"""`pinakes ingest --bulk` on the embedded store: the same outcome, told batch by batch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from landed_stores import LandedStore, page

from pinakes.cli import main


def ingest(
    store: LandedStore, capfdbinary: pytest.CaptureFixture[bytes], *words: str
) -> tuple[int, list[dict[str, object]], str]:
    command = ["--json", "ingest", str(store.inbox), "--crawl", "c", "--store", str(store.folder)]
    code = main([*command, *words])
    out, err = capfdbinary.readouterr()
    return code, [json.loads(line) for line in out.splitlines()], err.decode()


def test_what_lands_is_told_as_ever(
    tmp_path: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PINAKES_TEMP_DIR", str(tmp_path))
    told = {}
    roads = {"plain": (), "bulk": ("--bulk",), "by three": ("--bulk", "-j", "3")}
    for name, words in roads.items():
        store = LandedStore(tmp_path / name)
        for number in range(4):
            records = [page(f"http://example.org/{number}/{n}", b"%d" % n) for n in range(3)]
            store.write(f"{number}.warc.gz", *records)
        store.write("4.warc.gz", b"")
        code, objects, err = ingest(store, capfdbinary, *words)
        assert code == 3
        assert "4.warc.gz: the file is empty" in err
        again = ingest(store, capfdbinary, *words)[1]
        assert {one["outcome"] for one in again} == {"was there"}
        told[name] = (sorted(objects, key=lambda one: str(one["file"])), store.dump())
        store.close()
    assert told["bulk"] == told["plain"]
    assert told["by three"] == told["plain"]
    assert len(told["bulk"][0]) == 4
    assert not list(tmp_path.glob("pinakes-bulk*"))


def test_bulk_and_watch_do_not_go_together(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    store = LandedStore(tmp_path / "store")
    store.inbox.mkdir()
    code, _, err = ingest(store, capfdbinary, "--bulk", "--watch")
    assert code == 2
    assert "--watch" in err
    store.close()
