"""The servers' programs: fetched from Maven Central once, and kept in a cache folder.

    CACHE/hadoop-DIGEST/*.jar
    CACHE/hbase-DIGEST/*.jar

DIGEST is that of the list of jars (`poms/NAME.xml`): a new version is stored beside the old one.
Hadoop and HBase have separate folders, because they need different versions of the same jars.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from pinakes.errors import ConfigError, StoreUnavailable

NAMES = ("hadoop", "hbase")
_OLDEST_JAVA, _NEWEST_JAVA = 17, 21


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """A Java, its file `release`, and folders of jars by name."""

    java: Path
    java_release: str
    jars: Mapping[str, Path]

    def class_path(self, name: str, *conf: Path) -> str:
        """Jars in a fixed order, then the configuration, as JVMs take it from `CLASSPATH`."""
        jars = sorted(str(jar) for jar in self.jars[name].glob("*.jar"))
        return ":".join([*jars, *map(str, conf)])


def have_programs(cache: Path, say: Callable[[str], None]) -> Programs:
    """Find Java, and fetch the jars that are not in `cache` yet.

    Raises:
        ConfigError: Java or Maven is missing, or Java has an unsupported version.
        StoreUnavailable: Maven failed.
    """
    java, release = find_java()
    jars = {name: _have_jars(name, cache, say) for name in NAMES}
    return Programs(java=java, java_release=release, jars=MappingProxyType(jars))


def find_java() -> tuple[Path, str]:
    """The `java` on PATH, by its real name, and its file `release`; ConfigError if unfit."""
    found = shutil.which("java")
    if found is None:
        raise ConfigError("java not found on PATH: as root, apt-get install default-jre-headless")
    java = Path(found).resolve()
    try:
        release = (java.parent.parent / "release").read_text("utf-8")
    except OSError:
        release = ""
    version = java_version(release)
    if version is not None and not _OLDEST_JAVA <= version <= _NEWEST_JAVA:
        raise ConfigError(
            f"{java} is Java {version}; Hadoop and HBase need {_OLDEST_JAVA} to {_NEWEST_JAVA}"
        )
    return java, release


def java_version(release: str) -> int | None:
    """The major version in the file `release` of a JDK; None if there is none."""
    match = re.search(r'^JAVA_VERSION="(\d+)', release, re.MULTILINE)
    return int(match[1]) if match else None


def _have_jars(name: str, cache: Path, say: Callable[[str], None]) -> Path:
    pom = files("local_cluster").joinpath(f"poms/{name}.xml").read_bytes()
    folder = cache / f"{name}-{sha256(pom).hexdigest()[:12]}"
    if not folder.is_dir():
        say(f"fetching the jars of {name} by Maven, once, into {folder}")
        _fetch(pom, folder)
    return folder


def _fetch(pom: bytes, folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise ConfigError("mvn not found on PATH: as root, apt-get install maven")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fetching-") as aside:
        (Path(aside) / "pom.xml").write_bytes(pom)
        jars = Path(aside) / "jars"
        command = [
            *(maven, "-B", "-q", "-f", f"{aside}/pom.xml", "dependency:copy-dependencies"),
            *("-DincludeScope=runtime", f"-DoutputDirectory={jars}"),
        ]
        done = subprocess.run(  # noqa: S603  words of ours, and no shell
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            last = "\n".join((done.stdout + done.stderr).strip().splitlines()[-5:])
            raise StoreUnavailable(f"Maven could not fetch {folder.name}: {last}")
        try:
            jars.rename(folder)
        except OSError:  # another process was faster, with the same jars
            if not folder.is_dir():
                raise
