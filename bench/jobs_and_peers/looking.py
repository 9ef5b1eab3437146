"""Jobs of looking: which records there are, and what is in one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from bench.jobs_and_peers.attempts import Attempt, Job, Ran, attempt
from bench.jobs_and_peers.reading import (
    behind,
    bodies_below,
    headers,
    json_field,
    matches,
    printed,
    stripped,
)
from bench.jobs_and_peers.scene import Scene

LISTING = "look at files"
GETTING = "take out one record"
CAPTURES = ("response", "revisit", "resource")


def offset_attempts(file: str) -> dict[str, Attempt]:
    """The offset of each record of a file, by each tool that prints it."""
    offset = json_field("offset", number=True)
    of_dump, of_list = r"archive record at .*:(\w+)$", r"File offset: (\d+)"
    inflated = "its offsets are those of the inflated file"
    nothing = "prints None for the offset in a compressed file"
    return {
        "Pinakes": attempt(f"pinakes ls --json {{{file}}}", read=offset),
        "warcio": attempt(f"warcio index -f offset {{{file}}}", read=offset),
        "FastWARC": attempt(f"fastwarc index -f offset {{{file}}}", read=offset),
        "jwarc": attempt(f"jwarc ls {{{file}}}", read=matches(r"^ *(\d+) \w+ ", number=True)),
        "warctools": attempt(f"warcdump {{{file}}}", read=matches(of_dump), note=nothing),
        "warcat": attempt(f"warcat list {{{file}}}", read=matches(of_list, True), note=inflated),
    }


def type_attempts(file: str) -> dict[str, Attempt]:
    """The type of each record of a file, by each tool that lists them."""
    of_type = json_field("warc-type")
    return {
        "Pinakes": attempt(f"pinakes ls --json {{{file}}}", read=json_field("type")),
        "warcio": attempt(f"warcio index -f warc-type {{{file}}}", read=of_type),
        "FastWARC": attempt(f"fastwarc index -f warc-type {{{file}}}", read=of_type),
        "jwarc": attempt(f"jwarc ls {{{file}}}", read=matches(r"^ *\d+ (\w+) ")),
        "warctools": attempt(f"warcindex {{{file}}}", read=matches(r"^\S+ \w+ (\w+) \S+ <urn")),
        "warcat": attempt(f"warcat list {{{file}}}", read=matches(r"^ *Type: (\w+)")),
    }


def types(scene: Scene) -> object:
    """The type of each record of the first crawl."""
    return [record.kind for record in scene.spring.records]


def captures(scene: Scene) -> object:
    """How many captures the first crawl has."""
    return len(scene.spring.capture_lines())


def count_captures(read: Callable[[Ran], object]) -> Callable[[Ran], object]:
    """How many of the types read are those of captures."""

    def count(ran: Ran) -> object:
        found = read(ran)
        assert isinstance(found, list)
        return sum(kind in CAPTURES for kind in found)

    return count


def manifest_lines(ran: Ran) -> object:
    """How many captures `pinakes manifest` lists."""
    return len(ran.stdout.splitlines())


def benchmarked(ran: Ran) -> object:
    """How many captures there are, where FastWARC's benchmark read as many records as there are."""
    read = matches(r"^FastWARC: (\d+) records read", number=True)(ran)
    return captures(ran.scene) if read == [len(ran.scene.spring.records)] else read


def _damaged() -> Mapping[str, Attempt]:
    """Whether the records behind the damage are found: those captures that an index would name."""
    named = matches(r'"offset": "?(\d+)', number=True)
    found = offset_attempts("damaged")
    found |= {
        "pywb": attempt("cdx-indexer -a -j {damaged}", read=named),
        "cdxj-indexer": attempt("cdxj-indexer {damaged}", read=named),
    }
    found |= {
        tool: attempt(command, read=matches(pattern))
        for tool, command, pattern in (
            ("warctools", "warcindex {damaged}", r"^\S+ \w+ \w+ \S+ (<urn\S+)"),
            ("warcat", "warcat --keep-going list {damaged}", r"^Record: (<urn\S+)"),
        )
    }
    return {tool: behind(one, note="ends at the damage") for tool, one in found.items()}


