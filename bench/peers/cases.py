"""What is measured of the peers, in the terms of bench.cases."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from bench.cases import Case, Setting, Steps
from bench.measure import Step
from bench.peers import pins

HERE = Path(__file__).parent
COMPUTED = "index, digests computed"
DECLARED = "index, digests declared"
DEDUPE = "deduplicate"
LIST, FILTER, CDX = "list records", "filter by status and media type", "sorted CDXJ"

LISTED = "offset,length,warc-type,http:status,http:content-type,warc-date,warc-target-uri"


def tool(name: str, *options: str) -> Steps:
    """Run a command of the Python peers over the corpus, its output into a file."""

    def steps(on: Setting) -> tuple[Step]:
        argv = (str(pins.venv_tool(name)), *options, *on.names)
        return (Step(argv=argv, stdout=on.out / "index"),)

    return steps


def jwarc(verb: str, *options: str) -> Steps:
    """Run jwarc over the corpus, by links in the output folder: it writes beside its input."""

    def steps(on: Setting) -> tuple[Step]:
        links = [on.out / warc.name for warc in on.warcs]
        for link, warc in zip(links, on.warcs, strict=True):
            link.symlink_to(warc)
        argv = ("java", "-jar", str(pins.jwarc_jar()), verb, *options, *map(str, links))
        return (Step(argv=argv, stdout=on.out / "index"),)

    return steps


def has_tool(name: str) -> Callable[[], bool]:
    """Return a check for a command of the Python peers."""
    return lambda: pins.venv_tool(name).is_file()


def has_jwarc() -> bool:
    """Tell whether jwarc can run."""
    return pins.jwarc_jar().is_file() and shutil.which("java") is not None


PEERS = (
    Case(
        name="FastWARC + sha1 (no length)",
        group=COMPUTED,
        needs=has_tool("fastwarc"),
        steps=tool("python", str(HERE / "index_fastwarc.py")),
    ),
    Case(
        name="warcio + sha1",
        group=COMPUTED,
        needs=has_tool("warcio"),
        steps=tool("python", str(HERE / "index_warcio.py")),
    ),
    Case(
        name="FastWARC index (no digest, no length)",
        group=DECLARED,
        needs=has_tool("fastwarc"),
        steps=tool("fastwarc", "index"),
    ),
    Case(name="jwarc cdx", group=DECLARED, needs=has_jwarc, steps=jwarc("cdx")),
    Case(
        name="warcio index",
        group=DECLARED,
        needs=has_tool("warcio"),
        steps=tool("warcio", "index", "-f", "offset,length,warc-target-uri,warc-payload-digest"),
    ),
    Case(
        name="pywb cdx-indexer",
        group=DECLARED,
        needs=has_tool("cdx-indexer"),
        steps=tool("cdx-indexer", "-j"),
    ),
    Case(
        name="cdxj-indexer",
        group=DECLARED,
        needs=has_tool("cdxj-indexer"),
        steps=tool("cdxj-indexer"),
    ),
    Case(
        name="jwarc dedupe (declared digests)",
        group=DEDUPE,
        needs=has_jwarc,
        steps=jwarc("dedupe", "--threads", "1", "--cache-size", "1000000"),
    ),
    Case(
        name="warcio index, all that ls prints",
        group=LIST,
        needs=has_tool("warcio"),
        steps=tool("warcio", "index", "-f", LISTED),
    ),
    Case(
        name="FastWARC index, all that ls prints",
        group=LIST,
        needs=has_tool("fastwarc"),
        steps=tool("fastwarc", "index", "-f", LISTED),
    ),
    Case(name="jwarc ls", group=LIST, needs=has_jwarc, steps=jwarc("ls")),
    Case(
        name="warcio, filtered",
        group=FILTER,
        needs=has_tool("warcio"),
        steps=tool("python", str(HERE / "filter_warcio.py")),
    ),
    Case(
        name="FastWARC, filtered",
        group=FILTER,
        needs=has_tool("fastwarc"),
        steps=tool("python", str(HERE / "filter_fastwarc.py")),
    ),
    Case(
        name="jwarc filter",
        group=FILTER,
        needs=has_jwarc,
        steps=jwarc("filter", ':status == 200 && http:content-type =~ "text/html.*"'),
    ),
    Case(
        name="cdxj-indexer --sort",
        group=CDX,
        needs=has_tool("cdxj-indexer"),
        steps=tool("cdxj-indexer", "--sort"),
    ),
    Case(
        name="pywb cdx-indexer --sort",
        group=CDX,
        needs=has_tool("cdx-indexer"),
        steps=tool("cdx-indexer", "-j", "--sort"),
    ),
    Case(name="jwarc cdxj (not sorted)", group=CDX, needs=has_jwarc, steps=jwarc("cdxj")),
)
