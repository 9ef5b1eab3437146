"""The live web, here a server on loopback: seen, recorded, kept within bounds."""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import os
import resource
import signal
import socket
import ssl
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path

import comparing  # noqa: F401
import pytest
from asking import AskingBrowser
from browsing import Client, Response
from killing import KILLED, in_child
from scripted_server import Script, ScriptedServer, answer, scripted

from pinakes.cli import main
from pinakes.qa.replay.certificates import Authority
from pinakes.qa.results import Verdict
from pinakes.qa.snapshot import Outcome
from pinakes.qa.views import recording as recordings
from pinakes.qa.views.live import LiveSide, NotPublic, Pauses, live_session
from pinakes.qa.views.recording import Recording
from pinakes.qa.views.side import CHANGED, CHANGED_SHOT, Side, describe_gap, verdict_given_gap
from pinakes.qa.views.upstream import Origin
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
NOW = datetime(2021, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
MOMENT = NOW - timedelta(days=366)
PAGE = "http://a.example/page"


class Web:
    """A web of two hosts, a browser that sees it, and the recording of what it saw."""

    def __init__(self, folder: Path, server: ScriptedServer, *, secure: bool) -> None:
        self.server = server
        self.authority = Authority()
        self.recording = Recording(folder / "live", software="tests", clock=lambda: NOW)
        tls = ssl.create_default_context(cafile=str(self.authority.ca_file))
        if secure:
            server.tls = self.authority.context("a.example")
        self.session = live_session(
            self.recording, self.authority, resolver=self._resolved, tls=tls
        )
        self.client = Client(self.session.port, self.authority.ca_file)
        self.browser = AskingBrowser(self.client)
        self.side = LiveSide(
            self.session,
            self.browser,
            self.recording,
            Pauses(folder / "pauses", 0),
            clock=lambda: NOW,
        )

    def _resolved(self, origin: Origin) -> list[tuple[str, int]]:
        if origin.host not in ("a.example", "b.example"):
            raise NotPublic(f"{origin.host} is not of the public web")
        return [("127.0.0.1", self.server.port)]

    def close(self) -> None:
        self.session.close()
        self.recording.close()
        self.authority.close()

    def records(self) -> list[Record]:
        self.recording.close()
        assert self.recording.path is not None
        return records_of(self.recording.path)


def records_of(path: Path) -> list[Record]:
    source = Source(io.BytesIO(path.read_bytes()), name=str(path))
    return [item for item in iter_records(source) if isinstance(item, Record)]


@contextmanager
def web(folder: Path, scripts: dict[str, Script], *, secure: bool = False) -> Iterator[Web]:
    with scripted(scripts) as server:
        of_tests = Web(folder, server, secure=secure)
        try:
            yield of_tests
        finally:
            of_tests.close()


CHUNKED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3\r\np {\r\n2\r\n }\r\n0\r\n\r\n"
)


