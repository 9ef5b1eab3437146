"""The command line: verbs are imported when called, errors become exit codes."""

from __future__ import annotations

import argparse
import errno
import inspect
import json
import logging
import os
import signal
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pinakes import __version__, errors
from pinakes.cli import main
from pinakes.cli.command import run
from pinakes.cli.frame.exits import Exit, Terminated, describe, exit_for
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs import Verb
from pinakes.errors import ConfigError, StoreUnavailable

Action = Callable[[argparse.Namespace, Console], int]


@pytest.fixture
def verb() -> Iterator[Callable[[Action], dict[str, Verb]]]:
    """Make a table of one verb, `try`, that does what the test says."""
    name = "pinakes_verb_of_a_test"

    def make(action: Action) -> dict[str, Verb]:
        module = types.ModuleType(name)

        def configure(parser: argparse.ArgumentParser) -> None:
            nested = parser.add_subparsers(dest="nested", metavar="NESTED")
            nested.add_parser("inner")
            parser.add_argument("--run")

        module.configure = configure  # type: ignore[attr-defined]
        module.run = action  # type: ignore[attr-defined]
        sys.modules[name] = module
        return {"try": Verb(name, "try something")}

    yield make
    sys.modules.pop(name, None)


def raising(error: BaseException) -> Action:
    def action(arguments: argparse.Namespace, console: Console) -> int:
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ConfigError("no such setting"), 2, "pinakes: error: no such setting\n"),
        (OSError(errno.ENOENT, "No such file", "a\n"), 3, "pinakes: error: a\\n: No such file\n"),
        (StoreUnavailable("gone"), 4, "pinakes: error: gone; safe to run again\n"),
        (KeyboardInterrupt(), 5, "pinakes: stopped; safe to run again\n"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_an_error_ends_with_its_code_and_one_line(
    verb: Callable[[Action], dict[str, Verb]],
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    message: str,
) -> None:
    assert run(["try"], verb(raising(error))) == code
    assert capsys.readouterr() == ("", message)


def test_warnings_that_repeat_are_counted_before_the_error_that_ends_the_verb(
    verb: Callable[[Action], dict[str, Verb]], capsys: pytest.CaptureFixture[str]
) -> None:
    def action(arguments: argparse.Namespace, console: Console) -> int:
        for number in range(5):
            console.warn(f"record {number} is lost", kind="a record is lost")
        raise StoreUnavailable("gone")

    assert run(["try"], verb(action)) == Exit.STORE
    assert capsys.readouterr().err.splitlines()[3:] == [
        "pinakes: warning: 2 more: a record is lost; --verbose names them all",
        "pinakes: error: gone; safe to run again",
    ]
    run(["try", "-v"], verb(action))
    assert "record 4 is lost" in capsys.readouterr().err


def test_a_bug_says_that_it_is_one(
    verb: Callable[[Action], dict[str, Verb]], capsys: pytest.CaptureFixture[str]
) -> None:
    table = verb(raising(KeyError("x")))
    assert run(["try"], table) == 70
    shown = capsys.readouterr().err
    assert "this is a bug" in shown
    assert "Traceback" not in shown
    assert run(["try", "-v"], table) == 70
    assert "Traceback" in capsys.readouterr().err


def test_what_a_library_logs_is_json_too(
    verb: Callable[[Action], dict[str, Verb]], capsys: pytest.CaptureFixture[str]
) -> None:
    def action(arguments: argparse.Namespace, console: Console) -> int:
        logging.getLogger("a.library").warning("odd")
        raise KeyError("x")

    assert run(["try", "--log-format", "json"], verb(action)) == 70
    said = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(one["level"], one["logger"]) for one in said] == [
        ("warning", "a.library"),
        ("error", "pinakes"),
    ]


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        ([], "missing: VERB; see pinakes --help"),
        (["try", "--no-such"], "unknown option --no-such; see pinakes try --help"),
        (["tyr"], "unknown verb tyr: use try; see pinakes --help"),
        (["try", "ni\nner"], "unknown nested ni\\nner: use inner; see pinakes try --help"),
        (["try", "inner", "--jsn"], "unknown option --jsn: did you mean --json?"),
        (["--jsn", "try", "inner"], "unknown option --jsn: did you mean --json?"),
        (["try", "--rnu=1"], "unknown option --rnu: did you mean --run?"),
        (["try", "--run"], "--run needs a value; see pinakes try --help"),
        (["try", "inner", "x"], "unexpected argument 'x'; see pinakes try inner --help"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_call_is_one_line_and_says_what_to_do(
    verb: Callable[[Action], dict[str, Verb]],
    capsys: pytest.CaptureFixture[str],
    argv: list[str],
    told: str,
) -> None:
    assert run(argv, verb(raising(AssertionError()))) == Exit.WRONG_CALL
    assert capsys.readouterr() == ("", f"pinakes: error: {told}\n")


@pytest.mark.parametrize(
    "argv", [["try", "-q"], ["-q", "try"], ["try", "inner", "-q"], ["try", "-q", "inner"]], ids=str
)
def test_global_options_hold_at_every_level(
    verb: Callable[[Action], dict[str, Verb]], argv: list[str]
) -> None:
    seen = []

    def action(arguments: argparse.Namespace, console: Console) -> int:
        seen.append((console.quiet, console.json, arguments.config, arguments.run))
        return Exit.FOUND

    assert run(argv, verb(action)) == 1
    assert seen == [(True, False, None, None)]


def test_sigterm_is_a_stop_and_the_old_handler_comes_back(
    verb: Callable[[Action], dict[str, Verb]], capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGTERM)

    def action(arguments: argparse.Namespace, console: Console) -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("not stopped")

    assert run(["try"], verb(action)) == 5
    assert "safe to run again" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(
    "argv",
    [[], ["no-such-verb"], ["config", "--no-such-option"], ["config", "--job", "1"]],
    ids=str,
)
def test_a_wrong_call_is_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert capsys.readouterr().out == ""


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"pinakes {__version__}\n"


def test_config_prints_each_value_and_its_origin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pinakes.toml"
    file.write_text('store = "here"\n')
    monkeypatch.setenv("PINAKES_CELL_VERSIONS", "3")
    assert main(["config", "--json", "--config", str(file), "--jobs", "2"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = {line["setting"]: (line["value"], line["origin"]) for line in lines}
    assert found["store"] == (str(tmp_path / "here"), str(file))
    assert found["cell_versions"] == (3, "environment variable PINAKES_CELL_VERSIONS")
    assert found["jobs"] == (2, "option --jobs")
    assert found["max_extra_bytes"] == (None, "default")
    assert main(["config", "--config", str(file)]) == 0
    assert f"store = {tmp_path / 'here'}  ({file})" in capsys.readouterr().out


def test_a_reader_who_leaves_early_is_no_traceback() -> None:
    # With no reader at all, the first write fails, on every machine.
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        [sys.executable, "-m", "pinakes.cli", "config"],
        stdout=write_end,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (5, b"")


@pytest.mark.parametrize(
    ("argument", "unbuffered"), [("config", ""), ("config", "1"), ("--help", "")]
)
def test_a_full_disk_is_said_however_late(argument: str, unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pinakes.cli", argument],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert "the disk is full" in done.stderr


@pytest.mark.parametrize("closed", [1, 2])
def test_a_closed_stream_is_one_that_nobody_reads(closed: int) -> None:
    command = f"{sys.executable} -m pinakes.cli config {closed}>&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_help_has_no_colours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is the same on every Python; from 3.14 on argparse would paint it."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    for words in (["--help"], ["qa", "--help"], ["qa", "run", "--help"]):
        main(words)
        assert "\N{ESCAPE}" not in capsys.readouterr().out


def test_help_imports_neither_a_verb_nor_anything_heavy() -> None:
    code = (
        "import sys; from pinakes.cli import main; main(['--help']);"
        "print([name for name in sys.modules if name.partition('.')[0] in"
        " ('pyarrow', 'rich', 'warcio', 'isal', 'asyncio')"
        " or name.startswith(('pinakes.warc', 'pinakes.cli.verbs.config', 'pinakes.row'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.startswith("usage: pinakes")
    assert done.stdout.splitlines()[-1] == "[]"


# --- Every error class has an exit code, and a message that says where


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ConfigError("x"), 2),
        (errors.MissingExtra("x"), 2),
        (errors.SchemaError("x"), 2),
        (errors.MalformedRecord("x"), 3),
        (errors.DigestMismatch("x"), 3),
        (errors.UnresolvedReference("x"), 3),
        (errors.InputRefused("x"), 3),
        (errors.Conflict("x"), 3),
        (errors.StoreUnavailable("x"), 4),
        (FileNotFoundError(errno.ENOENT, "No such file", "a.warc"), 3),
        (PermissionError(errno.EACCES, "Permission denied", "a.warc"), 3),
        (OSError(errno.ENOSPC, "No space left on device", "out.warc"), 4),
        (OSError(errno.EDQUOT, "Quota exceeded", "out.warc"), 4),
        (KeyboardInterrupt(), 5),
        (Terminated("SIGTERM"), 5),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 5),
        (ZeroDivisionError("x"), 70),
        (AssertionError(), 70),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else str(value),
)
def test_exit_code(error: BaseException, code: int) -> None:
    assert exit_for(error) == code


@pytest.mark.parametrize(
    ("argv", "profile", "wanted"),
    [
        (["dedupe", "--all", "--runner", "hadoop"], "embedded", "profile = cluster"),
        (["crawl", "list"], "cluster", "cluster"),
        (["init"], "cluster", "cluster"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_what_is_missing_is_named(
    argv: list[str],
    profile: str,
    wanted: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PINAKES_PROFILE", profile)
    assert main(argv) == Exit.WRONG_CALL
    assert wanted in capsys.readouterr().err


def test_every_error_class_is_something_the_caller_can_act_on() -> None:
    classes = [
        cls
        for _, cls in inspect.getmembers(errors, inspect.isclass)
        if issubclass(cls, errors.PinakesError)
    ]
    assert len(classes) > 5
    assert {exit_for(cls("x")) for cls in classes} == {
        Exit.WRONG_CALL,
        Exit.SOME_FAILED,
        Exit.STORE,
    }


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (errors.MalformedRecord("no CRLF", file="a.warc", offset=12), ["a.warc:12: no CRLF"]),
        (OSError(errno.ENOSPC, "No space left", "/out/b.warc"), ["disk is full", "/out/b.warc"]),
        (OSError(errno.ENOSPC, "No space left"), ["disk is full", "make room"]),
        (OSError(errno.EDQUOT, "Quota", "/out/b"), ["over quota", "/out/b"]),
        (FileNotFoundError(errno.ENOENT, "No such file", "a"), ["a: No such file"]),
        (OSError(errno.EXDEV, "Cross-device link", "a", None, "b"), ["a -> b: Cross-device"]),
        (OSError("odd"), ["odd"]),
        (Terminated("SIGTERM"), ["safe to run again"]),
        (ValueError("what"), ["this is a bug", "ValueError: what", "-v"]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_message(error: BaseException, words: list[str]) -> None:
    message = describe(error)
    assert all(word in message for word in words), message
    assert "\n" not in message
