"""`pinakes ingest` and what it should not be given: message, exit code, nothing half-visible."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from isal import igzip
from packages import write_package
from verbs_here import call_here

from pinakes.acts.actor import Actor
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.catalog.file_rows import scan_entries, scan_inflight
from pinakes.row_store.sqlite.store import EmbeddedRowStore

REPOSITORY = Path(__file__).resolve().parents[2]


def record(number: int, uri: bytes = b"http://e.org/", extra: bytes = b"") -> bytes:
    block = b"HTTP/1.1 200 OK\r\n\r\nbody %d" % number
    return (
        (
            b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %b\r\n"
            b"WARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:x:%d>\r\n%b"
            b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n"
        )
        % (uri, number, extra, len(block))
        + block
        + b"\r\n\r\n"
    )


# Runs a command, then prints the KiB it had in memory at most.  A process that pytest forks
# itself would be told to have had what pytest has.
TELLING_PEAK = (
    sys.executable,
    "-c",
    """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
""",
)


class Ingest:
    """The verb, in a folder of its own; in this process, where it needs none of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.crawl = folder / "crawl"
        self.crawl.mkdir()
        assert self("init").returncode == 0

    def start(self, *arguments: str | bytes, under: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """Start `pinakes`, as the arguments of the command `under`."""
        paths = [str(REPOSITORY / "platform")]
        return subprocess.Popen(
            [*under, sys.executable, "-m", "pinakes.cli", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="surrogateescape",
        )

    def process(self, *arguments: str | bytes) -> subprocess.CompletedProcess[str]:
        """Run `pinakes` as a process, to its end."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def __call__(self, *arguments: str | bytes) -> subprocess.CompletedProcess[str]:
        return call_here(self.folder, *arguments)

    def land(self, *paths: str | bytes | Path) -> subprocess.CompletedProcess[str]:
        return self(
            "ingest", "--crawl", "c", *(p if isinstance(p, bytes) else str(p) for p in paths)
        )

    def put(self, name: str, data: bytes) -> Path:
        path = self.crawl / name
        path.write_bytes(data)
        return path

    def state(self) -> dict[str, object]:
        """Files by state, what is visible, what lies in the store."""
        rows = EmbeddedRowStore(self.folder / "pinakes-store" / "rows.sqlite")
        try:
            hidden = scan_inflight(rows)
            entries = list(scan_entries(rows))
            archive = LocalArchiveStore(self.folder / "pinakes-store" / "archive")
            facts = [json.loads(c.value) for r in rows.scan("captures") for k, c in r.cells.items()
                     if k == b"m:capture"]  # fmt: skip
            return {
                "files": {e.archive_file: e.state for e in entries if e.state == "stored"},
                "visible": sorted(f["url"] for f in facts if f["filename"] not in hidden),
                "stored": [f.name for f in archive.list() if not f.name.endswith(".parquet")],
            }
        finally:
            rows.close()


NOTHING: dict[str, object] = {"files": {}, "visible": [], "stored": []}


@pytest.fixture
def ingest(tmp_path: Path) -> Ingest:
    return Ingest(tmp_path)


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    there = os.getcwd()
    os.chdir(path.parent)  # a socket's path has at most 108 bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(there)


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _package(path: Path) -> None:
    write_package(path, {"../a.warc": record(1)})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(_fifo, "not a regular file", id="fifo"),
        pytest.param(_socket, "not a regular file", id="socket"),
        pytest.param(_loop, "cannot be read", id="symlink-loop"),
        pytest.param(_empty, "the file is empty", id="empty"),
        pytest.param(
            lambda path: path.write_bytes(b"\x04\x22\x4d\x18" + record(1) * 3),
            "this is an LZ4 frame, which is not read here: decompress it first (lz4 -d)",
            id="lz4",
        ),
        pytest.param(
            lambda path: path.write_bytes(b"\xfd7zXZ" + record(1) * 3),
            "this is an XZ file, which is not read here: decompress it first (xz -d)",
            id="xz",
        ),
        pytest.param(
            lambda path: path.write_bytes(b"PK\x03\x04" + gzip.compress(record(1))),
            "this is a ZIP file: only one named .wacz is read",
            id="zip",
        ),
        pytest.param(lambda path: None, "cannot be read: No such file", id="none"),
    ],
)
def test_what_is_no_file_is_refused_and_the_rest_lands(ingest, make, message) -> None:  # type: ignore[no-untyped-def]
    bad = ingest.crawl / "bad.warc"
    make(bad)
    good = ingest.put("good.warc", record(1))
    done = ingest.land(bad, good)
    assert done.returncode == 3, done.stderr
    assert f"bad.warc: {message}" in done.stderr
    assert ingest.state()["files"] == {"c/good.warc": "stored"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_a_file_that_may_not_be_read(ingest: Ingest) -> None:
    path = ingest.put("a.warc", record(1))
    path.chmod(0)
    code = (
        "import os,sys; os.setgid(65534); os.setuid(65534)\n"
        "from pinakes.errors import InputRefused\n"
        "from pinakes.warc.opening import open_source\n"
        "try:\n    open_source(sys.argv[1]).__enter__()\n"
        "except InputRefused as e: print(e.message)\n"
        "except PermissionError as e: print('cannot be read:', e.strerror)\n"
    )
    code = "import pinakes.warc.opening\n" + code
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY / "platform")}
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "cannot be read: Permission denied", done.stderr


@pytest.mark.parametrize(
    ("make", "code"),
    [
        pytest.param(lambda path: None, 3, id="none"),
        pytest.param(_folder, 0, id="an-empty-folder"),
        pytest.param(_empty, 3, id="empty"),
        pytest.param(_fifo, 3, id="fifo"),
        pytest.param(_package, 3, id="wacz"),
    ],
)
def test_no_crawl_begins_where_nothing_can_land(
    ingest: Ingest, make: Callable[[Path], object], code: int
) -> None:
    path = ingest.crawl / ("a.wacz" if make is _package else "a.warc")
    make(path)
    done = ingest.land(path)
    assert (done.returncode, done.stdout) == (code, "")
    assert (code == 0) == ("nothing to ingest: no archive files found" in done.stderr)
    assert (code == 3) == ("; no crawl was begun in pinakes-store" in done.stderr)
    assert "crawl c of" not in done.stderr
    assert ingest("crawl", "list").stdout == ""
    # Nor is one that was taken out opened again.
    good = ingest.put("good.warc", record(1))
    assert ingest.land(path, good).returncode == (3 if code else 0)
    assert ingest("crawl", "cancel", "c").returncode == 0
    assert ingest.land(path).returncode == code
    assert ingest("crawl", "list", "--all").stdout.startswith("c  cancelled")


def test_what_is_no_archive_file_is_refused(ingest: Ingest) -> None:
    """By its content: an archive file may have any name."""
    (ingest.crawl / "passwd").write_text("root:x:0:0:root:/root:/bin/bash\n" * 40)
    done = ingest.land(ingest.crawl / "passwd")
    assert (done.returncode, done.stdout) == (3, "")
    assert "is no archive file: no record is in it" in done.stderr
    assert ingest("crawl", "list").stdout == ""
    named_otherwise = ingest.put("download", record(1))
    damaged = ingest.put("first bytes gone", b"\0" * 100 + b"\r\n\r\n" + record(2))
    assert ingest.land(named_otherwise).returncode == 0
    assert ingest.land(damaged).returncode == 0
    (ingest.crawl / "rotten.warc").write_bytes(b"\0" * 100)
    unread = ingest.land(ingest.crawl / "rotten.warc")
    assert (unread.returncode, "no record in it could be read" in unread.stderr) == (3, True)


@pytest.mark.parametrize(
    ("options", "code"),
    [((), 0), (("--require-files",), 3), (("--hook", "wget"), 3)],
    ids=["", "required", "hook"],
)
@pytest.mark.parametrize("dry_run", [(), ("--dry-run",)], ids=["", "dry run"])
def test_a_wrong_folder(
    ingest: Ingest, options: tuple[str, ...], code: int, dry_run: tuple[str, ...]
) -> None:
    (ingest.crawl / "wrong").mkdir()
    done = ingest("ingest", str(ingest.crawl / "wrong"), "--crawl", "c", *options, *dry_run)
    assert done.returncode == code
    assert "nothing to ingest: no archive files found" in done.stderr


def test_a_folder_named_like_a_file_is_walked(ingest: Ingest) -> None:
    _folder(ingest.crawl / "a.warc.gz")
    ingest.put("a.warc.gz/b.warc", record(1))
    assert ingest.land(ingest.crawl).returncode == 0
    assert ingest.state()["files"] == {"c/a.warc.gz/b.warc": "stored"}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param("a.warc.gz", b"no gzip at all, and no record either\n" * 9, id="no-gzip"),
        pytest.param("a.warc.gz", b"\x1f\x8b\x08\x00" + b"\xff" * 400, id="broken-gzip"),
        pytest.param("a.warc", b"\0" * 5000, id="zeros"),
    ],
)
def test_a_file_without_a_record_is_kept_and_named(ingest: Ingest, name: str, data: bytes) -> None:
    done = ingest.land(ingest.put(name, data))
    assert done.returncode == 3
    assert "no record in it could be read" in done.stderr
    assert ingest.state()["stored"] == [f"c/{name}"]
    assert (ingest.folder / "pinakes-store" / "archive" / "c" / name).read_bytes() == data


def test_a_huge_header_is_no_record(ingest: Ingest) -> None:
    path = ingest.crawl / "a.warc.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"WARC/1.0\r\nWARC-Type: response\r\nX: ")
        for _ in range(64):
            file.write(b"a" * (1 << 20))
    with path.open("ab") as file:
        file.write(gzip.compress(record(1)))
    done = ingest.land(path)
    assert done.returncode in (0, 3)
    assert "a.warc.gz:0: no-record" in done.stderr
    assert ingest.state()["visible"] == ["http://e.org/"]


@pytest.mark.slow
@pytest.mark.parametrize("start", [b"", b"WARC/1.0\r\nWARC-Type: response\r\nX: "], ids=repr)
@pytest.mark.parametrize("filler", [b"\0", b"a", b"a: b\r\n"], ids=repr)
def test_a_header_of_a_gigabyte_costs_no_memory(
    ingest: Ingest, start: bytes, filler: bytes
) -> None:
    """Some megabytes on disk; it is named and passed over, and what follows lands."""
    path = ingest.crawl / "a.warc.gz"
    piece = filler * ((1 << 20) // len(filler))
    with igzip.open(path, "wb", compresslevel=1) as file:
        file.write(start)
        for _ in range(1 << 10):
            file.write(piece)
    bomb_bytes = path.stat().st_size
    assert bomb_bytes < 16 << 20
    with path.open("ab") as file:
        file.write(gzip.compress(record(1)))
    process = ingest.start("ingest", "--crawl", "c", str(path), under=TELLING_PEAK)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert f"a.warc.gz:0: no-record: to {bomb_bytes}: " in err
    assert ingest.state()["visible"] == ["http://e.org/"]
    assert (ingest.folder / "pinakes-store/archive/c/a.warc.gz").read_bytes() == path.read_bytes()
    peak_kib = int(out.splitlines()[-1])
    assert peak_kib < 128 << 10  # landing one small record takes half of it


@pytest.mark.parametrize("name", [b"100% of it.warc", "é ü.warc".encode(), b"\xff.warc"])
def test_names_of_any_text_land(ingest: Ingest, name: bytes) -> None:
    path = os.fsencode(ingest.crawl) + b"/" + name
    Path(os.fsdecode(path)).write_bytes(record(1))
    # A process: its arguments and its streams are the system's.
    done = ingest.process("ingest", "--crawl", "c", path)
    assert done.returncode == 0, done.stderr
    assert ingest.state()["files"] == {f"c/{os.fsdecode(name)}": "stored"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("new\nline.warc", r"new\nline.warc.*control characters", id="newline"),
        pytest.param("bell\a.warc", r"bell\x07.warc.*control characters", id="bell"),
        pytest.param("\x1b[31m.warc", r"\x1b[31m.warc.*control characters", id="escape"),
        pytest.param(".hidden.warc", "plain names", id="hidden"),
        pytest.param("a" * 245 + ".warc", "longer than 255 bytes", id="long"),
    ],
)
def test_names_that_no_store_takes(ingest: Ingest, name: str, message: str) -> None:
    """Refused before anything is written, and printed on one line."""
    done = ingest.land(ingest.put(name, record(1)))
    assert done.returncode == 3
    [line] = [line for line in done.stderr.splitlines() if "warning" in line]
    head, _, tail = message.partition(".*")
    assert head in line
    assert tail in line
    assert "\x1b" not in done.stdout + done.stderr
    assert ingest.state() == NOTHING
    rows = EmbeddedRowStore(ingest.folder / "pinakes-store" / "rows.sqlite")
    assert not list(rows.scan("files"))
    assert not list(rows.scan("captures"))
    rows.close()


@pytest.mark.parametrize("given", ["../crawl/a.warc", "crawl/../crawl/a.warc", "./crawl/a.warc"])
def test_dots_in_a_path_never_reach_the_name(ingest: Ingest, given: str) -> None:
    ingest.put("a.warc", record(1))
    given = (
        given.replace("../crawl", f"../{ingest.folder.name}/crawl", 1)
        if given[:2] == ".."
        else given
    )
    assert ingest.land(given).returncode == 0
    assert ingest.state()["files"] == {"c/a.warc": "stored"}


def test_uris_of_any_bytes_land_and_are_found(ingest: Ingest) -> None:
    uris = [b"http://e.org/\x01\x1b[31m", b"http://e.org/\xff\xfe", b"http://e.org/a b", b"\x80"]
    path = ingest.put("a.warc", b"".join(record(n, uri) for n, uri in enumerate(uris)))
    assert ingest.land(path).returncode == 0
    assert len(ingest.state()["visible"]) == len(uris)  # type: ignore[arg-type]
    for uri in uris:
        done = ingest("timeline", uri)
        assert done.returncode == 0, (uri, done.stderr)
        assert done.stdout.startswith("2020"), (uri, done.stdout)
        assert not [c for c in done.stdout if c not in "\n\t" and ord(c) < 32]


def test_other_bytes_under_a_known_name(ingest: Ingest) -> None:
    path = ingest.put("a.warc", record(1))
    assert ingest.land(path).returncode == 0
    before = ingest.state()
    assert ingest.land(path).returncode == 0  # the same bytes are no news
    path.write_bytes(record(2))
    done = ingest.land(path)
    assert done.returncode == 3
    assert "other bytes are known as c/a.warc" in done.stderr
    assert ingest.state() == before


def test_one_base_name_twice_in_a_call(ingest: Ingest) -> None:
    for number in (1, 2):
        (ingest.crawl / str(number)).mkdir()
        ingest.put(f"{number}/a.warc", record(number))
    done = ingest.land(ingest.crawl / "1" / "a.warc", ingest.crawl / "2" / "a.warc")
    assert done.returncode == 3
    assert "2/a.warc: other bytes are known as c/a.warc" in done.stderr
    # By folder they keep apart.
    assert ingest("ingest", "--crawl", "d", str(ingest.crawl)).returncode == 0
    assert set(ingest.state()["files"]) == {"c/a.warc", "d/1/a.warc", "d/2/a.warc"}  # type: ignore[arg-type, call-overload]


def test_links_to_a_file_are_the_file(ingest: Ingest) -> None:
    path = ingest.put("a.warc", record(1))
    (ingest.crawl / "soft.warc").symlink_to(path)
    (ingest.crawl / "hard.warc").hardlink_to(path)
    assert ingest.land(ingest.crawl).returncode == 0
    assert set(ingest.state()["files"]) == {"c/a.warc", "c/soft.warc", "c/hard.warc"}  # type: ignore[arg-type, call-overload]
    stored = ingest.folder / "pinakes-store" / "archive" / "c"
    path.write_bytes(b"the crawler's file changed")
    for name in ("a.warc", "soft.warc", "hard.warc"):
        assert not (stored / name).is_symlink()
        assert (stored / name).read_bytes() == record(1)


def test_a_folder_without_archive_files_is_named(ingest: Ingest) -> None:
    ingest.put("notes.txt", b"hello")
    done = ingest.land(ingest.crawl)
    assert done.returncode == 0
    assert "no archive files found" in done.stderr
    assert ingest.state() == NOTHING


def test_unfinished_files_are_listed_and_left(ingest: Ingest) -> None:
    for suffix in (".open", ".part", ".invalid", ".tmp"):
        ingest.put(f"a.warc.gz{suffix}", record(1))
    done = ingest.land(ingest.crawl)
    assert done.returncode == 0
    assert done.stderr.count("still being written; skipped") == 4
    assert ingest.state() == NOTHING


def test_a_store_of_a_newer_schema(ingest: Ingest) -> None:
    path = ingest.put("a.warc", record(1))
    store = sqlite3.connect(ingest.folder / "pinakes-store" / "rows.sqlite")
    store.execute("PRAGMA user_version = 99")
    store.commit()
    store.close()
    done = ingest.land(path)
    assert done.returncode == 2
    assert "use the newer Pinakes" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["a.warc"], "--crawl", id="no-crawl"),
        pytest.param(["--crawl", "../x", "a.warc"], "a crawl", id="crawl-with-dots"),
        pytest.param(["--crawl", "c"], "no inputs", id="no-inputs"),
        pytest.param(["--crawl", "c", "--settle", "nan", "a.warc"], "--settle", id="settle"),
        pytest.param(["--hook", "heritrix", "a", "b"], "one JOBDIR", id="two-jobs"),
    ],
)
def test_wrong_calls(ingest: Ingest, arguments: list[str], message: str) -> None:
    (ingest.folder / "a.warc").write_bytes(record(1))
    done = ingest("ingest", *arguments)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert ingest.state() == NOTHING


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_a_watch_and_a_rerun_goes_on(ingest: Ingest, number: int) -> None:
    ingest.put("a.warc", record(1))
    ingest.put("cut.warc", record(1)[:-9])
    ingest.put("b.warc.open", record(2))
    watch = ingest.start("ingest", "--watch", "--settle", "0.2", "--crawl", "c", str(ingest.crawl))
    assert watch.stdout is not None
    assert watch.stdout.readline().startswith("c/a.warc: landed")
    watch.send_signal(number)
    _, err = watch.communicate(timeout=60)
    assert watch.returncode == 5
    assert "safe to run again" in err
    assert err.count("still being written") == 1
    assert ingest.state()["files"] == {"c/a.warc": "stored"}
    done = ingest.land(ingest.crawl / "a.warc")
    assert (done.returncode, "was there" in done.stdout) == (0, True)


def test_a_signal_in_the_middle_of_a_landing(ingest: Ingest) -> None:
    big = b"".join(gzip.compress(record(n, b"http://e.org/%d" % n), 1) for n in range(20_000))
    path = ingest.put("a.warc.gz", big)
    process = ingest.start("ingest", "--crawl", "c", str(path))
    landing = ingest.folder / "pinakes-store" / "archive" / ".landing"
    while not any(landing.glob("*.copy")) and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 5, err
    assert ingest.state() == NOTHING
    assert ingest.land(path).returncode == 0
    state = ingest.state()
    assert state["files"] == {"c/a.warc.gz": "stored"}
    assert len(state["visible"]) == 20_000  # type: ignore[arg-type]


def test_two_ingests_of_one_folder_at_once(ingest: Ingest) -> None:
    for number in range(12):
        data = b"".join(record(n, b"http://e.org/%d/%d" % (number, n)) for n in range(200))
        ingest.put(f"{number}.warc", data)
    both = [ingest.start("ingest", "--crawl", "c", str(ingest.crawl)) for _ in range(2)]
    for process in both:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err  # what the other was landing was waited for
    state = ingest.state()
    assert len(state["files"]) == 12  # type: ignore[arg-type]
    assert len(state["visible"]) == 2400  # type: ignore[arg-type]
    assert ingest.land(ingest.crawl).returncode == 0
    assert ingest.state() == state


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB; skips where nobody may mount one."""
    place = tmp_path / "tiny"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk, and not everywhere")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("side", ["archive", "rows"])
def test_a_full_disk(ingest: Ingest, tiny_disk: Path, side: str) -> None:
    """The side that is on the small disk fills up; with room, the same call completes."""
    payload = os.urandom(4 << 20) if side == "archive" else b""
    many = range(1 if side == "archive" else 8_000)  # of 1 KB each in the rows
    data = b"".join(gzip.compress(record(n, b"http://e.org/%d" % n), 1) for n in many)
    path = ingest.put("a.warc.gz", data + (gzip.compress(payload) if payload else b""))
    store = ingest.folder / "pinakes-store"
    small = tiny_disk / side
    if side == "archive":
        (store / "archive").rmdir() if (store / "archive").is_dir() else None
        small.mkdir()
        (store / "archive").symlink_to(small)
    else:
        for file in store.glob("rows.sqlite*"):
            (tiny_disk / file.name).write_bytes(file.read_bytes())
            file.unlink()
        (store / "archive").mkdir(exist_ok=True)
        elsewhere = tiny_disk / "archive"
        elsewhere.symlink_to(store / "archive")
        store = tiny_disk
    call = ("ingest", "--store", str(store), "--crawl", "c", str(path))
    done = ingest.process(*call)
    assert done.returncode == 4, (done.returncode, done.stderr)
    assert "full" in done.stderr
    assert "room" in done.stderr
    assert not list((store / "archive").glob("c/*"))
    subprocess.run(["mount", "-o", "remount,size=200m", str(tiny_disk)], check=True)
    again = ingest.process(*call)
    assert again.returncode == 0 or "no-record" in again.stderr, again.stderr
    assert (store / "archive" / "c" / "a.warc.gz").read_bytes() == path.read_bytes()


def test_what_has_landed_and_is_gone_is_not_there(ingest: Ingest) -> None:
    """Who deletes the copy since it "was there" would delete the last one."""
    ingest.put("a.warc", record(1))
    assert ingest.land(ingest.crawl / "a.warc").returncode == 0
    (ingest.folder / "pinakes-store" / "archive" / "c" / "a.warc").unlink()
    done = ingest.land(ingest.crawl / "a.warc")
    assert (done.returncode, "was there" in done.stdout) == (3, False)
    assert "the stored file is not as it was stored (it is missing): keep this" in done.stderr


# --- Who works on a claim: a process that has ended does not, reaped or not


def test_a_process_that_ended_is_gone_before_its_parent_asks_for_it() -> None:
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.write(write, Actor().owner.encode())
        os._exit(0)
    os.close(write)
    owner = b""
    while piece := os.read(read, 100):
        owner += piece
    os.close(read)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # ended, and still there
    try:
        assert Actor().is_gone(owner.decode())
    finally:
        os.waitpid(pid, 0)
    assert Actor().is_gone(owner.decode())
    assert not Actor().is_gone(Actor().owner)
