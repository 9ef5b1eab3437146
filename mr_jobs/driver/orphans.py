"""Applications on YARN whose driver has died: they go on, for nobody."""

from __future__ import annotations

import re

from pinakes.config import Configuration
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
