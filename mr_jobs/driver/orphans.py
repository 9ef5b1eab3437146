"""Ends what a dead driver has left: applications on YARN, and the processes of mrjob's runner
`local`, which watch its tasks.

The latter are forked from ours, and end their tasks as they leave.  When a task has failed, they
get SIGTERM while ours raises: a traceback of each would be printed around the one line that says
what is wrong; and if they died at once, their tasks would be left behind.  So it is when ours is
killed.
"""

from __future__ import annotations

import multiprocessing
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.util import register_after_fork

from pinakes.config import Configuration
from pinakes.ending import end_with_parent, leave_when_told
from pinakes.hadoop_tools import parse_command, run_tool

_CLI = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
_APPLICATION = re.compile(r"^application_\d+_\d+\b", re.MULTILINE)
_GOES_ON = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"


def tag_words(tag: str) -> tuple[str, ...]:
    """Words that make a job known by this tag: letters, digits, `-`, `_`.

    In small letters: YARN turns them into such, and then finds no others.
    """
    return ("-D", f"mapreduce.job.tags={tag.lower()}")


def end_orphans(tag: str, configuration: Configuration) -> list[str]:
    """End the applications that bear a tag; their names.

    Raises:
        StoreUnavailable: where YARN cannot be asked.
    """
    command = [*parse_command(configuration.hadoop_command), _CLI, "application"]
    listed = run_tool([*command, "-list", "-appTags", tag.lower(), "-appStates", _GOES_ON])
    found = _APPLICATION.findall(listed)
    for application in found:
        run_tool([*command, "-kill", application])
    return found


class _Lifetime:
    """What the registration lives as long as."""


@contextmanager
def tied_workers() -> Iterator[None]:
    """While this lasts, multiprocessing forks, and what it forks ends with our process.

    They leave by `SystemExit`.  From Python 3.14 on a server would start them, which knows
    nothing of us; mrjob asks for no method.
    """
    lifetime = _Lifetime()
    register_after_fork(lifetime, partial(_tie, os.getpid()))
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("fork", force=True)
    try:
        yield
    finally:
        multiprocessing.set_start_method(before, force=True)


def _tie(parent: int, _: object) -> None:
    leave_when_told()
    end_with_parent(parent)
