"""Jobs of indexing: what replay tools look captures up in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bench.jobs_and_peers.attempts import Attempt, Job, Ran, attempt
from bench.jobs_and_peers.reading import cdx11, cdxj, cdxj_key, cdxj_value, matches, plain_captures
from bench.jobs_and_peers.records import sha1, surt
from bench.jobs_and_peers.scene import Scene

INDEXING = "index"
NOTES = "http://example.org/notes.txt"


def _of_all(read: Callable[[Ran], object], files: str, **options: str) -> Mapping[str, Attempt]:
    """A CDXJ of some files by each tool; `options` of a tool by its name."""
    commands = {
        "Pinakes": "pinakes cdx",
        "jwarc": "jwarc cdxj",
        "pywb": "cdx-indexer -j",
        "cdxj-indexer": "cdxj-indexer",
    }
    return {
        tool: attempt(f"{command} {options.get(tool.replace('-', '_'), '')} {files}", read=read)
        for tool, command in commands.items()
    }


def _without(attempts: Mapping[str, Attempt], *tools: str) -> Mapping[str, Attempt]:
    return {tool: one for tool, one in attempts.items() if tool not in tools}


def _sorted_keys(scene: Scene) -> object:
    lines = (scene.spring.capture_lines(), scene.autumn.capture_lines())
    return sorted(f"{line[0]} {line[1]}" for lines_of in lines for line in lines_of)


FASTWARC_INDEX = {
    "FastWARC": attempt(
        "fastwarc index {spring}",
        read=cdxj(),
        note="`index`, called CDXJ, prints JSON without urlkey and timestamp",
    )
}

INDEXES = (
    Job(
        name="CDXJ",
        group=INDEXING,
        expected=lambda scene: plain_captures(scene.spring.capture_lines()),
        attempts={**_of_all(cdxj(), "{spring}"), **FASTWARC_INDEX},
    ),
    Job(
        name="CDX with 11 columns",
        group=INDEXING,
        expected=lambda scene: plain_captures(scene.spring.capture_lines()),
        attempts={
            "Pinakes": attempt("pinakes cdx --format cdx11 {spring}", read=cdx11()),
            "jwarc": attempt("jwarc cdx --format CDX11 {spring}", read=cdx11()),
            "pywb": attempt("cdx-indexer {spring}", read=cdx11()),
            "cdxj-indexer": attempt("cdxj-indexer -11 {spring}", read=cdx11()),
        },
    ),
    Job(
        name="of several files, sorted as one",
        group=INDEXING,
        expected=_sorted_keys,
        attempts=_without(
            _of_all(
                matches(r"^(org\S+?)(?:\?__wb_method\S*)?( \d{14}) "),
                "{spring} {autumn}",
                pywb="-s",
                cdxj_indexer="-s",
            ),
            "jwarc",
        ),
    ),
    Job(
        name="what was sent by POST in the key",
        group=INDEXING,
        expected=lambda scene: [f"{surt(scene.found.uri or '')}?__wb_method=post&q=warc"],
        attempts=_of_all(cdxj_key("search"), "{spring}", jwarc="-p", pywb="-p", cdxj_indexer="-p"),
    ),
    Job(
        name="a digest where the record declares none",
        group=INDEXING,
        expected=lambda scene: sha1(scene.resource.payload).removeprefix("sha1:"),
        attempts=_without(_of_all(cdxj_value(NOTES, "digest"), "{spring}"), "jwarc"),
    ),
    Job(
        name="in compressed blocks with an index of their own (ZipNum)",
        group=INDEXING,
        expected=lambda _: ["{"],
        attempts={
            "cdxj-indexer": attempt(
                "cdxj-indexer -s -c blocks -l 3 {spring}",
                read=matches(r"^!meta 0 (\{).*cdxj-gzip"),
            )
        },
    ),
)
