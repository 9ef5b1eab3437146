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
        "init": Verb("pinakes.cli.init", "make the store, or bring it up to date"),
        "config": Verb("pinakes.cli.config", "the configuration in force, and whence each value"),
        "ingest": Verb("pinakes.cli.ingest", "land archive files into a crawl"),
        "crawl": Verb("pinakes.cli.crawl", "list, commit, cancel and remove crawls; count them"),
        "lookup": Verb("pinakes.cli.lookup", "is a digest or URL known, where, since when"),
        "timeline": Verb("pinakes.cli.timeline", "the captures of a URL, with their state"),
        "show": Verb("pinakes.cli.show", "all about a capture, now or as of a time; its body"),
        "check": Verb("pinakes.cli.check", "does a WARC conform to ISO 28500, and to which clause"),
        "manifest": Verb("pinakes.cli.manifest", "hash every capture, a line each"),
        "resolve": Verb("pinakes.cli.resolve", "compare bodies of one digest, byte for byte"),
        "split": Verb("pinakes.cli.split", "parts of a manifest that keep digests together"),
        "process": Verb("pinakes.cli.process", "which copy is original, and which refers to it"),
        "refs": Verb("pinakes.cli.refs", "write archive files anew, duplicates as revisits"),
        "validate": Verb("pinakes.cli.validate", "compare archive files before and after"),
        "restore": Verb("pinakes.cli.restore", "turn our revisits back into full records"),
        "convert": Verb("pinakes.cli.convert", "ARC files to WARC, and back, byte for byte"),
        "commit-copy": Verb("pinakes.cli.commit_copy", "the validated set over the second copy"),
        "dedupe": Verb("pinakes.cli.dedupe", "find duplicates in the store, write revisits"),
        "study": Verb("pinakes.cli.study", "what repeats, by crawl, host, type, size and time"),
        "qa": Verb("pinakes.cli.qa", "do the pages of a crawl still look right"),
        "serve": Verb("pinakes.cli.serve", "how crawls land: a page, metrics, health"),
        "fsck": Verb("pinakes.cli.fsck", "do rows and files agree; mend what died half-way"),
        "backup": Verb("pinakes.cli.backup", "copy rows and files of a moment to another place"),
        "restore-backup": Verb("pinakes.cli.restore_backup", "make an empty store of a backup"),
        "job": Verb("pinakes.cli.job", "run a job: here, in several processes, or on YARN"),
        "cluster": Verb("pinakes.cli.cluster", "real servers on this host, to develop and test"),
    }
)
