"""`--runner`: a verb's work done by its mrjob job, here, in several processes or on YARN.

A verb without `--runner` works in this process and needs no mrjob.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pinakes.cli.frame.options import add_settings, configuration_of
from pinakes.config import Configuration
from pinakes.errors import ConfigError

RUNNERS = ("inline", "local", "hadoop")
_SETTINGS = ("store", "job_folder", "job_python", "job_streaming_jar")
_OPTIONS: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        "stored": {
            "action": "store_true",
            "help": "file names are those of files in the store, not paths or hdfs://…",
        },
        "options": {
            "metavar": "TEXT",
            "help": "more options for the job, or for mrjob, as one text: "
            "--options='-D mapreduce.map.memory.mb=2048'",
        },
        "print": {
            "action": "store_true",
            "dest": "print_only",
            "help": "with hadoop: print the command lines that do the same, and run nothing",
        },
    }
)

_ONLY_WITH_RUNNER = MappingProxyType(
    {
        "stored": "--stored",
        "options": "--options",
        "print_only": "--print",
        **{name: f"--{name.replace('_', '-')}" for name in _SETTINGS},
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRunner:
    """Where a job runs, by mrjob's name for it, and what it is told besides the verb's options."""

    name: str
    configuration: Configuration
    stored: bool = False
    options: tuple[str, ...] = ()
    print_only: bool = False

    def refuse(self, given: Mapping[str, object]) -> None:
        """Raise ConfigError for those of these options of the verb that were given."""
        names = [option for option, value in given.items() if value]
        if names:
            raise ConfigError(f"--runner does not support {', '.join(names)}")


def add_runner(
    parser: argparse.ArgumentParser, *takes: str, settings: str = "settings, with --runner"
) -> argparse._ArgumentGroup:
    """`--runner`, its settings, and of `stored`, `options` and `print` those that the job takes.

    What only a job takes besides is to be added to the group that is returned.  `settings` is the
    title of the settings, of which a verb may use some without a job.
    """
    group = parser.add_argument_group("with --runner")
    group.add_argument(
        "--runner",
        choices=RUNNERS,
        help="run as an mrjob job: in this process, in several on this host, or on YARN "
        "(default: no job)",
    )
    for name in takes:
        group.add_argument(f"--{name}", **_OPTIONS[name])
    add_settings(parser, *_SETTINGS, title=settings)
    return group


def runner_of(arguments: argparse.Namespace) -> JobRunner | None:
    """The runner that was asked for; None: the verb works without a job.

    Raises:
        ConfigError: for an option that says how a job is run, where there is none.
    """
    given = {name: value for name, value in vars(arguments).items() if value}
    if arguments.runner is None:
        alone = [option for name, option in _ONLY_WITH_RUNNER.items() if name in given]
        if alone:
            raise ConfigError(f"{', '.join(alone)} need{'s' * (len(alone) == 1)} --runner")
        return None
    if "print_only" in given and arguments.runner != "hadoop":
        raise ConfigError("--print is for --runner hadoop: others have no command line")
    try:
        options = tuple(shlex.split(given.get("options", "")))
    except ValueError as error:
        raise ConfigError(f"--options: {error}") from error
    return JobRunner(
        name=arguments.runner,
        configuration=configuration_of(arguments),
        stored="stored" in given,
        options=options,
        print_only="print_only" in given,
    )
