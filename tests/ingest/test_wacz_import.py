"""A WACZ file is imported whole or not at all, once, whatever happens on the way."""

from __future__ import annotations

import itertools
import os
import struct
import threading
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from archive_builders import gzip_file, plain_file
from importing import (
    COLLECTION,
    entry_of,
    import_all,
    sha256_of,
    state_of,
    write_manifest,
    write_wacz,
)
from killing import KILLED, deaths, in_child, kill_at
from landed_stores import LandedStore, page
from packages import members_of, write_package
from range_server import Handler, RangeServer, serving
from verbs_here import call_here

from pinakes.acts.actor import Actor
from pinakes.archive_store.trusted_places import TrustedPlaces
from pinakes.catalog.captures import scan_captures_of
from pinakes.catalog.claims import Claimant
from pinakes.catalog.crawl_rows import read_crawl
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.wacz_rows import scan_queue, scan_wacz_files, take_queued
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL
from pinakes.errors import Busy, InputRefused, PinakesError
from pinakes.index.urlkey import urlkey
from pinakes.ingest.commit import commit_crawl
from pinakes.ingest.wacz.importing import Imported

URI = "http://example.org/"
HERE = TrustedPlaces(hosts=frozenset({"127.0.0.1"}))


def run(store: LandedStore, *places: Path | str, **more: Any) -> list[Imported | PinakesError]:
    return import_all(store.rows, store.archive, places, **more)


def state(store: LandedStore) -> dict[str, Any]:
    return state_of(store.rows, store.archive)


def failed(outcomes: list[Imported | PinakesError]) -> str:
    """The one error among them."""
    [problem] = [outcome for outcome in outcomes if isinstance(outcome, PinakesError)]
    return str(problem)


def visible(store: LandedStore) -> list[str]:
    hidden = {row.key for row in store.rows.scan("inflight")}
    assert not hidden
    return [e.archive_file for e in scan_entries(store.rows) if str(e.state) == "stored"]


def test_a_wacz_file_lands_with_all_that_is_in_it(store: LandedStore, tmp_path: Path) -> None:
    path = write_wacz(tmp_path / "item.wacz", page(URI), page(f"{URI}b", b"b"))
    [imported] = run(store, path)
    assert isinstance(imported, Imported)
    assert visible(store) == ["item/item.wacz/archive/a.warc.gz", "item/item.wacz/documents.warc"]
    [listed] = scan_wacz_files(store.rows, COLLECTION, "item")
    assert (listed.name, listed.wacz.sha256) == ("item.wacz", sha256_of(path))
    assert (listed.wacz.size, listed.wacz.files) == (path.stat().st_size, 2)
    assert listed.wacz.captures == sum(file.captures for file in imported.files) == 4
    crawl = read_crawl(store.rows, "item")
    assert crawl is not None
    assert (crawl.facts.collection, crawl.facts.source) == (COLLECTION, "wacz")
    assert not list(scan_queue(store.rows, COLLECTION))


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """A manifest of two crawls, of three WACZ files, one of them with a package inside."""
    folder = tmp_path / "in"
    one = write_wacz(folder / "one.wacz", page(URI))
    two = write_wacz(folder / "two.wacz", page(f"{URI}2", b"two"))
    inner = write_wacz(tmp_path / "inner.wacz", page(f"{URI}3", b"three"))
    members = members_of({"b.warc": plain_file()}) | {"inner.wacz": inner.read_bytes()}
    three = write_package(folder / "three.wacz", members, deflated=True)
    entries = [entry_of(path, crawlId=crawl) for path, crawl in ((one, "c1"), (two, "c2"))]
    return [write_manifest(folder / "all.json", [*entries, entry_of(three, crawlId="c2")])]


@pytest.fixture
def wanted(sources: list[Path], tmp_path: Path) -> dict[str, Any]:
    """What an import that nothing happens to leaves."""
    alone = LandedStore(tmp_path / "alone")
    run(alone, *sources)
    found = state(alone)
    alone.close()
    return found


def _in_store(
    work: Callable[[LandedStore, Callable[[str], None]], object],
) -> Callable[[Path, Callable[[str], None]], object]:
    return lambda folder, at: work(LandedStore(folder), at)


EVERY = pytest.mark.parametrize(
    "every",
    [pytest.param(29, id="some"), pytest.param(1, id="all", marks=pytest.mark.large)],
)


