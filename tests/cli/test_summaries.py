"""What `ingest` and `dedupe` say at their end: what was saved, where, what next; not with -q."""

from __future__ import annotations

import json
from hashlib import shake_128
from pathlib import Path

import pytest
from archive_builders import header, member
from landed_stores import LandedStore, page

from pinakes.cli import main

BODY = shake_128(b"body").digest(3000)
NEXT = "next: pinakes dedupe c --plan{} says what removing duplicates would save"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    made = LandedStore(tmp_path / "store")
    made.close()
    for name, year in (("a", 2020), ("b", 2021)):
        made.write(
            f"{name}.warc.gz",
            page("http://a.example/", BODY, date=f"{year}-01-01T00:00:00Z"),
            member(header([("WARC-Type", "warcinfo"), ("Content-Length", "0")]) + b"\r\n\r\n"),
        )
    return made.folder


def test_ingest_says_what_landed_where_and_what_next(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inbox = f"{store}-inbox"
    words = ["--crawl", "c", "--store", str(store)]
    size = sum(path.stat().st_size for path in Path(inbox).iterdir())
    assert main(["ingest", inbox, f"{inbox}/none.warc.gz", *words]) == 3
    said = capsys.readouterr().err.splitlines()
    assert said[-2] == (
        f"2 files landed: {size:,} bytes, 2 captures; 1 not landed (named above); "
        f"crawl c of {store}"
    )
    assert said[-1].startswith(NEXT.format(f" --store {store}"))
    assert said[-1].endswith(f"; pinakes serve --store {store} shows the store")
    assert main(["ingest", inbox, *words]) == 0
    assert "0 files landed: 0 bytes, 0 captures; 2 landed before; " in capsys.readouterr().err
    assert main(["-q", "ingest", inbox, *words]) == 0
    assert capsys.readouterr().err == ""


def test_dedupe_says_where_the_files_are_and_what_next(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["-q", "ingest", f"{store}-inbox", "--crawl", "c", "--store", str(store)])
    words = ["dedupe", "c", "--store", str(store), "--min-saving-bytes", "none", "--json"]
    capsys.readouterr()
    assert main(words) == 0
    answer = capsys.readouterr()
    assert json.loads(answer.out)["files_rewritten"] == 1
    assert answer.err.startswith(f"the new files are current in {store}, the old ones still there")
    assert f"next: pinakes generations c --drop --store {store} deletes" in answer.err
    assert main(words) == 0
    assert capsys.readouterr().err == ""  # nothing was rewritten


def test_the_next_command_is_for_the_same_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a shell takes it; without options where the call had none."""
    monkeypatch.chdir(tmp_path)
    config, new = tmp_path / "a b.toml", tmp_path / "a new one"
    config.write_text('store = "old"\n')
    assert main(["init", "--config", str(config)]) == 0
    said = capsys.readouterr().err
    assert said.endswith(f"next: pinakes ingest DIR --crawl NAME --config '{config}'\n")
    assert main(["backup", str(tmp_path / "backup"), "--config", str(config)]) == 0
    capsys.readouterr()
    assert main(["restore-backup", str(tmp_path / "backup"), "--store", str(new)]) == 0
    assert capsys.readouterr().err.endswith(f"next: pinakes fsck --store '{new}'\n")
    assert main(["init"]) == 0
    assert capsys.readouterr().err.endswith("next: pinakes ingest DIR --crawl NAME\n")


def test_dedupe_of_a_collection_without_crawls_says_which_have_some(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["dedupe", "--all", "--store", str(store)]
    assert main(words) == 0
    assert "collection default has no crawl\n" in capsys.readouterr().err
    main(["-q", "ingest", f"{store}-inbox", "--crawl", "c", "--collection", "news", *words[2:]])
    assert main([*words, "--plan"]) == 0
    assert (
        "collection default has no crawl; there are in news: --collection NAME\n"
        in capsys.readouterr().err
    )
    assert main([*words, "--collection", "news"]) == 0
    assert "has no crawl" not in capsys.readouterr().err


# --- `pinakes ingest --bulk` on the embedded store: the same outcome, told batch by batch


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
