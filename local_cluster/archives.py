"""Archives of loaded classes (JEP 350), which halve the start time of the servers.

A server without an archive writes one at its first orderly stop, which takes some seconds more;
afterwards every cluster of these programs starts with it:

    run/NAME.jsa        what it writes
    run/NAME.jsa-to     where that goes, beside the jars

The JVM checks an archive against jars and Java, and ignores one that does not match.  The class
path has the jars first and the configuration last, because only the part up to the last jar used
must be the same.
"""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path

from local_cluster.daemons import Daemon
from local_cluster.jars import Programs
from local_cluster.layout import Layout


def archive_option(daemon: Daemon, layout: Layout, programs: Programs) -> tuple[str, ...]:
    """JVM options to use the archive of this server, or to write it.

    Call it before each start: it deletes an archive written before and not kept.
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
    """Whether this running server will write one when it stops."""
    return _written(daemon, layout)[1].exists()


def keep_archive(daemon: Daemon, layout: Layout) -> None:
    """Move the archive that this server wrote at an orderly stop beside the jars."""
    written, goes_to = _written(daemon, layout)
    if written.exists():
        archive = Path(goes_to.read_text("utf-8"))
        aside = archive.with_suffix(f".{layout.base_port}")
        shutil.move(written, aside)  # possibly to another file system
        aside.replace(archive)


def _written(daemon: Daemon, layout: Layout) -> tuple[Path, Path]:
    return layout.run / f"{daemon.name}.jsa", layout.run / f"{daemon.name}.jsa-to"


def _archive(daemon: Daemon, programs: Programs) -> Path:
    java = sha256(f"{programs.java} {programs.java_release}".encode()).hexdigest()[:8]
    return programs.jars[daemon.jars] / f"{daemon.archive}-{java}.jsa"
