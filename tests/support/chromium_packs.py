"""Chromium from npm packages (@sparticuz/chromium): downloaded once, checked by digest.

    CACHE/chromium-VERSION/chromium        the browser, and its libraries beside it

Needs npm.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import brotli

from pinakes.errors import ConfigError, DigestMismatch, StoreUnavailable

# Package version to the SHA-256 of the file that `npm pack` writes.
PACKS = {
    "92.0.0": "ae2070e08840e30bb50dbfffe9824d428d46445436bf08147e7f9102294a28ca",
    "106.0.0": "7dc835293cd4bf75332f9245000cc4922bd51a08c0a6e8526c62ddb5628d0e4c",
    "119.0.2": "dd80591c6748586980ba09af9357e2d428fbe1a448641f30bad020d36490a19f",
    "131.0.1": "42004ef1ad2ac2179c1281e29dc0557a9419c60724bba9267da94b414625e85e",
}


def have_packs(cache: Path, say: Callable[[str], None]) -> None:
    """Download and unpack what is not in the cache folder yet.

    Raises:
        ConfigError: npm is not installed.
        StoreUnavailable: npm could not download it.
        DigestMismatch: the download has another digest.
    """
    for version, digest in PACKS.items():
        folder = cache / f"chromium-{version}"
        if not folder.is_dir():
            say(f"downloading Chromium from @sparticuz/chromium {version} into {folder}")
            _have(version, digest, folder)


def _have(version: str, digest: str, folder: Path) -> None:
    cache = folder.parent
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".fetching-") as aside:
        archive = _fetch(version, Path(aside))
        content = archive.read_bytes()
        if sha256(content).hexdigest() != digest:
            raise DigestMismatch(f"@sparticuz/chromium {version} has changed")
        whole = Path(aside) / "whole"
        whole.mkdir()
        unpack(content, whole)
        try:
            whole.rename(folder)
        except OSError:  # another process was faster, with the same bytes
            if not folder.is_dir():
                raise


def _fetch(version: str, aside: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise ConfigError("npm not found on PATH; install it: apt-get install npm")
    command = [npm, "pack", "--silent", f"@sparticuz/chromium@{version}"]
    done = subprocess.run(
        command,
        cwd=aside,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    archives = list(aside.glob("*.tgz"))
    if done.returncode != 0 or len(archives) != 1:
        last = "\n".join((done.stdout + done.stderr).strip().splitlines()[-5:])
        raise StoreUnavailable(f"npm could not download Chromium {version}: {last}")
    return archives[0]


def unpack(content: bytes, folder: Path) -> None:
    """Extract the browser and the software renderer from an npm package."""
    with tarfile.open(fileobj=io.BytesIO(content)) as package:
        for name in ("chromium.br", "swiftshader.tar.br"):
            packed = package.extractfile(f"package/bin/{name}")
            if packed is None:
                raise DigestMismatch(f"the package has no {name}")
            unpacked = brotli.decompress(packed.read())
            if name.endswith(".tar.br"):
                with tarfile.open(fileobj=io.BytesIO(unpacked)) as inner:
                    inner.extractall(folder, filter="data")
            else:
                (folder / "chromium").write_bytes(unpacked)
                (folder / "chromium").chmod(0o755)