@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
def test_a_page_is_seen_and_recorded(
    secure: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    html = b"<img src=/1.png><a href=/s.css>"
    scripts: dict[str, Script] = {
        "/page": answer(html, Content_Type="text/html"),
        "/1.png": answer(b"picture", Content_Type="image/png"),
        "/s.css": CHUNKED,
    }
    page = PAGE.replace("http:", "https:") if secure else PAGE
    with web(tmp_path, scripts, secure=secure) as at:
        side: Side = at.side
        looked = side.visit(page, MOMENT, tmp_path)
        assert (side.kind, side.browser) == ("live", "asking")
        assert at.browser.pins[0].clock == NOW
        records = at.records()
        path = at.recording.path
    snapshot = looked.loaded.snapshot
    assert snapshot.outcome is Outcome.COMPLETE
    assert snapshot.reasons == ("live, 366 days after the capture",)
    root = page.removesuffix("/page")
    assert looked.loaded.payloads is not None
    assert (
        looked.loaded.payloads[f"{root}/1.png"]
        == f"sha256:{hashlib.sha256(b'picture').hexdigest()}"
    )
    assert [r.type for r in records] == ["warcinfo", *["response", "request"] * 3]
    assert [r.target_uri for r in records[1::2]] == [page, f"{root}/1.png", f"{root}/s.css"]
    assert records[5].http is not None
    assert b"".join(map(bytes, records[5].chunks())) == CHUNKED  # as it came, chunk sizes and all
    sent = b"".join(map(bytes, records[2].chunks()))
    assert sent.startswith(b"GET /page HTTP/1.1\r\nHost: a.example\r\n")
    assert records[1].header.field("warc-ip-address") == "127.0.0.1"
    assert path is not None
    assert main(["check", str(path), "--json"]) == 0
    assert capsys.readouterr().out == ""


def test_the_network_within_is_out_of_reach(tmp_path: Path) -> None:
    within = "http://intranet.example/secret"
    scripts: dict[str, Script] = {
        "/page": answer(f"<img src={within}>".encode()),
        "/away": answer(b"", "302 Found", Location=within),
    }
    with web(tmp_path, scripts) as at:
        looked = at.side.visit(PAGE, MOMENT, tmp_path)
        away = at.side.visit("http://b.example/away", MOMENT, tmp_path)
        assert len(at.server.asked) == 2
    for log in (looked.log, away.log):
        assert log is not None
        assert [(e.url, e.problem) for e in log.faults] == [
            (within, "intranet.example is not of the public web")
        ]


def test_without_a_resolver_of_tests_loopback_is_refused(tmp_path: Path) -> None:
    with scripted({"/": answer(b"secret")}) as server:
        authority = Authority()
        recording = Recording(tmp_path, software="tests")
        session = live_session(recording, authority)
        browser = AskingBrowser(Client(session.port, authority.ca_file))
        side = LiveSide(session, browser, recording, Pauses(tmp_path, 0))
        looked = side.visit(f"{server.url}/", MOMENT, tmp_path)
        session.close()
        authority.close()
        assert server.asked == []
    assert looked.loaded.snapshot.outcome is Outcome.FAILED
    assert looked.loaded.snapshot.reasons[-1] == "127.0.0.1 has no public address: 127.0.0.1"
    assert recording.path is None


def test_a_certificate_of_another_host_is_not_believed(tmp_path: Path) -> None:
    with web(tmp_path, {"/page": answer(b"x")}, secure=True) as at:
        looked = at.side.visit("https://b.example/page", MOMENT, tmp_path)
        assert at.server.asked == []
    assert looked.loaded.snapshot.outcome is Outcome.FAILED
    assert "not valid for 'b.example'" in looked.loaded.snapshot.reasons[-1]


def test_half_a_body_is_recorded_as_half(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\nhalf"

    def breaks_off(connection: socket.socket) -> None:
        connection.sendall(half)

    with web(tmp_path, {"/page": breaks_off}) as at:
        at.session.begin_page(PAGE, MOMENT)
        connection = at.client.connect(PAGE)
        connection.request("GET", PAGE)
        connection.getresponse().read(4)
        connection.close()
        log = at.session.end_page(timeout_s=60)
        records = at.records()
        path = at.recording.path
    assert [e.outcome for e in log.exchanges] == ["fault"]
    assert records[1].header.field("warc-truncated") == "disconnect"
    assert records[1].header.field("warc-payload-digest") is None
    assert b"".join(map(bytes, records[1].chunks())) == half
    assert path is not None
    assert main(["check", str(path), "--json"]) == 0
    assert capsys.readouterr().out == ""


def test_a_server_that_is_gone_is_a_page_that_failed(tmp_path: Path) -> None:
    with web(tmp_path, {}) as at:
        at.server.shutdown()
        at.server.server_close()
        looked = at.side.visit(PAGE, MOMENT, tmp_path)
        assert at.recording.path is None
    assert looked.loaded.snapshot.outcome is Outcome.FAILED
    assert "no connection to a.example:80" in looked.loaded.snapshot.reasons[-1]


def test_a_large_body_is_recorded_in_little_memory(tmp_path: Path) -> None:
    piece, count = os.urandom(1 << 20), 100

    def large(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (count << 20))
        for _ in range(count):
            connection.sendall(piece)

    with web(tmp_path, {"/page": large}) as at:
        at.session.begin_page(PAGE, MOMENT)
        tracemalloc.start()
        connection = at.client.connect(PAGE)
        connection.request("GET", PAGE)
        answered = connection.getresponse()
        while answered.read(1 << 16):
            pass
        log = at.session.end_page(timeout_s=60)
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        connection.close()
        at.recording.close()
        path = at.recording.path
    assert [(e.outcome, e.sent_bytes) for e in log.exchanges] == [("hit", count << 20)]
    assert peak_bytes < 16 << 20
    assert path is not None
    with path.open("rb") as file:
        items = iter_records(Source(file, name=str(path)), digests=("sha256",))
        [response] = [r for r in items if isinstance(r, Record) and r.type == "response"]
        declared = response.header.field("warc-payload-digest")
        assert declared == str(response.payload_digest("sha256"))


def test_killed_as_it_records_the_file_is_readable_to_its_last_whole_record(
    tmp_path: Path,
) -> None:
    def work() -> None:
        with web(tmp_path, {"/page": answer(os.urandom(5_000))}) as at:
            written = 0
            write = recordings._write

            def dies(file: object, pieces: object) -> None:
                nonlocal written
                written += 1
                if written == 8:  # the fourth response: after a part of it
                    whole = b"".join(pieces)  # type: ignore[arg-type]
                    file.write(whole[: len(whole) // 2])  # type: ignore[attr-defined]
                    os._exit(KILLED)
                write(file, pieces)  # type: ignore[arg-type]

            recordings._write = dies  # type: ignore[assignment]
            for _ in range(9):
                at.side.visit(PAGE, MOMENT, tmp_path)

    assert in_child(work) == KILLED
    [path] = (tmp_path / "live").glob("*.warc.gz")
    records = records_of(path)
    whole = [r for r in records if not r.findings]
    assert [r.type for r in whole] == ["warcinfo", *["response", "request"] * 3]
    assert len(records) - len(whole) <= 1


def test_a_full_disk_ends_the_recording_and_not_the_page(tmp_path: Path) -> None:
    """Full is here a limit of this process on the size of files, which needs no root."""

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        scripts: dict[str, Script] = {
            "/page": answer(os.urandom(30_000)),
            "/small": answer(b"small"),
        }
        with web(tmp_path, scripts) as at:
            first = at.side.visit(PAGE, MOMENT, tmp_path)
            assert len(first.loaded.snapshot.reasons) == 1
            resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
            full = at.side.visit(PAGE, MOMENT, tmp_path)
            assert full.loaded.snapshot.outcome is Outcome.COMPLETE
            assert full.loaded.payloads == first.loaded.payloads
            [_, problem] = full.loaded.snapshot.reasons
            assert problem.startswith("not recorded: ")
            assert problem.endswith(f": {PAGE}")
            small = at.side.visit("http://a.example/small", MOMENT, tmp_path)
            assert len(small.loaded.snapshot.reasons) == 1

    assert in_child(work) == 0
    [path] = (tmp_path / "live").glob("*.warc.gz")
    records = records_of(path)
    assert [(r.type, r.target_uri) for r in records if r.type != "request"] == [
        ("warcinfo", None),
        ("response", PAGE),
        ("response", "http://a.example/small"),
    ]
    assert not any(r.findings for r in records)


def test_where_nothing_can_be_written_the_page_is_seen(tmp_path: Path) -> None:
    (tmp_path / "live").write_text("a file, and no folder")
    with web(tmp_path, {"/page": answer(b"words")}) as at:
        looked = at.side.visit(PAGE, MOMENT, tmp_path)
        assert at.browser.said[0].body == b"words"
    assert looked.loaded.snapshot.reasons[1] == f"not recorded: File exists: {PAGE}"


def test_a_host_is_left_alone_between_two_pages(tmp_path: Path) -> None:
    slept: list[float] = []
    now = 0.0
    # Each page has pauses of its own, as processes have.

    def clock() -> float:
        return now

    for host, at in (("a", 100.0), ("b", 101.0), ("a", 102.0), ("a", 120.0), ("a", 10.0)):
        now = at
        with Pauses(tmp_path, 5.0, clock=clock, sleep=slept.append).page_of(host):
            now += 0.5
    # Behind the last the clock was set back: no longer than a pause.
    assert slept == [5.0 - 1.5, 0.0, 5.0]


def test_a_url_that_cannot_be_split_ends_no_run(tmp_path: Path) -> None:
    class Refusing(AskingBrowser):
        """Takes such a URL for none, as browsers do."""

        def _ask(self, url: str) -> Response:
            return Response(0, {}, b"")

    with web(tmp_path, {}) as at:
        browser = Refusing(at.client)
        side = LiveSide(at.session, browser, at.recording, Pauses(tmp_path / "pauses", 0))
        looked = side.visit("http://[foo/bar", MOMENT, tmp_path)
    assert looked.log is not None
    assert looked.log.exchanges == ()


def test_a_page_that_fails_is_paused_after_too(tmp_path: Path) -> None:
    slept: list[float] = []
    pauses = Pauses(tmp_path, 5.0, clock=lambda: 1.0, sleep=slept.append)
    with pytest.raises(ZeroDivisionError), pauses.page_of("a"):
        raise ZeroDivisionError
    with pauses.page_of("a"):
        pass
    assert slept == [5.0]


def test_two_processes_show_one_page_of_a_host_at_a_time(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def work() -> None:
        for _ in range(20):
            with Pauses(tmp_path / "pauses", 0).page_of("a"):
                before = log.read_text() if log.exists() else ""
                assert len(before.splitlines()) % 2 == 0
                with log.open("a") as file:
                    file.write("begun\n")
                    file.flush()
                    file.write("ended\n")

    children = [multiprocessing.get_context("fork").Process(target=work) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0]
    assert log.read_text() == "begun\nended\n" * 40


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (timedelta(days=1234, hours=3), "live, 1,234 days after the capture"),
        (timedelta(days=1), "live, 1 day after the capture"),
        (timedelta(hours=1, minutes=59), "live, 1 hour after the capture"),
        (timedelta(0), "live, 0 hours after the capture"),
        (timedelta(seconds=-1), "live, before the time of the capture: one of the clocks is wrong"),
    ],
)  # fmt: skip
def test_a_gap_in_words(gap: timedelta, words: str) -> None:
    assert describe_gap(gap) == words


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize("days", [0, 1, 3, 4000, -3])
def test_a_large_gap_is_no_fault(verdict: Verdict, days: int) -> None:
    now, why = verdict_given_gap("live", verdict, timedelta(days=days))
    if abs(days) > 2 and verdict is Verdict.DISSIMILAR:
        assert (now, why) == (Verdict.UNCERTAIN, CHANGED)
    else:
        assert (now, why) == (verdict, None)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("live", CHANGED),
        ("stored", CHANGED_SHOT),
        ("replay:current", None),
        ("access:http://w.example/", None),
    ],
)
def test_what_a_gap_is_taken_for(kind: str, words: str | None) -> None:
    for gap in (timedelta(days=3), timedelta(days=-3)):
        verdict = Verdict.UNCERTAIN if words is not None else Verdict.DISSIMILAR
        assert verdict_given_gap(kind, Verdict.DISSIMILAR, gap) == (verdict, words)
        assert verdict_given_gap(kind, Verdict.SIMILAR, gap) == (Verdict.SIMILAR, None)
    assert verdict_given_gap(kind, Verdict.DISSIMILAR, timedelta(days=2)) == (
        Verdict.DISSIMILAR,
        None,
    )
