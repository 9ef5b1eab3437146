"""Which peers, which versions, and why some cannot be had from a package registry."""

from __future__ import annotations

import os
from pathlib import Path

from bench.cache import cache_dir

JWARC_VERSION = "0.36.0"
JWARC_SHA256 = "b472300077903e33c1efcb05d94e62bef8abe3179c6166c9597e6ec6d7c426da"
JWARC = f"org.netpreserve:jwarc:{JWARC_VERSION}"
# With it jwarc reads Zstandard.
ZSTD_JNI_VERSION = "1.5.7-4"
ZSTD_JNI_SHA256 = "e7f064bf1eab83fa785cf587f657f09649e3b0af6f27caa5382416953b5a35f8"
ZSTD_JNI = f"com.github.luben:zstd-jni:{ZSTD_JNI_VERSION}"
# A crawler, for the recipes of docs/ingest.md: on Maven Central as an archive of 49 MB.
HERITRIX_VERSION = "3.4.0-20220727"
HERITRIX_SHA256 = "6f1bb4ca4704b71b57661ccd889419d119a95c07af3580491c963734a6681b49"
HERITRIX = f"org.archive.heritrix:heritrix:{HERITRIX_VERSION}:zip:dist"
# An S3 server over a folder, for the tests of `s3://…`: by Go's module proxy, built by Go 1.25.
VERSITYGW_VERSION = "v1.8.0"
VERSITYGW = f"github.com/versity/versitygw/cmd/versitygw@{VERSITYGW_VERSION}"
# A CDX server in Java.  It is in no Maven repository: Maven builds it from its sources.
OUTBACKCDX_COMMIT = "43c60e8af2a2ac54b76aad056a3bd546f463587c"
OUTBACKCDX_GIT = "https://github.com/nla/outbackcdx"
# The viewer of WACZ files, built: npm's package has what a web server gives out.
REPLAYWEBPAGE_VERSION = "2.4.6"
REPLAYWEBPAGE_SHA256 = "6faef5c261e94b6e83cd6ee975bd0378fd4bc948bb14d36d45c709ffecb261b8"
# Browsertrix's indexer: its packages by npm, and bundled from its sources at a commit.
BROWSERTRIX_VERSION = "1.14.1"
BROWSERTRIX_COMMIT = "2f9a57d3ba14f8c2de6fe9231d4ff0d7036fee96"
BROWSERTRIX_GIT = "https://github.com/webrecorder/browsertrix-crawler"
# Looked for on 2026-11-21, and why each is left out.
ABSENT = (
    ("warchaeology (Go)", "the Go module proxy answered 403 for it where this was written"),
    ("warcdedupe (Rust)", "not in the Rust registry"),
    ("warcat 0.3 (Rust)", "cargo has to compile it, for minutes; warcat 2 in Python is installed"),
    ("warcsum (C), warcrefs (Java)", "in no package registry"),
)


def peers_dir() -> Path:
    """Return the folder that holds the peers, installed or not."""
    return cache_dir() / "peers"


def jwarc_jar() -> Path:
    """Return where jwarc lies once installed."""
    return peers_dir() / f"jwarc-{JWARC_VERSION}.jar"


def zstd_jni_jar() -> Path:
    """Return where zstd-jni lies once installed."""
    return peers_dir() / f"zstd-jni-{ZSTD_JNI_VERSION}.jar"


def outbackcdx_git() -> str:
    """Return where OutbackCDX's sources are fetched from: `$PINAKES_OUTBACKCDX_GIT`, or its own."""
    return os.environ.get("PINAKES_OUTBACKCDX_GIT") or OUTBACKCDX_GIT


def outbackcdx_jar() -> Path:
    """Return where OutbackCDX lies once installed."""
    return peers_dir() / f"outbackcdx-{OUTBACKCDX_COMMIT[:8]}.jar"


def venv_tool(name: str) -> Path:
    """Return where a command of the Python peers lies once installed."""
    return peers_dir() / "venv" / "bin" / name


def archivers() -> Path:
    """Return the environment of wacz, warctools and warcat, and of FastWARC with S3."""
    return peers_dir() / "archivers"


def warcprox() -> Path:
    """Return where warcprox lies once installed: in an environment apart from the other peers."""
    return peers_dir() / "crawlers" / "bin" / "warcprox"


def heritrix_home() -> Path:
    """Return the folder of Heritrix once installed."""
    return peers_dir() / f"heritrix-{HERITRIX_VERSION}"


def warcio_js() -> Path:
    """Return the folder of warcio.js, Browsertrix's writer, once installed."""
    return peers_dir() / "npm" / "node_modules" / "warcio"


def replaywebpage() -> Path:
    """Return the folder of ReplayWeb.page once installed."""
    return peers_dir() / f"replaywebpage-{REPLAYWEBPAGE_VERSION}"


def browsertrix_git() -> str:
    """Return where Browsertrix's sources are fetched from: `$PINAKES_BROWSERTRIX_GIT`, or its
    own."""
    return os.environ.get("PINAKES_BROWSERTRIX_GIT") or BROWSERTRIX_GIT


def browsertrix_indexer() -> Path:
    """Return where Browsertrix's indexer lies once built, for Node.js."""
    return peers_dir() / f"browsertrix-{BROWSERTRIX_COMMIT[:8]}" / "dist" / "util" / "indexer.mjs"


def versitygw() -> Path:
    """Return where the S3 server lies once installed."""
    return peers_dir() / f"versitygw-{VERSITYGW_VERSION}" / "versitygw"
