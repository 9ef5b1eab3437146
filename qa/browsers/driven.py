"""What all Selenium drivers need: ending their processes, and translating their errors.

Paths of drivers and browsers are given, so that Selenium's own manager, which downloads drivers
and reports usage, is never used.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pinakes.qa.browsers.processes import called_after, kill_session
from pinakes.qa.browsers.selenium_extra import (
    InvalidSessionIdException,
    JavascriptException,
    NoSuchWindowException,
    Service,
    UnexpectedAlertPresentException,
    WebDriver,
    WebDriverException,
)
from pinakes.qa.browsers.tab import BrowserGone, PageRefused

# A driver and a browser that do not answer; both start in a second or two.
_START_S = 120.0
# For `Service`: the driver leads an operating-system session, as `processes` needs it.
POPEN = {"start_new_session": True}


def wrapped(
    driver: Path, scratch: Path, environment: Mapping[str, str], before: Sequence[str] = ()
) -> str:
    """A script that runs a driver with more variables, prefixed with these words.

    Selenium's services take a complete environment or none, and only `pinakes.config` reads ours.
    """
    variables = [f"{name}={value}" for name, value in environment.items()]
    command = shlex.join(["env", *variables, *before, str(driver)])
    script = scratch / f"run-{driver.name}"
    script.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
    script.chmod(0o700)
    return str(script)


@contextmanager
def translated() -> Iterator[None]:
    """Turn Selenium's errors into BrowserGone or PageRefused."""
    try:
        yield
    except (JavascriptException, UnexpectedAlertPresentException) as error:
        raise PageRefused(_first_line(error)) from error
    except (InvalidSessionIdException, NoSuchWindowException) as error:
        raise BrowserGone(_first_line(error)) from error
    except WebDriverException as error:
        said = _first_line(error)
        gone = any(word in said for word in ("disconnected", "crashed", "closed", "Timed out"))
        raise (BrowserGone if gone else PageRefused)(said) from error
    except Exception as error:  # Selenium does not catch errors of its HTTP client
        raise BrowserGone(f"{type(error).__name__}: {_first_line(error)}") from error


@contextmanager
def starting(service: Service, *, limit_s: float = _START_S) -> Iterator[None]:
    """Turn Selenium's errors into BrowserGone, with all processes of the driver ended.

    So it is after that time, too: Selenium itself waits for an answer without a limit.
    """
    with called_after(limit_s, lambda: end(service)) as struck:
        try:
            with translated():
                yield
        except (BrowserGone, PageRefused) as error:
            end(service)
            said = f"no answer within {limit_s:g} s" if struck.is_set() else str(error)
            raise BrowserGone(said) from error


def end(service: Service) -> None:
    """Kill a driver and all that it started."""
    process: Any = getattr(service, "process", None)
    if process is None:
        return
    kill_session(process.pid)
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


def quit_driver(driver: WebDriver, service: Service) -> None:
    """Kill a browser without asking it to quit: one that hangs would not."""
    end(service)
    connection = getattr(driver, "_websocket_connection", None)
    if connection is not None:
        connection.close()


def _first_line(error: Exception) -> str:
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return first.removeprefix("Message: ")[:300]
