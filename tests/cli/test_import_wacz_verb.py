"""`pinakes import-wacz`: what it says, and how it ends."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from contextlib import closing
from itertools import count, product
from pathlib import Path
from typing import Any

import pytest
from importing import entry_of, write_manifest, write_wacz
from killing import KILLED, in_child, kill_at
from landed_stores import page
from packages import write_package
from scenes import make_scene
from verbs_here import call_here

from pinakes.acts.actor import Actor
from pinakes.deletion.purging import Purger
from pinakes.deletion.requests import FORCE, PROMOTE, PurgeRequest

URI = "http://example.org/"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store, and a folder `in` with three WACZ files."""
    assert call_here(tmp_path, "init").returncode == 0
    for name in "abc":
        write_wacz(tmp_path / "in" / f"{name}.wacz", page(f"{URI}{name}", name.encode()))
    return tmp_path


def imported(folder: Path, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    done = call_here(folder, "import-wacz", *arguments, "--json")
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_a_folder_is_imported_and_known_afterwards(folder: Path) -> None:
    code, lines, said = imported(folder, "in", "--collection", "news")
    assert code == 0
    assert {(line["crawl"], line["name"], line["outcome"]) for line in lines} == {
        (name, f"{name}.wacz", "imported") for name in "abc"
    }
    assert "3 WACZ files imported" in said
    code, lines, _ = imported(folder, "in", "--collection", "news")
    assert code == 0
    assert [line["outcome"] for line in lines] == ["was there"] * 3
    # Another collection is another matter: but these crawls belong to the first.
    code, _, said = imported(folder, "in", "--collection", "other")
    assert code == 3
    assert "belongs to the collection news, not other" in said


@pytest.mark.parametrize("lost", ["files", "rows"])
def test_what_was_imported_and_is_lost_was_not_there(folder: Path, lost: str) -> None:
    """Whoever imports again may hold the last copy."""
    assert imported(folder, "in")[0] == 0
    store = folder / "pinakes-store"
    if lost == "files":
        for path in (store / "archive" / "b").rglob("*.warc*"):
            path.unlink()
    else:
        with closing(sqlite3.connect(store / "rows.sqlite")) as rows, rows:
            rows.execute("DELETE FROM files WHERE CAST(row AS TEXT) LIKE 'b/%'")
    code, lines, said = imported(folder, "in")
    assert (code, sorted(line["crawl"] for line in lines)) == (3, ["a", "c"])
    assert "b.wacz: it was imported, but" in said


def test_failed_ones_are_named_again_and_retried_on_request(folder: Path) -> None:
    entries = [entry_of(folder / "in" / "a.wacz"), entry_of(folder / "in" / "b.wacz", size=1)]
    manifest = str(write_manifest(folder / "in" / "m.json", entries))
    code, lines, said = imported(folder, manifest)
    assert (code, [line["outcome"] for line in lines]) == (3, ["imported"])
    assert "b.wacz: it has" in said
    code, lines, said = imported(folder, manifest)
    assert (code, [line["outcome"] for line in lines]) == (3, ["was there"])
    assert "failed once before (it has" in said
    assert "--resume" in said
    code, lines, said = imported(folder, "--resume")
    assert (code, lines) == (3, [])
    code, [line], _ = imported(folder, "--resume", "--dry-run")
    assert code == 0
    assert (line["state"], line["attempts"], line["by"]) == ("failed", 2, None)
    assert "in the manifest" in line["why"]
    code, lines, said = imported(folder, str(folder / "in" / "b.wacz"))
    assert (code, [line["outcome"] for line in lines]) == (0, ["imported"])
    # Now that its content is there, what has failed has nothing left to do.
    code, lines, said = imported(folder, "--resume")
    assert code == 3
    assert "bytes, and 1 in the manifest" in said


def test_a_path_that_a_manifest_names_for_two_crawls_goes_into_one_and_says_so(
    folder: Path,
) -> None:
    path = folder / "in" / "a.wacz"
    entries = [entry_of(path, crawlId="first"), entry_of(path, crawlId="second")]
    manifest = str(write_manifest(folder / "in" / "m.json", entries))
    code, lines, said = imported(folder, manifest)
    assert (code, [line["crawl"] for line in lines]) == (3, ["first"])
    assert "it is queued already, for first/a.wacz: not for second/a.wacz" in said
    # The same entry twice is one.
    write_manifest(Path(manifest), [entries[0]] * 2)
    code, lines, _ = imported(folder, manifest)
    assert (code, {line["outcome"] for line in lines}) == (0, {"was there"})


def test_crawls_that_a_later_manifest_lacks_are_listed_and_kept(folder: Path) -> None:
    files = [folder / "in" / f"{name}.wacz" for name in "abc"]
    entries = [entry_of(path, crawlId=f"crawl-{path.stem}") for path in files]
    manifest = str(write_manifest(folder / "in" / "m.json", entries))
    assert imported(folder, manifest)[0] == 0
    write_manifest(Path(manifest), entries[1:2])
    code, lines, _ = imported(folder, manifest)
    assert code == 0
    missing = [line for line in lines if line.get("outcome") == "missing"]
    assert [line["crawl"] for line in missing] == ["crawl-a", "crawl-c"]
    sizes = [files[0].stat().st_size, files[2].stat().st_size]
    assert [line["bytes"] for line in missing] == sizes
    assert {"removedCrawls": 2, "removedCrawlSize": sum(sizes)} in lines
    listed = call_here(folder, "crawl", "list", "--all", "--json").stdout.splitlines()
    assert [json.loads(line)["crawl"] for line in listed] == ["crawl-a", "crawl-b", "crawl-c"]
    assert all(json.loads(line)["files"] == 2 for line in listed)
    # A crawl that is gone is not missed; nor is any where something else is imported besides.
    assert call_here(folder, "crawl", "cancel", "crawl-a").returncode == 0
    _, lines, _ = imported(folder, manifest)
    assert {"removedCrawls": 1, "removedCrawlSize": sizes[1]} in lines
    _, lines, _ = imported(folder, manifest, str(files[1]))
    assert "missing" not in {line.get("outcome") for line in lines}


def test_a_crawl_in_which_nothing_has_landed_is_not_missed(folder: Path) -> None:
    """Nor purged: a WACZ file that cannot land has begun it."""
    good = entry_of(folder / "in" / "a.wacz", crawlId="good")
    path = write_package(folder / "in" / "bad.wacz", {"../a.warc": b"1"})
    manifest = write_manifest(folder / "in" / "m.json", [good, entry_of(path, crawlId="bad")])
    assert imported(folder, str(manifest))[0] == 3
    listed = call_here(folder, "crawl", "list", "--all", "--json").stdout.splitlines()
    assert [json.loads(line)["crawl"] for line in listed] == ["bad", "good"]
    write_manifest(manifest, [good])
    code, lines, said = imported(folder, str(manifest), "--purge-removed")
    assert (code, [line.get("outcome") for line in lines]) == (0, ["was there"])
    assert "nothing was removed" in said
    # One that holds something else is named, and kept.
    other = folder / "b.warc"
    other.write_bytes(page(f"{URI}other", b"other"))
    assert call_here(folder, "ingest", str(other), "--crawl", "bad").returncode == 0
    code, lines, _ = imported(folder, str(manifest), "--purge-removed")
    assert {"removedCrawls": 1, "removedCrawlSize": 0} in lines


def outcomes(lines: list[dict[str, Any]]) -> dict[str, str]:
    """How each crawl that manifests no longer name ended, without reasons."""
    return {line["crawl"]: line["outcome"].split(":")[0] for line in lines if "freed_bytes" in line}


def test_crawls_that_a_later_manifest_lacks_are_purged_on_request(tmp_path: Path) -> None:
    """Crawls b and c refer to a; a and c are no longer named."""
    assert call_here(tmp_path, "init").returncode == 0
    body = bytes(range(256)) * 20
    paths = [tmp_path / "in" / f"{name}.wacz" for name in "abc"]
    for year, path in enumerate(paths, 2021):
        write_wacz(path, page(f"{URI}{path.stem}", body, date=f"{year}-01-01T00:00:00Z"))
    entries = [entry_of(path) for path in paths]
    manifest = str(write_manifest(tmp_path / "in" / "m.json", entries))
    assert imported(tmp_path, manifest)[0] == 0
    done = call_here(tmp_path, "dedupe", "--all", "--min-file-saving", "0")
    assert done.returncode == 0, done.stderr
    # Where the manifests name nothing, or not all could be imported, nothing goes.
    write_manifest(Path(manifest), [])
    code, lines, said = imported(tmp_path, manifest, "--purge-removed")
    assert (code, lines) == (0, [])
    assert "name no WACZ file" in said
    lost = entry_of(paths[1]) | {"path": "gone.wacz", "hash": f"sha256:{7:064x}"}
    write_manifest(Path(manifest), [lost])
    code, lines, said = imported(tmp_path, manifest, "--purge-removed")
    assert (code, outcomes(lines)) == (3, {})
    assert "nothing was removed" in said

    write_manifest(Path(manifest), entries[1:2])
    code, lines, _ = imported(tmp_path, manifest, "--purge-removed", "--dry-run")
    assert [line["crawl"] for line in lines if line.get("outcome") == "missing"] == ["a", "c"]
    code, lines, _ = imported(tmp_path, manifest, "--purge-removed")
    assert (code, outcomes(lines)) == (3, {"c": "removed", "a": "refused"})
    again = ("--purge-removed", "--references", "promote")
    code, lines, _ = imported(tmp_path, manifest, *again)
    assert (code, outcomes(lines)) == (0, {"a": "removed"})
    found = call_here(tmp_path, "lookup", "--json", f"{URI}b")
    assert found.returncode == 0
    states = [
        (line["crawl"], line["state"])
        for line in map(
            json.loads,
            call_here(tmp_path, "crawl", "list", "--all", "--json").stdout.split("\n")[:-1],
        )
    ]
    assert states == [("a", "purged"), ("b", "open"), ("c", "cancelled")]
    shown = json.loads(call_here(tmp_path, "crawl", "requires", "b", "--json").stdout)
    assert (shown["needs"], shown["unresolved"]) == ([], 0)
    assert outcomes(imported(tmp_path, manifest, *again)[1]) == {}


@pytest.mark.parametrize(
    "later",
    [{"crawlId": "c9"}, {"name": "uno.wacz"}],
    ids=["in another crawl", "renamed"],
)
def test_content_that_is_still_named_is_not_purged(folder: Path, later: dict[str, object]) -> None:
    entry = entry_of(folder / "in" / "a.wacz", crawlId="one")
    other = entry_of(folder / "in" / "b.wacz", crawlId="two")
    manifest = str(write_manifest(folder / "in" / "m.json", [entry, other]))
    assert imported(folder, manifest)[0] == 0
    write_manifest(Path(manifest), [{**entry, **later}])
    code, lines, _ = imported(folder, manifest, "--purge-removed", "--dry-run")
    assert [line["crawl"] for line in lines if line.get("outcome") == "missing"] == ["two"]
    assert [line["outcome"] for line in lines if "sha256" in line] == ["was there"]
    code, lines, _ = imported(folder, manifest, "--purge-removed")
    assert (code, outcomes(lines)) == (0, {"two": "removed"})
    assert call_here(folder, "lookup", f"{URI}a").stdout.count("known since") == 1


def test_nothing_is_purged_where_what_is_named_cannot_be_read(folder: Path) -> None:
    """Rows alone say where its content is."""
    entries = [entry_of(folder / "in" / f"{name}.wacz", crawlId=name) for name in "ab"]
    manifest = str(write_manifest(folder / "in" / "m.json", entries))
    assert imported(folder, manifest)[0] == 0
    write_manifest(Path(manifest), [{**entries[0], "path": "gone.wacz"}])
    code, lines, said = imported(folder, manifest, "--purge-removed")
    assert (code, outcomes(lines)) == (3, {})
    assert "gone.wacz" in said
    assert "nothing was removed" in said


@pytest.mark.parametrize("is_zstd", [False, True], ids=["as landed", "recompressed"])
def test_nothing_is_purged_where_rows_exchange_two_wacz_files(folder: Path, is_zstd: bool) -> None:
    """Of the one that is named, rows say that it is the other crawl's."""
    entries = [entry_of(folder / "in" / f"{name}.wacz", crawlId=name) for name in "ab"]
    manifest = str(write_manifest(folder / "in" / "m.json", entries))
    assert imported(folder, manifest)[0] == 0
    if is_zstd:
        assert call_here(folder, "zstd", "compress", "a", "b").returncode == 0
    with closing(sqlite3.connect(folder / "pinakes-store" / "rows.sqlite")) as rows, rows:
        for column in (b"l:file", b"l:wacz"):
            where = "FROM crawls WHERE col = ? ORDER BY row"
            (one, first), (two, second) = rows.execute(f"SELECT row, value {where}", (column,))
            for key, value in ((one, second), (two, first)):
                cell = (value, key, column)
                rows.execute("UPDATE crawls SET value = ? WHERE row = ? AND col = ?", cell)
    write_manifest(Path(manifest), entries[:1])
    code, lines, said = imported(folder, manifest, "--purge-removed")
    assert (code, outcomes(lines)) == (3, {})
    assert "begins with another record" in said
    assert {path.name for path in (folder / "pinakes-store" / "archive").glob("[ab]")} == set("ab")


def test_what_is_named_under_another_name_without_a_hash_is_kept_too(folder: Path) -> None:
    """Only importing tells that it is there."""
    copy = folder / "in" / "copy.wacz"
    copy.write_bytes((folder / "in" / "a.wacz").read_bytes())
    entries: list[dict[str, object]] = [{"path": "a.wacz", "crawlId": "one"}]
    manifest = str(write_manifest(folder / "in" / "m.json", entries))
    assert imported(folder, manifest)[0] == 0
    write_manifest(Path(manifest), [{"path": "copy.wacz", "crawlId": "two"}])
    code, lines, _ = imported(folder, manifest, "--purge-removed")
    assert (code, outcomes(lines)) == (0, {})
    assert "was there" in {line.get("outcome") for line in lines}


def test_a_crawl_is_kept_where_one_of_its_files_is_named_or_came_otherwise(folder: Path) -> None:
    entries = [entry_of(folder / "in" / f"{name}.wacz", crawlId="one") for name in "ab"]
    third = entry_of(folder / "in" / "c.wacz", crawlId="two")
    manifest = str(write_manifest(folder / "in" / "m.json", [*entries, third]))
    assert imported(folder, manifest)[0] == 0
    (folder / "more.warc.gz").write_bytes(page(f"{URI}more"))
    assert call_here(folder, "ingest", "more.warc.gz", "--crawl", "two").returncode == 0
    write_manifest(Path(manifest), entries[:1])
    code, lines, said = imported(folder, manifest, "--purge-removed")
    assert (code, outcomes(lines)) == (0, {})
    missing = [line for line in lines if line.get("outcome") == "missing"]
    assert [(line["crawl"], line.get("name")) for line in missing] == [
        ("one", "b.wacz"),
        ("two", None),
    ]
    assert "nothing was removed" in said
    told = call_here(folder, "import-wacz", manifest).stdout
    assert "kept: it holds files that were not imported (1)" in told


def test_what_cannot_be_read_is_named(folder: Path) -> None:
    write_package(folder / "garbage.wacz", {"archive/a.warc.gz": b"not a WARC at all"})
    code, lines, said = imported(folder, "garbage.wacz")
    assert (code, [line["outcome"] for line in lines]) == (3, ["imported"])
    assert "a.warc.gz: stored unchanged, but no record in it could be read" in said


def test_a_refused_manifest_queues_nothing(folder: Path) -> None:
    entries = [entry_of(folder / "in" / "a.wacz"), {"path": "http://evil.example/x.wacz"}]
    manifest = str(write_manifest(folder / "in" / "m.json", entries))
    code, lines, said = imported(folder, manifest)
    assert (code, lines) == (3, [])
    assert "it names the host evil.example" in said
    assert "1 refused, and not queued" in said
    assert "--resume" not in said
    assert imported(folder, "--resume", "--dry-run")[1] == []


def test_dry_run_says_what_and_writes_nothing(folder: Path) -> None:
    code, lines, _ = imported(folder, "in", "--dry-run")
    assert code == 0
    assert [(line["crawl"], line["name"]) for line in lines] == [
        (name, f"{name}.wacz") for name in "abc"
    ]
    assert call_here(folder, "crawl", "list").stdout == ""


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        ((), 2, "no inputs"),
        (("gone.wacz",), 3, "gone.wacz: cannot be read: No such file"),
        (("gone.json",), 3, "gone.json: cannot be read: No such file"),
        (("in/notes.txt",), 3, "not a WACZ, an archive file, a folder or a manifest"),
        (("in", "--purge-removed"), 2, "--purge-removed compares with what manifests name"),
        (("--resume", "--purge-removed"), 2, "give all of them (.json)"),
        (("in", "--import-from", "http://a"), 2, "import_from should be hosts and folders"),
        (("http://me:pw@host/a.wacz",), 2, "http://host/a.wacz: URLs with a user name or"),
        (("ftp://me:pw@host/a.wacz",), 2, "ftp://host/a.wacz: URLs with a user name or"),
    ],
)
def test_calls_that_end_otherwise(
    folder: Path, arguments: tuple[str, ...], code: int, why: str
) -> None:
    done = call_here(folder, "import-wacz", *arguments)
    assert done.returncode == code, done.stderr
    assert why in done.stderr