def _counts(scene: Scene) -> object:
    records = scene.spring.records
    by_media_type = Counter(record.media_type for record in records if record.media_type)
    return Counter(record.kind for record in records), by_media_type + Counter({"text/plain": 1})


def _counts_of_json(ran: Ran) -> object:
    tables = json.loads(ran.stdout)
    return tuple(
        Counter({name: count["records"] for name, count in tables[table].items()})
        for table in ("types", "media_types")
    )


def _counts_of_jwarc(ran: Ran) -> object:
    rows = [line.split() for line in ran.stdout.decode().splitlines()]
    counts = {row[0]: int(row[1]) for row in rows if len(row) == 4 and row[1].isdigit()}
    types = {"warcinfo", "response", "request", "metadata", "resource"} & set(counts)
    media = {name for name in counts if "/" in name}
    return tuple(Counter({name: counts[name] for name in names}) for names in (types, media))


LOOKING = (
    Job(
        name="list the records of a file",
        group=LISTING,
        expected=types,
        attempts=type_attempts("spring"),
    ),
    Job(
        name="… of WARC 1.1",
        group=LISTING,
        expected=types,
        attempts=type_attempts("newer"),
    ),
    Job(
        name="… with the offset of each",
        group=LISTING,
        expected=lambda scene: scene.spring.offsets,
        attempts=offset_attempts("spring"),
    ),
    Job(
        name="… with any header of WARC or HTTP that is asked for",
        group=LISTING,
        expected=lambda scene: [str(len(scene.picture.payload))],
        attempts={
            "Pinakes": attempt(
                "pinakes ls --json --fields offset,http:content-length {picture_alone}",
                read=json_field("http:content-length"),
            ),
            "warcio": attempt(
                "warcio index -f offset,http:content-length {picture_alone}",
                read=json_field("http:content-length"),
            ),
            "FastWARC": attempt(
                "fastwarc index -f offset,http:content-length {picture_alone}",
                read=json_field("http:content-length"),
            ),
        },
    ),
    Job(
        name="… behind damage in the middle of the file",
        group=LISTING,
        expected=lambda _: True,
        attempts=_damaged(),
    ),
    Job(
        name="… of a WACZ",
        group=LISTING,
        expected=types,
        attempts={"Pinakes": attempt("pinakes ls --json {wacz}", read=json_field("type"))},
    ),
    Job(
        name="count records by type and media type",
        group=LISTING,
        expected=_counts,
        attempts={
            "Pinakes": attempt("pinakes ls --stats --json {spring}", read=_counts_of_json),
            "jwarc": attempt("jwarc stats {spring}", read=_counts_of_jwarc),
        },
    ),
    Job(
        name="read a file on standard input",
        group=LISTING,
        expected=captures,
        attempts={
            "Pinakes": attempt("pinakes manifest -", read=manifest_lines, stdin="spring"),
            "warcio": attempt(
                "warcio index -f warc-type",
                read=count_captures(json_field("warc-type")),
                stdin="spring",
            ),
            "warctools": attempt(
                "warcdump", read=count_captures(matches(r"^\tWARC-Type:(\w+)")), stdin="spring"
            ),
        },
    ),
    Job(
        name="read a file on a web server",
        group=LISTING,
        expected=captures,
        attempts={
            "Pinakes": attempt("pinakes manifest {web}/spring.warc.gz", read=manifest_lines),
            "FastWARC": attempt(
                "fastwarc benchmark {web}/spring.warc.gz",
                read=benchmarked,
                note="`benchmark`, whose help names URLs, fails (UnsupportedOperation: seek)",
            ),
        },
    ),
    Job(
        name="read a file in S3",
        group=LISTING,
        expected=captures,
        attempts={
            "Pinakes": attempt("pinakes manifest s3://files/spring.warc.gz", read=manifest_lines),
            "FastWARC": attempt(
                "fastwarc benchmark -e {web} -a key -s secret s3://files/spring.warc.gz",
                read=benchmarked,
            ),
        },
    ),
    Job(
        name="read Zstandard, a frame for each record",
        group=LISTING,
        expected=types,
        attempts={
            tool: replace(one, note="needs zstd-jni beside it" if tool == "jwarc" else "")
            for tool, one in type_attempts("zstd").items()
            if tool in ("Pinakes", "FastWARC", "jwarc")
        },
    ),
)


