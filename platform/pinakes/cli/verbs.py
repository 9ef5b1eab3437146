"""The verbs that are built: adding one is adding its line here.

The module `pinakes.cli.NAME` offers `configure(parser)` and `run(arguments, console)`
(see `frame.VerbModule`), and is imported only when its verb is called, so that
`pinakes --help` stays quick.  The order is that of `pinakes --help`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class Verb(NamedTuple):
    """Where a verb lives, and what it does, in one line without a full stop."""

    module: str
    help: str


VERBS = MappingProxyType(
    {
        "init": Verb("pinakes.cli.init", "create the store, or bring its schema up to date"),
        "config": Verb("pinakes.cli.config", "show settings and where each comes from"),
        "ingest": Verb("pinakes.cli.ingest", "add archive files to a crawl"),
        "crawl": Verb("pinakes.cli.crawl", "list, commit, cancel, remove or count crawls"),
        "lookup": Verb("pinakes.cli.lookup", "find where and since when a digest or URL is known"),
        "timeline": Verb("pinakes.cli.timeline", "list the captures of a URL, with their state"),
        "show": Verb("pinakes.cli.show", "show everything about a capture, or its body"),
        "check": Verb("pinakes.cli.check", "check WARC files against ISO 28500, by clause"),
        "manifest": Verb("pinakes.cli.manifest", "list and hash every capture, one per line"),
        "resolve": Verb("pinakes.cli.resolve", "compare bodies of equal digest, byte for byte"),
        "split": Verb("pinakes.cli.split", "split a manifest, keeping each digest in one part"),
        "process": Verb("pinakes.cli.process", "choose which copy is the original"),
        "refs": Verb("pinakes.cli.refs", "rewrite archive files with duplicates as revisits"),
        "validate": Verb("pinakes.cli.validate", "compare archive files before and after"),
        "restore": Verb("pinakes.cli.restore", "turn our revisits back into full records"),
        "convert": Verb("pinakes.cli.convert", "convert ARC to WARC, and back, byte for byte"),
        "commit-copy": Verb("pinakes.cli.commit_copy", "replace a second copy by validated files"),
        "dedupe": Verb("pinakes.cli.dedupe", "find duplicates in the store, write revisits"),
        "study": Verb("pinakes.cli.study", "report what repeats, by crawl, host, type and time"),
        "qa": Verb("pinakes.cli.qa", "check that the pages of a crawl still look right"),
        "serve": Verb("pinakes.cli.serve", "serve a page on landing crawls, metrics, health"),
        "fsck": Verb("pinakes.cli.fsck", "check that rows and files agree; repair"),
        "backup": Verb("pinakes.cli.backup", "copy a snapshot of rows and files elsewhere"),
        "restore-backup": Verb("pinakes.cli.restore_backup", "create a store from a backup"),
        "job": Verb("pinakes.cli.job", "run a job: here, in several processes, or on YARN"),
        "cluster": Verb("pinakes.cli.cluster", "run real servers on this host, for tests"),
    }
)