@EVERY
def test_killed_at_any_step_the_same_import_completes_it(
    sources: list[Path], wanted: dict[str, Any], tmp_path: Path, every: int
) -> None:
    assert [len(files) for files in wanted["lists"].values()] == [1, 2]
    work = _in_store(lambda made, at: run(made, *sources, at=at))
    for step, folder, _ in deaths(tmp_path, work, stride=every, more_than=60):
        again = LandedStore(folder)
        # By the queue alone, but where it was not filled yet.
        problems = [o for o in run(again, resume=True) if isinstance(o, PinakesError)]
        assert not problems
        if step:
            assert state(again) == wanted, f"step {step}"
        again.close()


def _visible(made: LandedStore) -> int:
    """Pages of the package that readers see."""
    return sum(
        len(list(scan_captures_of(made.rows, urlkey(f"http://{n}.example/")))) for n in range(4)
    )


@pytest.mark.parametrize(
    "every",
    [pytest.param(9, id="some"), pytest.param(1, id="all", marks=pytest.mark.large)],
)
def test_killed_at_any_step_all_of_a_package_is_seen_or_nothing(tmp_path: Path, every: int) -> None:
    """After the kill, after a second one, and while it is completed."""
    files = {f"{n}.warc.gz": page(f"http://{n}.example/") for n in range(4)}
    package = write_package(tmp_path / "p.wacz", members_of(files))
    seen: list[int] = []

    def looking(made: LandedStore, at: Callable[[str], None]) -> None:
        def look(step: str) -> None:
            assert _visible(made) in (0, 4), step
            at(step)

        run(made, package, at=look, resume=True)

    steps: list[str] = []
    with closing(LandedStore(tmp_path / "counted")) as counted:
        looking(counted, steps.append)
    for step, folder, died in deaths(tmp_path, _in_store(looking), stride=every, more_than=50):
        if died:
            in_child(partial(_in_store(looking), folder, kill_at(len(steps) - step)))
        again = LandedStore(folder)
        seen.append(_visible(again))
        looking(again, lambda _: None)
        assert _visible(again) == 4
        claims = [entry.claim for entry in scan_entries(again.rows)]
        assert all(claim and (claim.expires_ms, claim.dead) == (0, ()) for claim in claims), step
        again.close()
    assert set(seen) == {0, 4}


@EVERY
def test_what_fsck_completes_of_a_killed_import_is_no_obstacle(
    sources: list[Path], wanted: dict[str, Any], tmp_path: Path, every: int
) -> None:
    work = _in_store(lambda made, at: run(made, *sources, at=at))
    for step, folder, _ in deaths(tmp_path, work, first=5, stride=2 * every, more_than=60):
        done = call_here(tmp_path, "fsck", "--repair", "--store", str(folder))
        assert done.returncode in (0, 1), done.stderr
        again = LandedStore(folder)
        assert not [o for o in run(again) if isinstance(o, PinakesError)]
        assert state(again) == wanted, f"step {step}"
        again.close()
        checked = call_here(tmp_path, "fsck", "--full", "--store", str(folder))
        assert (checked.returncode, checked.stdout) == (0, "")


