"""How a job of ours is handed to Hadoop: its environment, its settings, its limits.

    JOB_FOLDER/environments/environment-HASH.tar.gz      once for each state of what is installed
    JOB_FOLDER/tmp/…                                     what passes between steps, by mrjob

Everything that differs between runners is here; the jobs themselves do not know where they run.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING
from uuid import uuid4

from pinakes.archive_store.anew import publish_copy
from pinakes.archive_store.port import ArchiveStore
from pinakes.config import Configuration, format_settings
from pinakes.errors import ConfigError, InputRefused
from pinakes.hadoop_tools import parse_command
from pinakes.mr_jobs.archive_job import ArchiveJob
from pinakes.mr_jobs.driver.environment import Environment
from pinakes.profile import open_folder

if TYPE_CHECKING:
    from mrjob.hadoop import HadoopJobRunner

ENVIRONMENTS = "environments"
UNPACKED = "environment"
"""The folder, in that of a task, where the environment is."""

JVM_MEMORY_MB = 256
"""Of the memory of a task, what the JVM takes that feeds the task; the rest is Python's."""


def job_folder(configuration: Configuration) -> str:
    """The folder in HDFS that jobs use.

    Raises:
        ConfigError: where there is no HDFS.
    """
    if configuration.job_folder is not None:
        return configuration.job_folder.rstrip("/")
    if configuration.profile != "cluster" or configuration.hdfs is None:
        raise ConfigError("jobs run on Hadoop with profile = cluster")
    return f"{configuration.hdfs.rstrip('/')}-jobs"


def settings_text(configuration: Configuration) -> str:
    """The configuration in force, but for defaults, as a pinakes.toml for tasks.

    Without its tables, which are of the driver alone.  Tasks work in folders of their own, so
    paths are absolute, that of the store also where it is the default.
    """
    given: dict[str, str] = {}
    for name, value in configuration.values().items():
        is_default = configuration.origins.get(name, "default") == "default"
        if isinstance(value, Path) and (not is_default or name == "store"):
            given[name] = str(value.absolute())
        elif not (is_default or value is None or isinstance(value, (tuple, Path))):
            given[name] = str(value)
    return format_settings(given)


def ensure_environment(folder: ArchiveStore, environment: Environment) -> None:
    """Put the environment there, unless it is; two at once do no harm."""
    name = environment.archive_name
    if folder.size(name) is not None:
        return
    with TemporaryFile() as packed:
        environment.pack(packed)
        try:
            publish_copy(folder, packed, name, token=uuid4().hex)
        except InputRefused:
            if folder.size(name) is None:
                raise
            # Another process has put it there since we looked: its name is a hash of what is in it.


def hadoop_arguments(configuration: Configuration, job: type[ArchiveJob]) -> list[str]:
    """The words that make a job run on YARN; its environment is there afterwards."""
    home = job_folder(configuration)
    require_hadoop(configuration)
    environment = Environment(job.EXTRAS)
    with open_folder(f"{home}/{ENVIRONMENTS}", configuration) as folder:
        ensure_environment(folder, environment)
    jar = configuration.job_streaming_jar
    return [
        *("--runner", "hadoop", "--no-conf", "--no-bootstrap-mrjob"),
        *("--hadoop-bin", configuration.hadoop_command),
        *(("--hadoop-streaming-jar", str(jar)) if jar is not None else ()),
        *("--hadoop-tmp-dir", f"{home}/tmp"),
        *("--python-bin", configuration.job_python),
        *("--archives", f"{home}/{ENVIRONMENTS}/{environment.archive_name}#{UNPACKED}"),
        *_task_environment(),
        *_limits(job.MEMORY_MB),
        *shlex.split(configuration.job_options),  # the last word on what is said above
    ]


def require_hadoop(configuration: Configuration) -> None:
    """Raise ConfigError where jobs cannot be handed to YARN from here."""
    command = parse_command(configuration.hadoop_command)[0]
    if shutil.which(command) is None:
        raise ConfigError(f"hadoop_command: there is no {command} here")
    jar = configuration.job_streaming_jar
    if jar is not None and not jar.is_file():
        raise ConfigError(f"job_streaming_jar: there is no file {jar}")


def require_streaming_jar(runner: HadoopJobRunner) -> None:
    """Raise ConfigError where mrjob, asked for the jar of Hadoop Streaming, finds none."""
    if runner.get_hadoop_streaming_jar() is None:
        raise ConfigError(
            "job_streaming_jar names no hadoop-streaming-….jar, and none is below HADOOP_HOME"
        )


def _task_environment() -> list[str]:
    variables = {
        "PYTHONPATH": UNPACKED,
        "PYTHONNOUSERSITE": "1",
        # What is unpacked is shared by the tasks of a host, and not theirs to write in.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return [word for name, value in variables.items() for word in ("--cmdenv", f"{name}={value}")]


def _limits(memory_mb: int) -> list[str]:
    """Python is a child of the task's JVM, and YARN counts what both take.

    A map has a block of lines, or a list of files: Hadoop would cut what is smaller in two.
    """
    values = {"mapreduce.job.maps": "1"}
    for kind in ("map", "reduce"):
        values[f"mapreduce.{kind}.memory.mb"] = str(memory_mb)
        values[f"mapreduce.{kind}.java.opts"] = f"-Xmx{JVM_MEMORY_MB}m"
    return [word for name, value in values.items() for word in ("-D", f"{name}={value}")]


def write_settings(configuration: Configuration, folder: Path) -> Path:
    """The file of settings that goes with a job."""
    path = folder / "settings.toml"
    path.write_text(settings_text(configuration), encoding="utf-8")
    return path
