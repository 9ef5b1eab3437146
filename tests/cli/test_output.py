"""Results to standard output, the rest to standard error, and no control character to either."""

from __future__ import annotations

import io
import json
import logging
import os
import pickle
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.cli.frame.exits import Exit, Repeats
from pinakes.cli.frame.output import Console, ConsoleHandler, escape_controls, printable
from pinakes.cli.frame.progress import LineProgress, SilentProgress, format_count, format_duration
from pinakes.errors import (
    ConfigError,
    InputRefused,
    MalformedRecord,
    StoreUnavailable,
    UnresolvedReference,
)
from pinakes.mr_jobs.lines.problems import problem_text, text_problem


def console(**options: bool) -> tuple[Console, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    return Console(out=out, err=err, **options), out, err


@dataclass(frozen=True)
class Row:
    url: str
    date: datetime
    path: Path
    digest: bytes
    status: int | None


ROW = Row("http://a/\n", datetime(2026, 1, 2, tzinfo=timezone.utc), Path("x"), b"\x01\xff", None)


def test_a_result_is_one_json_object_a_line() -> None:
    console_, out, err = console(json=True)
    console_.results([{"a": 1}, ROW, "text"])
    assert [json.loads(line) for line in out.getvalue().splitlines()] == [
        {"a": 1},
        {
            "url": "http://a/\n",
            "date": "2026-01-02T00:00:00+00:00",
            "path": "x",
            "digest": "01ff",
            "status": None,
        },
        {"text": "text"},
    ]
    assert err.getvalue() == ""


def test_json_wins_over_the_text_for_people() -> None:
    console_, out, _ = console(json=True)
    console_.result({"n": 1}, text="one")
    assert out.getvalue() == '{"n": 1}\n'


def test_results_for_people() -> None:
    console_, out, _ = console()
    console_.result({"url": "http://a/\x1b[2J", "n": 1})
    console_.result({"n": 1}, text="one\ttab\nline")
    console_.result("plain")
    assert out.getvalue() == "url: http://a/\\x1b[2J\nn: 1\none\ttab\nline\nplain\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "said\npinakes: warning: careful\n"),
        ({"quiet": True}, "pinakes: warning: careful\n"),
        ({"verbose": True}, "said\ndetail\npinakes: warning: careful\n"),
        ({"quiet": True, "verbose": True}, "pinakes: warning: careful\n"),
    ],
    ids=str,
)
def test_what_quiet_and_verbose_leave(options: dict[str, bool], expected: str) -> None:
    console_, out, err = console(**options)
    console_.say("said")
    console_.detail("detail")
    console_.warn("careful")
    assert err.getvalue() == expected
    assert out.getvalue() == ""


def test_a_warning_names_file_and_offset_on_one_line() -> None:
    console_, _, err = console()
    console_.warn(InputRefused("is a folder\nreally", file="a\nb.warc", offset=7))
    assert err.getvalue() == "pinakes: warning: a\\nb.warc:7: is a folder\\nreally\n"


def test_fail_gives_the_code_and_the_traceback_only_when_asked() -> None:
    quiet, _, err = console()
    assert quiet.fail(ZeroDivisionError("x")) is Exit.BUG
    assert "Traceback" not in err.getvalue()
    verbose, _, err = console(verbose=True)
    with pytest.raises(ConfigError) as caught:
        raise ConfigError("wrong")
    assert verbose.fail(caught.value) is Exit.WRONG_CALL
    assert "Traceback" in err.getvalue()


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("HBase is away", "pinakes: error: HBase is away; safe to run again\n"),
        ("full: make room and run it again", "pinakes: error: full: make room and run it again\n"),
    ],
)
def test_a_store_that_is_away_says_that_it_may_be_run_again(message: str, said: str) -> None:
    console_, _, err = console()
    assert console_.fail(StoreUnavailable(message)) is Exit.STORE
    assert err.getvalue() == said