@pytest.mark.parametrize("step", [11, 29])
def test_killed_twice_it_completes(
    sources: list[Path], wanted: dict[str, Any], store: LandedStore, step: int
) -> None:
    assert in_child(lambda: run(store, *sources, at=kill_at(step))) == KILLED
    in_child(lambda: run(store, at=kill_at(step // 2 + 1)))
    run(store)
    assert state(store) == wanted


@EVERY
def test_killed_while_a_failed_one_is_taken_back_nothing_of_it_stays(
    store: LandedStore, tmp_path: Path, every: int
) -> None:
    good = write_wacz(tmp_path / "in" / "a.wacz", page(URI))
    members = members_of({"a.warc.gz": gzip_file(), "z.warc.lz4": b"\x04\x22\x4d\x18 rest"})
    write_package(tmp_path / "in" / "b.wacz", members)
    folder = tmp_path / "in"
    run(store, folder)
    wanted = state(store)
    assert [why for _, why in wanted["queue"]] != [None]
    assert list(wanted["lists"]["b"]) == []
    assert all("b.wacz" not in name for name in store.names())
    assert sha256_of(good) in str(wanted["lists"])
    work = _in_store(lambda made, at: run(made, folder, at=at))
    for step, killed, _ in deaths(tmp_path, work, stride=every, more_than=30):
        again = LandedStore(killed)
        run(again, folder)
        found = state(again)
        assert {name: found[name] for name in found if name != "files"} == {
            name: wanted[name] for name in wanted if name != "files"
        }, f"step {step}"
        again.close()


# What is imported twice


def test_the_same_wacz_file_is_imported_once(store: LandedStore, tmp_path: Path) -> None:
    path = write_wacz(tmp_path / "a.wacz", page(URI))
    other = tmp_path / "elsewhere" / "other.wacz"
    other.parent.mkdir()
    other.write_bytes(path.read_bytes())
    run(store, path)
    before = visible(store)
    for again in (path, other):
        [known] = run(store, again)
        assert isinstance(known, Imported)
        assert (known.known, known.crawl, known.name) == (True, "a", "a.wacz")
    manifest = write_manifest(tmp_path / "m.json", [entry_of(path, crawlId="c", name="b.wacz")])
    assert run(store, manifest) == []
    assert visible(store) == before
    assert not list(scan_queue(store.rows, COLLECTION))


def test_the_same_content_twice_in_one_import(store: LandedStore, tmp_path: Path) -> None:
    path = write_wacz(tmp_path / "in" / "a.wacz", page(URI))
    (tmp_path / "in" / "b.wacz").write_bytes(path.read_bytes())
    outcomes = run(store, tmp_path / "in")
    assert sorted(outcome.known for outcome in outcomes if isinstance(outcome, Imported)) == [
        False,
        True,
    ]
    assert len(visible(store)) == 2


def test_the_same_entry_twice_is_one(store: LandedStore, tmp_path: Path) -> None:
    path = write_wacz(tmp_path / "a.wacz", page(URI))
    manifest = write_manifest(tmp_path / "m.json", [entry_of(path)] * 3)
    assert len(run(store, manifest)) == 1


def test_another_wacz_file_of_one_name_in_one_crawl_is_refused(
    store: LandedStore, tmp_path: Path
) -> None:
    one = write_wacz(tmp_path / "1" / "a.wacz", page(URI))
    two = write_wacz(tmp_path / "2" / "a.wacz", page(f"{URI}2"))
    run(store, one)
    assert "the crawl a has another WACZ file of this name" in failed(run(store, two))
    assert len(visible(store)) == 2
    manifest = write_manifest(tmp_path / "2" / "m.json", [entry_of(two, crawlId="of-its-own")])
    assert isinstance(run(store, manifest)[0], Imported)


# What fails


def test_a_wrong_hash_lands_nothing(store: LandedStore, tmp_path: Path) -> None:
    path = write_wacz(tmp_path / "a.wacz", page(URI))
    wrong = entry_of(path, hash=f"sha256:{'0' * 64}")
    manifest = write_manifest(tmp_path / "m.json", [wrong])
    assert f"its SHA-256 is {sha256_of(path)}, and {'0' * 64}" in failed(run(store, manifest))
    assert store.names() == []
    assert list(store.rows.scan("captures")) == []
    # Only on request once more; and with the right one, at once.
    assert run(store, manifest) == []
    assert "its SHA-256 is" in failed(run(store, resume=True))
    [entry] = scan_queue(store.rows, COLLECTION)
    assert entry.failure is not None
    assert entry.failure.attempts == 2
    assert isinstance(run(store, write_manifest(manifest, [entry_of(path)]))[0], Imported)


@pytest.mark.parametrize(
    "package", [b"{{{", b"[]", b'{"resources": null}', b"[" * 200_000, b"\xff"], ids=repr
)
def test_a_datapackage_that_cannot_be_read_is_said(
    store: LandedStore, tmp_path: Path, package: bytes
) -> None:
    path = write_package(tmp_path / "a.wacz", members_of() | {"datapackage.json": package})
    [imported] = run(store, path)
    assert isinstance(imported, Imported)
    [said] = [line for file in imported.files for line in file.lines]
    assert "package-digest: the datapackage.json cannot be read, so no SHA-256 was" in said


@pytest.mark.parametrize("label", ["", "sha256:", "SHA-256:"])
def test_the_hash_of_a_manifest_may_have_a_label(
    store: LandedStore, tmp_path: Path, label: str
) -> None:
    path = write_wacz(tmp_path / "a.wacz", page(URI))
    entry = entry_of(path, hash=f"{label}{sha256_of(path)}")
    [imported] = run(store, write_manifest(tmp_path / "m.json", [entry]))
    assert isinstance(imported, Imported)


def test_a_wrong_size_lands_nothing(store: LandedStore, tmp_path: Path) -> None:
    path = write_wacz(tmp_path / "a.wacz", page(URI))
    manifest = write_manifest(tmp_path / "m.json", [entry_of(path, size=7)])
    assert "and 7 in the manifest" in failed(run(store, manifest))
    assert store.names() == []


def _nested(folder: Path, levels: int) -> Path:
    path = write_wacz(folder / "in" / "level-0.wacz", page(URI))
    for level in range(1, levels):
        members = {f"level-{level - 1}.wacz": path.read_bytes()}
        path = write_package(folder / "in" / f"level-{level}.wacz", members, deflated=True)
    return path


def _bomb(folder: Path) -> Path:
    """A member that says that it unpacks to two gigabytes, as one of 2 MB may."""
    path = write_package(folder / "bomb.wacz", {"archive/a.warc": bytes(1000)}, deflated=True)
    said = struct.pack("<L", 1000), struct.pack("<L", 2_000_000_000)
    path.write_bytes(path.read_bytes().replace(*said))
    return path


def _fifo(folder: Path) -> Path:
    os.mkfifo(folder / "a.wacz")
    return folder / "a.wacz"


def _loop(folder: Path) -> Path:
    (folder / "a.wacz").symlink_to("a.wacz")
    return folder / "a.wacz"


HOSTILE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "nested ten deep": (lambda f: _nested(f, 10), "a package in more than 7 others"),
    "a zip bomb": (_bomb, "its members unpack to 2,000,000,000 bytes"),
    "a member above": (
        lambda f: write_package(f / "a.wacz", members_of() | {"../a.warc": b"x"}),
        "the name of a member is no path",
    ),
    "an absolute member": (
        lambda f: write_package(f / "a.wacz", members_of() | {"/etc/a.warc": b"x"}),
        "the name of a member is no path",
    ),
    "a FIFO": (_fifo, "not a regular file"),
    "a link to itself": (_loop, "cannot be read: Too many levels"),
    "no ZIP file": (lambda f: f / "no.wacz", "not a readable ZIP file"),
    "no ZIP file in it": (
        lambda f: write_package(f / "a.wacz", members_of() | {"b.wacz": b"x"}),
        "b.wacz: not a readable ZIP file",
    ),
    "what its datapackage names is not there": (
        lambda f: write_package(
            f / "a.wacz", {n: d for n, d in members_of().items() if not n.startswith("archive/")}
        ),
        "which is not in it",
    ),
}


@pytest.mark.parametrize(("write", "why"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_wacz_file_fails_whole(
    store: LandedStore, tmp_path: Path, write: Callable[[Path], Path], why: str
) -> None:
    (tmp_path / "no.wacz").write_bytes(b"no ZIP file")
    good = write_wacz(tmp_path / "good.wacz", page(URI))
    outcomes = run(store, write(tmp_path), good)
    assert why in failed(outcomes)
    assert {name.partition("/")[0] for name in visible(store)} == {"good"}
    assert not [name for name in store.names() if not name.startswith("good/")]


def test_packages_nested_a_little_land(store: LandedStore, tmp_path: Path) -> None:
    run(store, _nested(tmp_path, 4))
    inner = "level-3/level-3.wacz/level-2.wacz/level-1.wacz/level-0.wacz"
    assert f"{inner}/archive/a.warc.gz" in visible(store)


@pytest.mark.parametrize("step", ["hashed", "published one"])
@pytest.mark.parametrize("how", ["appended", "replaced", "gone"])
def test_a_wacz_file_that_changes_lands_nothing(
    store: LandedStore, tmp_path: Path, step: str, how: str
) -> None:
    path = write_wacz(tmp_path / "a.wacz", page(URI))
    whole = path.read_bytes()

    def change(at: str) -> None:
        if at != step or not path.exists():
            return
        if how == "appended":
            path.write_bytes(whole[:-1] + b"\0")
        elif how == "replaced":
            write_wacz(tmp_path / "other.wacz", page(f"{URI}2")).replace(path)
        else:
            path.unlink()

    assert isinstance(run(store, path, at=change)[0], PinakesError)
    assert store.names() == []
    assert visible(store) == []
    assert list(store.rows.scan("captures")) == []
    path.write_bytes(whole)
    assert isinstance(run(store, resume=True)[0], Imported)


def test_a_crawl_that_is_not_open_gets_nothing(store: LandedStore, tmp_path: Path) -> None:
    run(store, write_wacz(tmp_path / "a.wacz", page(URI)))
    commit_crawl(store.rows, store.archive, "a", store.actor)
    before = state(store)
    path = write_wacz(tmp_path / "b.wacz", page(f"{URI}2"))
    manifest = write_manifest(tmp_path / "m.json", [entry_of(path, crawlId="a")])
    assert "the crawl a is committed" in failed(run(store, manifest))
    assert {**state(store), "queue": []} == before


def test_a_crawl_of_another_collection_gets_nothing(store: LandedStore, tmp_path: Path) -> None:
    store.land("a", "x.warc.gz", page(URI))
    path = write_wacz(tmp_path / "a.wacz", page(URI))
    assert "belongs to the collection default" in failed(run(store, path))
    assert visible(store) == ["a/x.warc.gz"]


def test_a_cancelled_crawl_can_be_imported_again(store: LandedStore, tmp_path: Path) -> None:
    path = write_wacz(tmp_path / "a.wacz", page(URI))
    run(store, path)
    before = state(store)
    gone = tmp_path / "gone.wacz"
    missing = {"path": gone.name, "name": gone.name, "crawlId": "a"}
    run(store, write_manifest(tmp_path / "m.json", [missing]))
    Remover(store.rows, store.archive, Actor()).take_out("a", CANCEL)
    assert state(store)["lists"] == {"a": []}
    assert (state(store)["known"], state(store)["queue"]) == ([], [])
    run(store, path)
    assert state(store)["lists"] == before["lists"]
    assert visible(store) == ["a/a.wacz/archive/a.warc.gz", "a/a.wacz/documents.warc"]


# From servers


@pytest.fixture
def wacz(tmp_path: Path) -> bytes:
    return write_wacz(tmp_path / "made.wacz", page(URI)).read_bytes()


def test_a_url_is_fetched_and_known_by_its_url(store: LandedStore, wacz: bytes) -> None:
    with serving({"a b.wacz": wacz}) as server:
        [imported] = run(store, f"{server.url}/a b.wacz")
        assert isinstance(imported, Imported)
        url = server.url
    assert imported.crawl.startswith("a-b-")
    sources = {entry.facts.source for entry in scan_entries(store.rows) if entry.facts}
    assert f"{url}/a b.wacz/archive/a.warc.gz" in sources


def test_a_manifest_on_a_server_names_what_lies_beside_it(store: LandedStore, wacz: bytes) -> None:
    body = b'{"resources": [{"path": "a.wacz", "crawlId": "c"}, {"path": "/sub/b.wacz?key=1"}]}'
    with serving({"sub/m.json": body, "sub/a.wacz": wacz, "sub/b.wacz?key=1": wacz}) as server:
        outcomes = run(store, f"{server.url}/sub/m.json")
    assert [type(outcome) for outcome in outcomes] == [Imported] * 2, outcomes


Behave = Callable[[RangeServer, bytes], Callable[[int, Handler], bool]]


def _redirecting(server: RangeServer, wacz: bytes) -> Callable[[int, Handler], bool]:
    def behave(number: int, handler: Handler) -> bool:
        handler.answer(302, b"", {"Location": "http://127.0.0.2:9/a.wacz"})
        return True

    return behave


def _dying(server: RangeServer, wacz: bytes) -> Callable[[int, Handler], bool]:
    def behave(number: int, handler: Handler) -> bool:
        handler.answer(200, wacz[:100], length=len(wacz))
        return True

    return behave


def _longer(server: RangeServer, wacz: bytes) -> Callable[[int, Handler], bool]:
    def behave(number: int, handler: Handler) -> bool:
        handler.answer(200, wacz, length=len(wacz) - 100)
        return True

    return behave


def _endless(server: RangeServer, wacz: bytes) -> Callable[[int, Handler], bool]:
    def behave(number: int, handler: Handler) -> bool:
        handler.send_response(200)
        handler.end_headers()
        handler.close_connection = True
        for _ in range(1 << 12):
            handler.wfile.write(bytes(1 << 16))
        return True

    return behave


def _huge(server: RangeServer, wacz: bytes) -> Callable[[int, Handler], bool]:
    def behave(number: int, handler: Handler) -> bool:
        handler.answer(206, b"x", {"Content-Range": f"bytes 0-0/{1 << 60}"})
        return True

    return behave


SERVERS: dict[str, tuple[Behave, str]] = {
    "redirects elsewhere": (_redirecting, "it names the host 127.0.0.2:9, which is not its own"),
    "dies midway, always": (_dying, "failed 5 times: the server closed the connection early"),
    "sends more than it said": (_longer, "/a.wacz: not a readable ZIP file"),
    "never ends": (_endless, "the server does not send the size of the file"),
    "is huge": (_huge, "it has 1,152,921,504,606,846,976 bytes"),
}


@pytest.mark.parametrize(("behave", "why"), SERVERS.values(), ids=SERVERS)
def test_a_hostile_server_fails_its_file_alone(
    store: LandedStore, tmp_path: Path, wacz: bytes, behave: Behave, why: str
) -> None:
    good = write_wacz(tmp_path / "good.wacz", page(f"{URI}good"))
    with serving({"a.wacz": wacz}) as server:
        server.behave = behave(server, wacz)
        outcomes = run(store, f"{server.url}/a.wacz", good)
    assert why in failed(outcomes)
    assert "pinakes-" not in failed(outcomes)  # the place of our copy
    assert {name.partition("/")[0] for name in visible(store)} == {"good"}


def test_a_server_that_dies_once_is_asked_for_the_rest(store: LandedStore, wacz: bytes) -> None:
    with serving({"a.wacz": wacz}) as server:

        def behave(number: int, handler: Handler) -> bool:
            if number == 1:
                where = f"bytes 0-{len(wacz) - 1}/{len(wacz)}"
                handler.answer(206, wacz[:100], {"Content-Range": where}, length=len(wacz))
            return number == 1

        server.behave = behave
        [imported] = run(store, f"{server.url}/a.wacz")
        assert isinstance(imported, Imported)
        assert server.requests[1].startswith("bytes=100-")  # type: ignore[union-attr]


def test_a_file_that_changes_between_two_answers_is_refused(
    store: LandedStore, wacz: bytes
) -> None:
    with serving({"a.wacz": wacz}) as server:

        def behave(number: int, handler: Handler) -> bool:
            server.etag = f'"{number}"'
            if number == 1:
                where = f"bytes 0-{len(wacz) - 1}/{len(wacz)}"
                handler.answer(206, wacz[:100], {"Content-Range": where}, length=len(wacz))
            return number == 1

        server.behave = behave
        assert "the file changed on the server" in failed(run(store, f"{server.url}/a.wacz"))
    assert store.names() == []


# Several at once


def test_what_another_process_imports_is_left_to_it(store: LandedStore, tmp_path: Path) -> None:
    path = write_wacz(tmp_path / "a.wacz", page(URI))
    other = Actor()
    waits = itertools.count()

    def meanwhile(step: str) -> None:
        if step == "queued":
            [entry] = scan_queue(store.rows, COLLECTION)
            take_queued(
                store.rows,
                entry,
                # A tenth of a second is left.
                Claimant("elsewhere/1/2/3", "theirs", other.now_ms() - 599_900, other.is_gone),
                act="ingest-theirs",
            )

    def wait() -> None:
        assert next(waits) < 1000
        threading.Event().wait(0.02)

    outcomes = run(store, path, at=meanwhile, wait=wait)
    assert isinstance(outcomes[0], Busy)
    assert isinstance(outcomes[-1], Imported)
    assert len(visible(store)) == 2


def test_several_imports_share_the_queue(store: LandedStore, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for number in range(12):
        write_wacz(folder / f"{number}.wacz", page(f"{URI}{number}", b"%d" % number))
        # The same content again, under another name.
        (folder / f"{number}b.wacz").write_bytes((folder / f"{number}.wacz").read_bytes())
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            code = 70
            try:
                made = LandedStore(store.folder)
                outcomes = run(made, folder, wait=lambda: threading.Event().wait(0.05))
                problems = [o for o in outcomes if isinstance(o, PinakesError)]
                code = 0 if all(isinstance(o, Busy) for o in problems) else 3
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 3
    assert len(visible(store)) == 24
    found = state(store)
    assert found["queue"] == []
    assert len(found["known"]) == 12
    assert sum(len(files) for files in found["lists"].values()) == 12


# Real files


def test_real_wacz_files_are_imported(store: LandedStore, shared_data: Path) -> None:
    outcomes = run(store, shared_data / "archives")
    assert len(outcomes) == 14
    assert all(isinstance(outcome, Imported) for outcome in outcomes)
    again = run(store, shared_data / "archives")
    assert all(isinstance(outcome, Imported) and outcome.known for outcome in again)


def test_a_queued_file_that_is_gone_is_named(store: LandedStore, tmp_path: Path) -> None:
    manifest = write_manifest(tmp_path / "m.json", [{"path": "gone.wacz"}])
    assert "gone.wacz: cannot be read: No such file" in failed(run(store, manifest))
    assert isinstance(run(store, manifest, resume=True)[0], InputRefused)
