"""Every error class has an exit code, and a message that says where."""

from __future__ import annotations

import errno
import inspect

import pytest

from pinakes import errors
from pinakes.cli import main
from pinakes.cli.frame.exits import Exit, Terminated, describe, exit_for


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