def test_what_is_logged_is_a_warning_of_the_console_also_in_processes_that_are_forked(
    capfd: pytest.CaptureFixture[str],
) -> None:
    console_, _, err = console()
    logger, handler = logging.getLogger("pinakes.tests"), ConsoleHandler(console_)
    logger.addHandler(handler)
    try:
        logger.warning("waiting for %s", "HBase\n")
        child = os.fork()
        if child == 0:
            logger.warning("waiting for %s", "HDFS\n")
            os._exit(0)
        os.waitpid(child, 0)
    finally:
        logger.removeHandler(handler)
    assert err.getvalue() == "pinakes: warning: waiting for HBase\\n\n"
    assert capfd.readouterr().err == "pinakes: warning: waiting for HDFS\\n\n"


def test_messages_as_json(capfd: pytest.CaptureFixture[str]) -> None:
    console_, out, err = console(log_json=True, verbose=True)
    console_.result("a result")
    console_.say("a\nb\x1b")
    console_.detail("more")
    console_.warn(InputRefused("odd", file="a"))
    console_.fail(KeyboardInterrupt())
    logger, handler = logging.getLogger("pinakes.tests"), ConsoleHandler(console_)
    logger.addHandler(handler)
    try:
        logger.error("a library: %s", "odd")
        child = os.fork()
        if child == 0:
            logger.warning("in a child")
            os._exit(0)
        os.waitpid(child, 0)
    finally:
        logger.removeHandler(handler)
    said = [json.loads(line) for line in [*err.getvalue().splitlines(), capfd.readouterr().err]]
    assert [(one["level"], one["logger"], one["message"]) for one in said] == [
        ("info", "pinakes", "a\nb\x1b"),
        ("debug", "pinakes", "more"),
        ("warning", "pinakes", "a: odd"),
        ("info", "pinakes", "stopped; safe to run again"),
        ("error", "pinakes.tests", "a library: odd"),
        ("warning", "pinakes.tests", "in a child"),
    ]
    assert all(datetime.fromisoformat(one["time"].replace("Z", "+00:00")).tzinfo for one in said)
    assert "\x1b" not in err.getvalue()
    assert out.getvalue() == "a result\n"


def test_a_closed_pipe_is_no_news() -> None:
    console_, _, err = console(verbose=True)
    assert console_.fail(BrokenPipeError()) is Exit.STOPPED
    assert err.getvalue() == ""


@given(st.text())
def test_nothing_that_drives_a_terminal_comes_through(text: str) -> None:
    for shown in (escape_controls(text), printable(text)):
        kinds = {unicodedata.category(char) for char in shown if char not in "\n\t"}
        assert not kinds & {"Cc", "Cs"}
    assert not {"\n", "\t"} & set(printable(text))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("a\rb\x9b", "a\\x0db\\x9b"),
        ("exe.\u202egpj", "exe.\\u202egpj"),
        ("a\u2028b", "a\\u2028b"),
        ("\udc80", "\\udc80"),
        ("Πίνακες 🏛", "Πίνακες 🏛"),
    ],
    ids=ascii,
)
def test_controls_are_shown_as_escapes(text: str, shown: str) -> None:
    assert escape_controls(text) == shown


def test_what_the_locale_cannot_write_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii"))
    console_ = Console.standard()
    console_.result("Πίνακες")
    console_.binary_out.write(b"raw")
    assert raw.getvalue() == b"\\u03a0\\u03af\\u03bd\\u03b1\\u03ba\\u03b5\\u03c2\nraw"


def test_what_repeats_is_named_three_times_and_then_counted() -> None:
    console_, _, err = console()
    for offset in range(1000):
        console_.warn(MalformedRecord("is damaged", file="a.warc", offset=offset))
        console_.warn(UnresolvedReference(f"http://{offset} is lost", kind="an original is lost"))
    console_.warn_of_repeats()
    assert err.getvalue().splitlines() == [
        "pinakes: warning: a.warc:0: is damaged",
        "pinakes: warning: http://0 is lost",
        "pinakes: warning: a.warc:1: is damaged",
        "pinakes: warning: http://1 is lost",
        "pinakes: warning: a.warc:2: is damaged",
        "pinakes: warning: http://2 is lost",
        "pinakes: warning: 997 more: is damaged; --verbose names them all",
        "pinakes: warning: 997 more: an original is lost; --verbose names them all",
    ]
    console_.warn_of_repeats()
    assert len(err.getvalue().splitlines()) == 8


