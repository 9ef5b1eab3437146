"""The verbs that are built: adding one is adding its line here.

The module `pinakes.cli.verbs.NAME` offers `configure(parser)` and `run(arguments, console)`
(see `pinakes.cli.parsers.VerbModule`), and is imported only when its verb is called, so that
`pinakes --help` stays quick.  The order is that of `pinakes --help`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class Verb(NamedTuple):
    """Where a verb lives, and what it does, in one line without a full stop."""

    module: str
    help: str


_HELP = {
    "init": "create the store, or bring its schema up to date",
    "status": "show what the store has, what is at work, what needs care",
    "config": "show settings and where each comes from",
    "ingest": "add archive files to a crawl",
    "import-wacz": "import WACZ files, each whole or not at all",
    "import-cdx": "take index lines of archives that lie elsewhere",
    "crawl": "list, commit, remove or count crawls",
    "redis": "share the index with crawlers, by a Redis",
    "withdraw": "take captures down, wherever their bytes are",
    "lookup": "find where and since when a digest or URL is known",
    "timeline": "list the captures of a URL, with their state",
    "show": "show everything about a capture, or its body",
    "ls": "list records, or count them by kind",
    "cat": "write a record, its headers or its body",
    "filter": "copy some records into a file of their own",
    "unpack": "write bodies, or records, as files of a folder",
    "cdx": "write the index in which replay tools look up captures",
    "check": "check WARC files against ISO 28500, by clause",
    "repair": "write corrected WARC files where a writer was wrong",
    "manifest": "list and hash every capture, one per line",
    "resolve": "compare bodies of equal digest, byte for byte",
    "split": "split a manifest, keeping each digest in one part",
    "process": "choose which copy is the original",
    "refs": "rewrite archive files with duplicates as revisits",
    "validate": "compare archive files before and after",
    "restore": "turn our revisits back into full records",
    "convert": "convert ARC to WARC, and back, byte for byte",
    "commit-copy": "replace a second copy by validated files",
    "dedupe": "find duplicates in the store, write revisits",
    "generations": "list old generations of files, or drop them",
    "export-wacz": "write a crawl as a WACZ file",
    "zstd": "compress archive files in Zstandard, and back",
    "study": "report what repeats, by crawl, host, type and time",
    "qa": "check that the pages of a crawl still look right",
    "serve": "serve a page on landing crawls, metrics, health",
    "fsck": "check that rows and files agree; repair",
    "backup": "copy a snapshot of rows and files elsewhere",
    "restore-backup": "create a store from a backup",
    "cluster": "run real servers on this host, for tests",
    "completion": "print the completion script of a shell",
    "manual": "print the manual page",
}

VERBS = MappingProxyType(
    {name: Verb(f"{__name__}.{name.replace('-', '_')}", text) for name, text in _HELP.items()}
)
