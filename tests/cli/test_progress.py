"""Progress: lines off a terminal, a bar on one, silence with -q."""

from __future__ import annotations

import io

import pytest

from pinakes.cli.frame.output import Console
from pinakes.cli.frame.progress import LineProgress, SilentProgress, format_count, format_duration


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
