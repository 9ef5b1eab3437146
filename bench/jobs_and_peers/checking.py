"""Jobs of checking, and of showing what was archived."""

from __future__ import annotations

from collections.abc import Mapping

from bench.jobs_and_peers.attempts import Attempt, Job, attempt
from bench.jobs_and_peers.reading import found_by_exit, holds, json_field, matches, output, printed

CHECKING = "check"
REPLAYING = "replay and record"
PICTURE = "http://example.org/picture.png"


def _compared(file: str, commands: Mapping[str, str]) -> Mapping[str, Attempt]:
    """A check of a sound file, and of one in which something has to be found."""
    return {
        tool: attempt(f"{command} {{spring}}", f"{command} {{{file}}}", read=found_by_exit)
        for tool, command in commands.items()
    }


_RULES = {
    "Pinakes": "pinakes check --level error",
    "jwarc": "jwarc validate",
    "warcat": "warcat verify",
}
_DIGESTS = {**_RULES, "warcio": "warcio check", "FastWARC": "fastwarc check -p"}

CHECKS = (
    Job(
        name="wrong digests are found, by exit code",
        group=CHECKING,
        expected=lambda _: [False, True],
        attempts=_compared("wrong", _DIGESTS),
    ),
    Job(
        name="damaged compression is found",
        group=CHECKING,
        expected=lambda _: [False, True],
        attempts=_compared("damaged", {**_DIGESTS, "warctools": "warcvalid"}),
    ),
    Job(
        name="a header that must be there and is not is found",
        group=CHECKING,
        expected=lambda _: [False, True],
        attempts=_compared("undated", _RULES),
    ),
    Job(
        name="… with the clause of ISO 28500",
        group=CHECKING,
        expected=lambda _: ["1.0 §5.4"],
        attempts={
            "Pinakes": attempt(
                "pinakes check --json --level error {undated}", read=json_field("clause")
            )
        },
    ),
    Job(
        name="revisits whose original is not there are found",
        group=CHECKING,
        expected=lambda _: [False, True],
        attempts={
            "Pinakes": attempt(
                "pinakes validate --refs {again}",
                "pinakes validate --refs {orphan}",
                read=found_by_exit,
            )
        },
    ),
    Job(
        name="a WACZ that is not as its list says is found",
        group=CHECKING,
        expected=lambda _: [False, True],
        attempts={
            "Pinakes": attempt(
                "pinakes check --level error {wacz}",
                "pinakes check --level error {tampered}",
                read=found_by_exit,
            ),
            "wacz": attempt(
                "wacz validate -f {wacz}", "wacz validate -f {tampered}", read=found_by_exit
            ),
        },
    ),
)

REPLAYS = (
    Job(
        name="replay a capture: a server, or a proxy",
        group=REPLAYING,
        expected=lambda scene: scene.picture.payload,
        attempts={
            "pywb": attempt(
                "wb-manager init here",
                "wb-manager add here {spring}",
                serves="wayback -b 127.0.0.1 -p {port}",
                url=f"/here/20240301100200id_/{PICTURE}",
                read=printed,
            ),
            "jwarc": attempt(
                serves="jwarc serve {spring}",
                url=PICTURE,
                read=printed,
            ),
        },
    ),
    Job(
        name="… of a WACZ",
        group=REPLAYING,
        expected=lambda scene: scene.picture.payload,
        attempts={
            "pywb": attempt(
                "wb-manager init here",
                "wb-manager add --unpack-wacz here {wacz}",
                serves="wayback -b 127.0.0.1 -p {port}",
                url=f"/here/20240301100200id_/{PICTURE}",
                read=printed,
            ),
        },
    ),
    Job(
        name="answer queries for a URL's captures, as a CDX server",
        group=REPLAYING,
        expected=lambda _: ["20240301100200"],
        attempts={
            "Pinakes": attempt(
                "pinakes init --store here",
                "pinakes ingest {spring} --crawl spring --store here",
                serves="pinakes serve --store here --port {port}",
                url=f"/cdx?url={PICTURE}",
                read=matches(r"^org,example\)/picture.png (\d{14}) "),
            ),
            "pywb": attempt(
                "wb-manager init here",
                "wb-manager add here {spring}",
                serves="wayback -b 127.0.0.1 -p {port}",
                url=f"/here/cdx?url={PICTURE}",
                read=matches(r"^org,example\)/picture.png (\d{14}) "),
            ),
        },
    ),
    Job(
        name="record a page from the web",
        group=REPLAYING,
        expected=lambda _: True,
        attempts={
            "jwarc": attempt(
                "jwarc fetch {web}/notes.txt",
                read=holds(lambda scene: scene.resource.payload, output),
            ),
        },
    ),
)