def _whole(read: Callable[[Ran], object], **notes: str) -> Mapping[str, Attempt]:
    """The record at an offset, by each tool that prints one."""
    commands = {
        "Pinakes": "pinakes cat {spring}:{page_at}",
        "warcio": "warcio extract {spring} {page_at}",
        "FastWARC": "fastwarc extract {spring} {page_at}",
        "jwarc": "jwarc extract {spring} {page_at}",
    }
    return {
        tool: attempt(command, read=read, note=notes.get(tool, ""))
        for tool, command in commands.items()
    }


TAKING_ONE = (
    Job(
        name="the record at an offset",
        group=GETTING,
        expected=lambda scene: set(scene.page.raw.splitlines()) - {b""},
        attempts=_whole(headers),
    ),
    Job(
        name="… byte for byte",
        group=GETTING,
        expected=lambda scene: scene.page.raw.rstrip(),
        attempts=_whole(stripped, jwarc="writes header lines in another order"),
    ),
    Job(
        name="its headers, of WARC and of HTTP",
        group=GETTING,
        expected=lambda scene: set(scene.page.head.splitlines()) - {b""},
        attempts={
            "Pinakes": attempt("pinakes cat --headers {spring}:{page_at}", read=headers),
            "warcio": attempt("warcio extract --headers {spring} {page_at}", read=headers),
            "FastWARC": attempt("fastwarc extract --headers {spring} {page_at}", read=headers),
            "jwarc": attempt("jwarc extract --headers {spring} {page_at}", read=headers),
        },
    ),
    Job(
        name="its body",
        group=GETTING,
        expected=lambda scene: scene.picture.payload,
        attempts={
            "Pinakes": attempt("pinakes cat --payload {spring}:{picture_at}", read=printed),
            "warcio": attempt("warcio extract --payload {spring} {picture_at}", read=printed),
            "FastWARC": attempt("fastwarc extract --payload {spring} {picture_at}", read=printed),
            "jwarc": attempt("jwarc extract --payload {spring} {picture_at}", read=printed),
            "warctools": attempt("warcpayload {spring}:{picture_at}", read=printed),
        },
    ),
    Job(
        name="… as it was sent, in chunks and compressed",
        group=GETTING,
        expected=lambda scene: scene.packed.payload,
        attempts={
            "Pinakes": attempt("pinakes cat --payload {spring}:{packed_at}", read=printed),
            "FastWARC": attempt("fastwarc extract --payload {spring} {packed_at}", read=printed),
        },
    ),
    Job(
        name="… decoded",
        group=GETTING,
        expected=lambda scene: scene.packed.decoded,
        attempts={
            "Pinakes": attempt(
                "pinakes cat --payload --decoded {spring}:{packed_at}", read=printed
            ),
            "warcio": attempt("warcio extract --payload {spring} {packed_at}", read=printed),
            "jwarc": attempt("jwarc extract --payload {spring} {packed_at}", read=printed),
        },
    ),
    Job(
        name="… of a revisit, from its original",
        group=GETTING,
        expected=lambda scene: scene.again.records[-1].decoded,
        attempts={"Pinakes": attempt("pinakes cat --payload {again}:{revisit_at}", read=printed)},
    ),
    Job(
        name="the bodies of all answers of a file, as files",
        group=GETTING,
        expected=lambda _: True,
        attempts={
            "Pinakes": attempt("pinakes unpack {spring} -o files", read=bodies_below),
            "warcat": attempt("warcat -d files extract {spring}", read=bodies_below),
        },
    ),
)
