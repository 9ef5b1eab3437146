"""Jobs that write archive files: some records, all of them otherwise, without duplicates."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from bench.jobs_and_peers.attempts import Attempt, Job, Ran, attempt
from bench.jobs_and_peers.reading import (
    arc_pages,
    archives_below,
    count_revisits,
    found_by_exit,
    holds,
    inflated,
    number_of_members,
    output,
    packaged,
    record_numbers,
    refer_to_earlier,
    total,
    whole,
    written,
)
from bench.jobs_and_peers.records import Made
from bench.jobs_and_peers.scene import ARC_PAGES, Scene

CHOOSING = "take some records out"
COMPRESSING = "compress, join, convert"
DEDUPING = "remove duplicates"


def _numbers(wanted: Callable[[Made], bool]) -> Callable[[Scene], object]:
    """The numbers of the records wanted of the first crawl."""
    return lambda scene: [one.number for one in scene.spring.records if wanted(one)]


def _chosen(ours: str, jwarc: str = "", warctools: str = "") -> dict[str, Attempt]:
    """What the filters print, by the conditions that each has."""
    commands = {
        "Pinakes": f"pinakes filter -o - {ours} {{spring}}",
        "jwarc": f"jwarc filter '{jwarc}' {{spring}}" if jwarc else "",
        "warctools": f"warcfilter {warctools} {{spring}}" if warctools else "",
    }
    read = record_numbers(output)
    return {tool: attempt(command, read=read) for tool, command in commands.items() if command}


CHOICES = (
    Job(
        name="by type",
        group=CHOOSING,
        expected=_numbers(lambda one: one.kind == "request"),
        attempts=_chosen("--type request", 'warc-type == "request"', "-T request"),
    ),
    Job(
        name="by status",
        group=CHOOSING,
        expected=_numbers(lambda one: one.status == 404),
        attempts=_chosen("--status 404", ":status == 404"),
    ),
    Job(
        name="by media type of HTTP",
        group=CHOOSING,
        expected=_numbers(lambda one: one.media_type == "image/png"),
        attempts=_chosen("--mime image/*", 'http:content-type =~ "image/.*"', "-H image"),
    ),
    Job(
        name="by URL",
        group=CHOOSING,
        expected=_numbers(lambda one: (one.uri or "").endswith("/packed")),
        attempts=_chosen("--url *pack*", 'warc-target-uri =~ ".*pack.*"', "-U pack"),
    ),
    Job(
        name="by date",
        group=CHOOSING,
        expected=_numbers(lambda one: "10:02" <= one.date[11:16] < "10:04"),
        attempts=_chosen(
            "--from 202403011002 --to 202403011004",
            'warc-date =~ "2024-03-01T10:0[23].*"',
            "-D 2024-03-01T10:0[23]",
        ),
    ),
    Job(
        name="by size of the body",
        group=CHOOSING,
        expected=_numbers(lambda one: one.number == 5),
        attempts=_chosen("--min-size 3000", "http:content-length >= 3000"),
    ),
    Job(
        name="by digest of the body",
        group=CHOOSING,
        expected=_numbers(lambda one: one.number == 5),
        attempts=_chosen("--digest {picture_sha1}", 'warc-payload-digest == "{picture_sha1}"'),
    ),
    Job(
        name="all others",
        group=CHOOSING,
        expected=_numbers(lambda one: one.kind not in ("response", "warcinfo")),
        attempts={
            **_chosen("--type response --type warcinfo --invert", "", "-i -T '^(resp|warcinfo)'"),
            "jwarc": attempt(
                """jwarc filter 'warc-type != "response" && warc-type != "warcinfo"' {spring}""",
                read=record_numbers(output),
            ),
        },
    ),
    Job(
        name="every byte of a record kept",
        group=CHOOSING,
        expected=lambda _: True,
        attempts={
            tool: replace(
                one,
                read=holds(lambda scene: scene.picture.raw, output),
                note="writes header lines in another order",
            )
            for tool, one in _chosen(
                "--mime image/*", 'http:content-type =~ "image/.*"', "-H image"
            ).items()
        },
    ),
    Job(
        name="with the originals of revisits",
        group=CHOOSING,
        expected=lambda scene: [31, 32],
        attempts={
            "Pinakes": attempt(
                "pinakes filter -o - --type revisit --originals {again}",
                read=record_numbers(output),
            )
        },
    ),
)


def _rewritten(
    read: Callable[[Callable[[Ran], bytes]], Callable[[Ran], object]], **notes: str
) -> dict[str, Attempt]:
    """A file of one gzip member, compressed record by record."""
    there = read(written("new.warc.gz"))
    return {
        "Pinakes": attempt("pinakes filter -o new.warc.gz {one_member}", read=there),
        "warcio": attempt(
            "warcio recompress {one_member} new.warc.gz", read=there, note=notes.get("warcio", "")
        ),
        "FastWARC": attempt("fastwarc recompress {one_member} new.warc.gz", read=there),
        "warctools": attempt("warc2warc -Z {one_member}", read=read(output)),
        "warcat": attempt("warcat -z -o new.warc.gz pass {one_member}", read=there),
    }


COMPRESSIONS = (
    Job(
        name="compress a file record by record",
        group=COMPRESSING,
        expected=lambda scene: [b"WARC/"] * len(scene.spring.records),
        attempts=_rewritten(number_of_members),
    ),
    Job(
        name="… every byte of each record kept",
        group=COMPRESSING,
        expected=lambda scene: scene.spring.raw,
        attempts=_rewritten(whole, warcio="adds digests to records that declare none"),
    ),
    Job(
        name="uncompress a file",
        group=COMPRESSING,
        expected=lambda scene: scene.spring.raw,
        attempts={
            "Pinakes": attempt("pinakes filter -o new.warc {spring}", read=written("new.warc")),
            "FastWARC": attempt(
                "fastwarc recompress -c uncompressed {spring} new.warc",
                read=written("new.warc"),
            ),
            "warctools": attempt("warc2warc {spring}", read=output),
            "warcat": attempt(
                "warcat -o new.warc --preserve-block pass {spring}", read=written("new.warc")
            ),
        },
    ),
    Job(
        name="Zstandard: write it, and list what was written",
        group=COMPRESSING,
        expected=lambda scene: len(scene.spring.records),
        attempts={
            "Pinakes": attempt(
                "pinakes zstd compress {spring} -o new",
                "pinakes ls --json new/spring.warc.zst",
                read=lambda ran: len(ran.stdout.splitlines()),
            ),
            "FastWARC": attempt(
                "fastwarc recompress -c zstd {spring} new.warc.zst",
                "fastwarc index new.warc.zst",
                read=lambda ran: len(ran.stdout.splitlines()),
            ),
        },
    ),
    Job(
        name="join files",
        group=COMPRESSING,
        expected=lambda scene: scene.spring.raw + scene.autumn.raw,
        attempts={
            "Pinakes": attempt(
                "pinakes filter -o new.warc.gz {spring} {autumn}",
                read=whole(written("new.warc.gz")),
            ),
            "warcat": attempt(
                "warcat -z -o new.warc.gz concat {spring} {autumn}",
                read=whole(written("new.warc.gz")),
                note="adds a line end to some records",
            ),
        },
    ),
    Job(
        name="split a file into one for each record",
        group=COMPRESSING,
        expected=lambda scene: len(scene.spring.records),
        attempts={
            "Pinakes": attempt("pinakes unpack --records {spring} -o .", read=archives_below),
            "warcat": attempt("warcat -d . split {spring}", read=archives_below),
        },
    ),
    Job(
        name="decode the bodies in a file",
        group=COMPRESSING,
        expected=lambda _: True,
        attempts={
            "warctools": attempt(
                "warc2warc -D {spring}",
                read=holds(lambda scene: scene.packed.decoded, output),
                note="leaves them as they are",
            )
        },
    ),
    Job(
        name="ARC to WARC",
        group=COMPRESSING,
        expected=lambda _: [(uri, body) for uri, _, body in ARC_PAGES],
        attempts={
            "Pinakes": attempt(
                "pinakes convert -o new {arc}", read=arc_pages(written("new/*.warc.gz"))
            ),
            "warcio": attempt(
                "warcio recompress {arc} new.warc.gz", read=arc_pages(written("new.warc.gz"))
            ),
            "warctools": attempt(
                "arc2warc -Z -o new.warc.gz {arc}", read=arc_pages(written("new.warc.gz"))
            ),
        },
    ),
    Job(
        name="and back, byte for byte",
        group=COMPRESSING,
        expected=lambda scene: inflated(scene.arc),
        attempts={
            "Pinakes": attempt(
                "pinakes convert -o new {arc}",
                "pinakes convert -o back --back new/old.warc.gz",
                read=written("back/old.arc"),
            ),
        },
    ),
    Job(
        name="make a WACZ",
        group=COMPRESSING,
        expected=lambda scene: scene.spring.data,
        attempts={
            "Pinakes": attempt(
                "pinakes export-wacz {spring} -o new.wacz", read=packaged("new.wacz")
            ),
            "wacz": attempt("wacz create -o new.wacz {spring}", read=packaged("new.wacz")),
        },
    ),
)


# It writes beside what it reads.
_JWARC = "jwarc dedupe -j 1 --cache-size 1000 "

DEDUPES = (
    Job(
        name="duplicates within files become revisits",
        group=DEDUPING,
        expected=lambda _: 2,
        attempts={
            "Pinakes": attempt(
                "pinakes dedupe {both} -o new", read=count_revisits("new/*.warc.gz")
            ),
            "jwarc": attempt(
                "cp -r {both} here",
                _JWARC + "here/spring.warc.gz here/autumn.warc.gz",
                read=count_revisits("here/*-dedup.warc.gz"),
            ),
        },
    ),
    Job(
        name="… of an earlier capture, in whichever order files are given",
        group=DEDUPING,
        expected=lambda _: True,
        attempts={
            "Pinakes": attempt(
                "pinakes dedupe {spring} {autumn} -o one",
                "pinakes dedupe {autumn} {spring} -o other",
                read=refer_to_earlier("o*/*.warc.gz"),
            ),
            "jwarc": attempt(
                "cp -r {both} one",
                _JWARC + "one/spring.warc.gz one/autumn.warc.gz",
                "cp -r {both} other",
                _JWARC + "other/autumn.warc.gz other/spring.warc.gz",
                read=refer_to_earlier("o*/*-dedup.warc.gz"),
                note="goes by the order of files: a capture of March refers to one of September",
            ),
        },
    ),
    Job(
        name="a forecast, before anything is written",
        group=DEDUPING,
        expected=lambda _: 2,
        attempts={
            "Pinakes": attempt(
                "pinakes dedupe --json {both} -o new --plan",
                read=lambda ran: json.loads(ran.stdout.splitlines()[-1])["revisits"],
            ),
            "jwarc": attempt(
                "cp -r {both} here",
                _JWARC + "-n here/spring.warc.gz here/autumn.warc.gz",
                read=total(r"would dedupe (\d+)/"),
            ),
        },
    ),
    Job(
        name="proof that no byte is lost, and that what is lost is found",
        group=DEDUPING,
        expected=lambda _: [False, False, True],
        attempts={
            "Pinakes": attempt(
                "pinakes dedupe {both} -o new",
                "pinakes validate {both} new",
                "pinakes validate {both} {lost}",
                read=found_by_exit,
            )
        },
    ),
    Job(
        name="full records again, byte for byte",
        group=DEDUPING,
        expected=lambda scene: scene.autumn.raw,
        attempts={
            "Pinakes": attempt(
                "pinakes dedupe {both} -o new",
                "pinakes restore new/autumn.warc.gz --dir new -o back",
                read=whole(written("back/autumn.warc.gz")),
            ),
        },
    ),
)
