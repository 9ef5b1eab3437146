"""Archives of loaded classes, which halve the time in which the servers start (JEP 350).

A server that has none yet writes one when it stops in good order, which takes it some seconds
more; every cluster of these programs starts with it from then on:

    run/NAME.jsa        what it writes
    run/NAME.jsa-to     where that goes, beside the jars

The JVM checks an archive against jars and Java, and does without where it does not fit.  The
class path has the jars first and the configuration last, for only what comes before the last
jar that is used must be the same.
"""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path

from pinakes.cluster.daemons import Daemon
from pinakes.cluster.jars import Programs
from pinakes.cluster.layout import Layout


def archive_option(daemon: Daemon, layout: Layout, programs: Programs) -> tuple[str, ...]:
    """The JVM's options to use the archive of this server, or to write it.

    Call it before each start: it forgets what was written before.
    """
    archive = _archive(daemon, programs)
    written, goes_to = _written(daemon, layout)
    for file in (written, goes_to):
        file.unlink(missing_ok=True)
    if archive.exists():
        return (f"-XX:SharedArchiveFile={archive}",)
    if daemon.name != daemon.archive:
        return ()
    goes_to.write_text(str(archive), "utf-8")
    return (f"-XX:ArchiveClassesAtExit={written}",)


def writes_archive(daemon: Daemon, layout: Layout) -> bool:
    """Will this server, which runs, write one when it stops?"""
    return _written(daemon, layout)[1].exists()


def keep_archive(daemon: Daemon, layout: Layout) -> None:
    """Put beside the jars what this server has written, having stopped in good order."""
    written, goes_to = _written(daemon, layout)
    if written.exists():
        archive = Path(goes_to.read_text("utf-8"))
        aside = archive.with_suffix(f".{layout.base_port}")
        shutil.move(written, aside)  # to another file system, perhaps
        aside.replace(archive)


def _written(daemon: Daemon, layout: Layout) -> tuple[Path, Path]:
    return layout.run / f"{daemon.name}.jsa", layout.run / f"{daemon.name}.jsa-to"


def _archive(daemon: Daemon, programs: Programs) -> Path:
    java = sha256(f"{programs.java} {programs.java_release}".encode()).hexdigest()[:8]
    return programs.jars[daemon.jars] / f"{daemon.archive}-{java}.jsa"
