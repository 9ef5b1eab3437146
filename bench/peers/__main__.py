"""Install the peers that can be had: `make bench-peers`, or `python -m bench.peers install`.

What is in Python, and warcio.js, by the lock files beside this one, with hashes; what is in Java by
Maven, with its checksum, or built by it at a commit; ReplayWeb.page comes built, with its checksum;
what is in Go is built here, and Go compares its checksums.  What cannot be had is named, with the
reason, and left out.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

from bench.peers import pins

HERE = Path(__file__).parent


def install_python() -> None:
    """Install warcio, FastWARC, cdxj-indexer and pywb into an environment of their own."""
    _have_environment("venv", HERE / "requirements.txt")


def install_archivers() -> None:
    """Install what bench.jobs_and_peers runs besides: others' versions differ from pywb's."""
    _have_environment("archivers", HERE / "archivers.txt")


def install_warcprox() -> None:
    """Install warcprox into another: it and pywb want different versions of one library."""
    _have_environment("crawlers", HERE / "crawlers.txt")


def install_jwarc() -> None:
    """Have Maven fetch jwarc and zstd-jni from where it is configured to, and check their bytes."""
    if not pins.jwarc_jar().is_file():
        _from_maven(pins.JWARC, pins.JWARC_SHA256).rename(pins.jwarc_jar())
    if not pins.zstd_jni_jar().is_file():
        _from_maven(pins.ZSTD_JNI, pins.ZSTD_JNI_SHA256).rename(pins.zstd_jni_jar())


def install_heritrix() -> None:
    """The same for Heritrix, unpacked."""
    if pins.heritrix_home().is_dir():
        return
    packed = _from_maven(pins.HERITRIX, pins.HERITRIX_SHA256)
    with ZipFile(packed) as archive:
        archive.extractall(packed.parent)
    packed.unlink()
    folder = packed.parent / pins.heritrix_home().name
    for program in (folder / "bin").iterdir():
        program.chmod(0o755)  # zipfile does not keep modes
    folder.rename(pins.heritrix_home())


def install_warcio_js() -> None:
    """Have npm install warcio.js by the lock beside this file, without running its scripts."""
    folder = pins.warcio_js().parents[1]
    lock = HERE / "npm" / "package-lock.json"
    if pins.warcio_js().is_dir() and (folder / lock.name).read_bytes() == lock.read_bytes():
        return
    folder.mkdir(exist_ok=True)
    for name in ("package.json", lock.name):
        shutil.copy(HERE / "npm" / name, folder / name)
    subprocess.run(["npm", "ci", "--silent", "--ignore-scripts"], check=True, cwd=folder)


def install_replaywebpage() -> None:
    """Have npm fetch ReplayWeb.page alone, without what it was built from, and check its bytes."""
    if pins.replaywebpage().is_dir():
        return
    aside = pins.peers_dir() / "replaywebpage"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    package = f"replaywebpage@{pins.REPLAYWEBPAGE_VERSION}"
    subprocess.run(["npm", "pack", "--silent", package], check=True, cwd=aside, timeout=600)
    (packed,) = aside.glob("*.tgz")
    if hashlib.sha256(packed.read_bytes()).hexdigest() != pins.REPLAYWEBPAGE_SHA256:
        raise ValueError(f"{package} has another checksum than expected")
    shutil.unpack_archive(packed, aside, filter="data")
    (aside / "package").rename(pins.replaywebpage())
    shutil.rmtree(aside)


def install_browsertrix() -> None:
    """Have npm install what Browsertrix's indexer imports, by the lock beside this file, and bundle
    the indexer, unchanged, from the sources at a commit.

    What it imports and never calls (a browser, S3, proxies) is left out.
    """
    built = pins.browsertrix_indexer()
    lock = HERE / "browsertrix" / "package-lock.json"
    if built.is_file() and (built.parents[2] / lock.name).read_bytes() == lock.read_bytes():
        return
    aside = _fetched("browsertrix", pins.browsertrix_git(), pins.BROWSERTRIX_COMMIT)
    shutil.copy(aside / "package.json", aside / "package-of-crawler.json")
    for path in (HERE / "browsertrix").iterdir():
        shutil.copy(path, aside / path.name)
    subprocess.run(["npm", "ci", "--silent", "--ignore-scripts"], check=True, cwd=aside)
    bundle = ["node_modules/.bin/esbuild", "src/indexer.ts", "--bundle", "--log-level=error"]
    bundle += ["--platform=node", "--format=esm", "--outfile=dist/util/indexer.mjs"]
    bundle += [f"--alias:{name}=./unused.cjs" for name in _UNUSED]
    require = 'import { createRequire } from "node:module"'
    bundle += [f"--banner:js={require}; const require = createRequire(import.meta.url);"]
    subprocess.run(bundle, check=True, cwd=aside, timeout=300)
    (aside / "package-of-crawler.json").rename(aside / "package.json")  # names its version
    shutil.rmtree(built.parents[2], ignore_errors=True)
    aside.rename(built.parents[2])


_UNUSED = (
    "@aws-sdk/client-s3",
    "@aws-sdk/lib-storage",
    "@puppeteer/replay",
    "fetch-socks",
    "puppeteer-core",
)


def install_outbackcdx() -> None:
    """Have Maven build OutbackCDX from the sources at a commit, whose id is their checksum."""
    if pins.outbackcdx_jar().is_file():
        return
    aside = _fetched("outbackcdx", pins.outbackcdx_git(), pins.OUTBACKCDX_COMMIT)
    build = ["mvn", "-B", "-q", "-Dmaven.test.skip=true", "package"]
    subprocess.run(build, check=True, cwd=aside, timeout=900)
    (built,) = (aside / "target").glob("outbackcdx-*.jar")
    built.rename(pins.outbackcdx_jar())
    shutil.rmtree(aside)


def install_versitygw() -> None:
    """Have Go build the S3 server: minutes, and 800 MB of its caches."""
    if not pins.versitygw().is_file():
        environment = {**os.environ, "GOBIN": str(pins.versitygw().parent)}
        subprocess.run(["go", "install", pins.VERSITYGW], check=True, env=environment)


def _fetched(name: str, place: str, commit: str) -> Path:
    """The sources at a commit, in a folder aside."""
    aside = pins.peers_dir() / name
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    for step in (
        ["git", "init", "--quiet"],
        ["git", "fetch", "--quiet", "--depth=1", place, commit],
        ["git", "checkout", "--quiet", commit],
    ):
        subprocess.run(step, check=True, cwd=aside, timeout=900)
    return aside


def _have_environment(name: str, lock: Path) -> None:
    """An environment with what a lock holds; made again when the lock is another."""
    folder = pins.peers_dir() / name
    done = folder / "lock.sha256"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    if done.is_file() and done.read_text() == digest:
        return
    venv.create(folder, with_pip=True, clear=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--require-hashes", "-r", str(lock)], check=True)
    done.write_text(digest)


def _from_maven(artifact: str, sha256: str) -> Path:
    """The file of an artifact, in a folder aside."""
    aside = pins.peers_dir() / "maven"
    shutil.rmtree(aside, ignore_errors=True)
    copy = ["org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy", "-Dtransitive=false"]
    run = ["mvn", "-B", "-q", *copy, f"-Dartifact={artifact}", f"-DoutputDirectory={aside}"]
    subprocess.run(run, check=True, cwd=pins.peers_dir(), timeout=600)
    (found,) = aside.iterdir()
    if hashlib.sha256(found.read_bytes()).hexdigest() != sha256:
        raise ValueError(f"{artifact} has another checksum than expected")
    return found


INSTALL: dict[str, Callable[[], None]] = {
    "Python peers (warcio, FastWARC, cdxj-indexer, pywb)": install_python,
    f"jwarc {pins.JWARC_VERSION}": install_jwarc,
    "wacz, warctools, warcat": install_archivers,
    "warcprox": install_warcprox,
    f"Heritrix {pins.HERITRIX_VERSION}": install_heritrix,
    "warcio.js": install_warcio_js,
    f"ReplayWeb.page {pins.REPLAYWEBPAGE_VERSION}": install_replaywebpage,
    f"Browsertrix's indexer {pins.BROWSERTRIX_VERSION}": install_browsertrix,
    f"OutbackCDX {pins.OUTBACKCDX_COMMIT[:8]}": install_outbackcdx,
    f"versitygw {pins.VERSITYGW_VERSION}": install_versitygw,
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
