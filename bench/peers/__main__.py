"""Install the peers that can be had: `make bench-peers`, or `python -m bench.peers install`.

Python peers by the lock file beside this one, with hashes; jwarc by Maven, with its
checksum.  What cannot be had is named, with the reason, and left out.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

from bench.peers import pins

LOCK = Path(__file__).with_name("requirements.txt")


def install_python() -> None:
    """Install warcio, FastWARC, cdxj-indexer and pywb into an environment of their own."""
    done = pins.peers_dir() / "venv" / "lock.sha256"
    lock = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if done.is_file() and done.read_text() == lock:
        return
    venv.create(pins.peers_dir() / "venv", with_pip=True, clear=True)
    pip = [str(pins.venv_tool("python")), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--require-hashes", "-r", str(LOCK)], check=True)
    done.write_text(lock)


def install_jwarc() -> None:
    """Have Maven fetch jwarc from where it is configured to, and check its bytes."""
    if pins.jwarc_jar().is_file():
        return
    aside = pins.peers_dir() / "maven"
    copy = ["org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy", "-Dtransitive=false"]
    run = ["mvn", "-B", "-q", *copy, f"-Dartifact={pins.JWARC}", f"-DoutputDirectory={aside}"]
    subprocess.run(run, check=True, cwd=pins.peers_dir(), timeout=600)
    jar = aside / pins.jwarc_jar().name
    if hashlib.sha256(jar.read_bytes()).hexdigest() != pins.JWARC_SHA256:
        raise ValueError(f"{pins.JWARC} has another checksum than expected")
    jar.rename(pins.jwarc_jar())


INSTALL: dict[str, Callable[[], None]] = {
    "Python peers (warcio, FastWARC, cdxj-indexer, pywb)": install_python,
    f"jwarc {pins.JWARC_VERSION}": install_jwarc,
}


def main() -> None:
    """Install each peer; name the absent, and why."""
    if sys.argv[1:] != ["install"]:
        raise SystemExit(__doc__)
    pins.peers_dir().mkdir(parents=True, exist_ok=True)
    for name, install in INSTALL.items():
        try:
            install()
            print(f"installed  {name}")
        except (OSError, ValueError, subprocess.SubprocessError) as why:
            print(f"absent     {name}: {why}")
    for name, why_not in pins.ABSENT:
        print(f"absent     {name}: {why_not}")
    print(f"in {pins.peers_dir()}")


if __name__ == "__main__":
    main()