@pytest.mark.parametrize(
    ("verbose", "problem"),
    [
        (True, MalformedRecord("is damaged", file="a.warc", offset=1)),
        (False, InputRefused("is a folder", file="a")),
        (False, "waiting for HBase"),
        (False, FileNotFoundError(2, "No such file", "a.warc")),
    ],
    ids=["verbose", "a whole file", "text", "of the system"],
)
def test_other_warnings_are_all_named(verbose: bool, problem: BaseException | str) -> None:
    console_, _, err = console(verbose=verbose)
    for _ in range(10):
        console_.warn(problem)
    console_.warn_of_repeats()
    assert len(err.getvalue().splitlines()) == 10


def test_kinds_without_end_do_not_fill_memory() -> None:
    repeats = Repeats[int](10)
    assert all(repeats.is_named(kind) for _ in range(3) for kind in range(1000))
    assert [repeats.is_named(kind) for kind in (9, 10)] == [False, True]
    assert list(repeats.take_counted()) == [(9, 1)]


def test_an_error_keeps_its_kind_between_processes() -> None:
    error = pickle.loads(pickle.dumps(MalformedRecord("a b", file="a", offset=1, kind="b")))
    assert (str(error), error.kind) == ("a:1: a b", "b")
    assert text_problem(problem_text(error)).kind == "b"


# --- Progress: lines off a terminal, a bar on one, silence with -q


class Clock:
    """A clock that the test turns."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_line_every_few_seconds_and_one_at_the_end() -> None:
    clock, said = Clock(), list[str]()
    progress = LineProgress("reading", total=1000, unit="bytes", say=said.append, clock=clock)
    for _ in range(5):
        clock.now_s += 2
        progress.advance(100)
    progress.close()
    assert said == [
        "reading: 300 B of 1.0 kB, 30%, 50 B/s, 14 s left",
        "reading: 500 B, 50 B/s, done in 10 s",
    ]


def test_what_is_quick_says_nothing() -> None:
    clock, said = Clock(), list[str]()
    progress = LineProgress("reading", total=None, unit="records", say=said.append, clock=clock)
    progress.advance(10)
    progress.close()
    assert said == []


def test_a_total_that_is_learnt_on_the_way() -> None:
    clock, said = Clock(), list[str]()
    progress = LineProgress("landing", total=None, unit="files", say=said.append, clock=clock)
    clock.now_s += 10
    progress.advance(2)
    progress.set_total(8)
    clock.now_s += 10
    progress.advance(2)
    assert said == [
        "landing: 2 files, 12 files/min",
        "landing: 4 files of 8 files, 50%, 12 files/min, 20 s left",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_a_bar_and_lines_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out, err = io.StringIO(), Terminal()
    console = Console(out=out, err=err)
    with console.progress("reading", total=10, unit="records") as progress:
        progress.advance(5)
        console.say("a [bold]line[/bold]\x1b[2J")
        progress.set_total(5)
        console.result("result")
    console.say("after")
    shown = err.getvalue()
    assert "reading" in shown
    assert "records" in shown
    assert "a [bold]line[/bold]\\x1b[2J" in shown
    assert shown.endswith("after\n")
    assert out.getvalue() == "result\n"


def test_quiet_shows_none() -> None:
    err = Terminal()
    console = Console(out=io.StringIO(), err=err, quiet=True)
    with console.progress("reading", total=10) as progress:
        assert isinstance(progress, SilentProgress)
        progress.advance(1)
        progress.set_total(2)
    assert err.getvalue() == ""


def test_off_a_terminal_lines() -> None:
    console = Console(out=io.StringIO(), err=io.StringIO())
    with console.progress("reading") as progress:
        assert isinstance(progress, LineProgress)


@pytest.mark.parametrize(
    ("count", "unit", "text"),
    [
        (0, "bytes", "0 B"),
        (999, "bytes", "999 B"),
        (1000, "bytes", "1.0 kB"),
        (403_000_000, "bytes", "403.0 MB"),
        (10**15, "bytes", "1000.0 TB"),
        (12345, "records", "12,345 records"),
    ],
)
def test_format_count(count: int, unit: str, text: str) -> None:
    assert format_count(count, unit) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (185, "3 min 05 s"), (7800, "2 h 10 min")]
)
def test_format_duration(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