def test_what_it_prints(folder: Path) -> None:
    done = call_here(folder, "import-wacz", "in/a.wacz")
    size = (folder / "in" / "a.wacz").stat().st_size
    assert done.stdout == f"a/a.wacz: imported, {size:,} bytes, 2 files, 3 captures\n"
    assert done.stderr == (
        f"1 WACZ file imported: {size:,} bytes, 3 captures; collection default of pinakes-store\n"
    )


def test_a_package_without_archive_files_is_named(folder: Path) -> None:
    members = {"pages/pages.jsonl": b"", "datapackage.json": b'{"resources": []}'}
    path = write_package(folder / "in" / "pages.wacz", members)
    code, _, said = imported(folder, str(path))
    assert (code, "no archive file in it" in said) == (3, True)


def test_a_package_without_description_is_named(folder: Path, shared_data: Path) -> None:
    code, [line], said = imported(folder, str(shared_data / "cases" / "V5-nodp.wacz"))
    assert (code, line["outcome"], line["files"]) == (0, "imported", 2)
    assert "no datapackage.json" in said


# --- `import-wacz --purge-removed` that died, and the same command again


def called(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return call_here(folder, *arguments, "--store", "store")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawls b and c refer to a; a manifest that names c only."""
    folder = tmp_path_factory.mktemp("made")
    assert called(folder, "init").returncode == 0
    paths = [folder / "in" / f"{name}.wacz" for name in "abc"]
    for year, path in enumerate(paths, 2021):
        body = bytes(range(256)) * 20
        write_wacz(path, page(f"{URI}{path.stem}", body, date=f"{year}-01-01T00:00:00Z"))
    entries = [entry_of(path) for path in paths]
    manifest = write_manifest(folder / "in" / "m.json", entries)
    assert called(folder, "import-wacz", str(manifest)).returncode == 0
    assert called(folder, "dedupe", "--all", "--min-file-saving", "0").returncode == 0
    write_manifest(manifest, entries[2:])
    return folder


def purge_and_die(folder: Path, crawl: str, references: str, step: int) -> int:
    """The child's exit code: as the verb when it is killed at a step of this crawl's purge."""

    def work() -> None:
        with make_scene(folder, ()) as scene:
            runs = folder / "store" / "runs"
            purger = Purger(
                scene.rows, scene.archive, runs, Actor(), software="tests", at=kill_at(step)
            )
            purger.purge(PurgeRequest(crawl=crawl, references=references))

    return in_child(work)


def states(folder: Path) -> dict[str, str]:
    listed = called(folder, "crawl", "list", "--all", "--json").stdout.splitlines()
    return {line["crawl"]: line["state"] for line in map(json.loads, listed)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("crawl", "references", "stride"),
    [
        ("a", PROMOTE, 5),
        ("b", FORCE, 5),
        *(
            pytest.param(crawl, references, 1, marks=pytest.mark.large)
            for crawl, references in product("ab", (PROMOTE, FORCE))
        ),
    ],
)
def test_the_same_command_completes_it(
    made: Path, tmp_path: Path, crawl: str, references: str, stride: int
) -> None:
    """Also where the crawl that is half out comes after others, or is in no list any more."""
    for step in count(step=stride):
        folder = tmp_path / str(step)
        shutil.copytree(made, folder)
        code = purge_and_die(folder, crawl, references, step)
        again = ("--purge-removed", "--references", references)
        done = called(folder, "import-wacz", str(folder / "in" / "m.json"), *again)
        assert done.returncode == 0, (step, done.stdout, done.stderr)
        after = states(folder)
        assert {after["a"], after["b"]} <= {"purged", "cancelled"}
        assert after["c"] == "open"
        checked = called(folder, "fsck", "--full")
        unfinished = [line for line in checked.stdout.splitlines() if ": reference:" not in line]
        assert unfinished == [], step
        shutil.rmtree(folder)
        if code == 0:
            break
        assert code == KILLED
    assert step >= 10


def test_a_purge_of_what_is_still_named_is_left_to_whoever_began_it(
    made: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "store of three"
    shutil.copytree(made, folder)
    assert purge_and_die(folder, "c", FORCE, 1) == KILLED
    manifest = str(folder / "in" / "m.json")
    done = called(folder, "import-wacz", manifest, "--purge-removed")
    assert (done.returncode, "`pinakes crawl remove c`" in done.stderr) == (3, True)
    assert states(folder) == {"a": "open", "b": "open", "c": "open"}
