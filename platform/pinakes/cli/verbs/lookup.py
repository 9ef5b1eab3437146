"""`pinakes lookup`: is a digest or a URL known, where, and since when."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import islice

from pinakes.catalog.lookup import DEFAULT_LIMIT, FoundCaptures, answer_all
from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import add_inputs, inputs_of
from pinakes.cli.frame.options import add_settings, configuration_of, options_of, parsed
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs.captures import (
    capture_line,
    capture_object,
    format_ms,
    withdrawn_line,
    withdrawn_object,
)
from pinakes.config import parse_count
from pinakes.errors import ConfigError, InputRefused
from pinakes.profile import open_stores
from pinakes.warc.digest import parse_digest, resembles_digest

_FORMS = "give sha1 (32 characters in Base32, 40 in hex) or sha256 (52 or 64)"
_TOGETHER = 1000
_CAPTURES_TOGETHER = 20_000
"""At most, in memory: fewer are asked for together where each may have many."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Digests in any spelling, and URLs."""
    words = "queries: digests (sha1 or sha256, Base32 or hex) and URLs"
    add_inputs(parser, "DIGEST|URL", words, each="queries")
    add_limit(parser, DEFAULT_LIMIT)
    add_settings(parser, "store")


def add_limit(parser: argparse.ArgumentParser, default: int | None) -> None:
    """`--limit`, a number of captures."""
    options_of(parser)(
        "--limit N",
        f"show at most N captures per query (default: {default or 'all'})",
        default=default,
    )


def limit_of(arguments: argparse.Namespace) -> int | None:
    """The limit given, if any.  Raises ConfigError where it is no number."""
    if arguments.limit is None:
        return None
    return parsed("--limit", str(arguments.limit), parse_count)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A result for each query; not to be known is an answer, and no failure.

    Raises:
        ConfigError: for a query that was meant as a digest, and is none.
    """
    limit, printer = limit_of(arguments) or DEFAULT_LIMIT, EventPrinter(console)
    with open_stores(configuration_of(arguments)) as stores:
        for queries in _batches(inputs_of(arguments), limit):
            for answer in answer_all(stores.rows, queries, limit=limit):
                if isinstance(answer, InputRefused):
                    printer(answer)
                else:
                    console.result(_as_object(answer), text=_as_text(answer))
    return printer.exit()


def _batches(names: Iterable[str], limit: int) -> Iterator[list[str]]:
    iterator = iter(names)
    together = max(1, min(_TOGETHER, _CAPTURES_TOGETHER // limit))
    while batch := list(islice(iterator, together)):
        for query in batch:
            if resembles_digest(query) and parse_digest(query) is None:
                raise ConfigError(f"{query}: malformed digest: {_FORMS}")
        yield batch


def _as_object(answer: FoundCaptures) -> dict[str, object]:
    return {
        "query": answer.query,
        "known": bool(answer.matches),
        "more": answer.more,
        "since": _since(answer),
        "captures": [
            {**capture_object(match.placed), "body": match.body} for match in answer.matches
        ],
        "withdrawn": [withdrawn_object(capture) for capture in answer.withdrawn],
    }


def _since(answer: FoundCaptures) -> str | None:
    """When the first of what is shown landed."""
    times = [match.placed.capture.landed_ms for match in answer.matches]
    return format_ms(min(times)) if times else None


def _as_text(answer: FoundCaptures) -> str:
    withdrawn = [
        f"  {printable(capture.facts.target_uri)}  {withdrawn_line(capture)}"
        for capture in answer.withdrawn
    ]
    if not answer.matches:
        known = f"not known, {len(withdrawn)} withdrawn" if withdrawn else "not known"
        return "\n".join([f"{printable(answer.query)}: {known}", *withdrawn])
    count = f"{len(answer.matches)}{' and more' if answer.more else ''}"
    lines = [f"{printable(answer.query)}: known since {_since(answer)}, captures: {count}"]
    lines += [
        f"  {printable(match.placed.capture.facts.target_uri)}  {capture_line(match.placed)}"
        for match in answer.matches
    ]
    return "\n".join([*lines, *withdrawn])
