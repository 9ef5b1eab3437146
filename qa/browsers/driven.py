"""What Selenium needs, whichever driver: a service of ours to end, and its errors translated.

Paths of drivers and browsers are given, so that Selenium's own manager, which would fetch some
and count uses, is never asked.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pinakes.qa.browsers.processes import kill_session
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

# Of `Service`: the driver leads a session of the operating system, as `processes` wants it.
POPEN = {"start_new_session": True}


def wrapped(
    driver: Path, scratch: Path, environment: Mapping[str, str], before: Sequence[str] = ()
) -> str:
    """A script that runs a driver with these variables besides, and behind these words.

    Selenium's services take a whole environment or none, and only `pinakes.config` reads ours.
    """
    variables = [f"{name}={value}" for name, value in environment.items()]
    command = shlex.join(["env", *variables, *before, str(driver)])
    script = scratch / f"run-{driver.name}"
    script.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
    script.chmod(0o700)
    return str(script)


@contextmanager
def translated(*, starts: Service | None = None) -> Iterator[None]:
    """Make BrowserGone or PageRefused of what Selenium raises.

    With `starts`, the driver that is being started: whatever goes wrong, nothing of it is left.
    """
    try:
        yield
    except (JavascriptException, UnexpectedAlertPresentException) as error:
        raise PageRefused(_first_line(error)) from error
    except (InvalidSessionIdException, NoSuchWindowException) as error:
        raise BrowserGone(_first_line(error)) from error
    except WebDriverException as error:
        if starts is not None:
            end(starts)
            raise BrowserGone(_first_line(error)) from error
        said = _first_line(error)
        gone = any(word in said for word in ("disconnected", "crashed", "closed", "Timed out"))
        raise (BrowserGone if gone else PageRefused)(said) from error
    except Exception as error:  # Selenium lets through whatever its HTTP client raises
        if starts is not None:
            end(starts)
        raise BrowserGone(f"{type(error).__name__}: {_first_line(error)}") from error


def end(service: Service) -> None:
    """End a driver and what it started, at once."""
    process: Any = getattr(service, "process", None)
    if process is None:
        return
    kill_session(process.pid)
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


def quit_driver(driver: WebDriver, service: Service) -> None:
    """End a browser without asking it: one that hangs would take its time."""
    end(service)
    connection = getattr(driver, "_websocket_connection", None)
    if connection is not None:
        connection.close()


def _first_line(error: Exception) -> str:
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return first.removeprefix("Message: ")[:300]
