"""The commands of the documents are calls that `pinakes` takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from pinakes.cli.command import build_parser

BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"\s*(?:\$ )?(?:[A-Z_]+=\S+ )*(pinakes [a-z-].*)", re.DOTALL)
# What is no call: a synopsis, and one that leaves something to the reader.
SYNOPSIS = re.compile(r"\[--|\.\.\.|…| NAME\b")


def whole_lines(block: str) -> Iterator[str]:
    """The lines of a block, a quoted argument with all of its own."""
    begun = ""
    for line in block.splitlines():
        begun = f"{begun}\n{line}" if begun else line
        if not COMMAND.match(begun) or begun.count('"') % 2 == 0:
            yield begun
            begun = ""


def documented_commands(text: str) -> Iterator[list[str]]:
    """The arguments of each call of `pinakes` in a document's blocks."""
    for language, block in BLOCK.findall(text):
        for line in whole_lines(block) if language in ("", "sh") else ():
            for part in re.split(r" && | \| |; ", line):
                found = COMMAND.match(part)
                if found and not SYNOPSIS.search(found[1]):
                    yield shlex.split(re.sub(r" [<>] ?\S+", "", found[1]), comments=True)[1:]


def test_commands_of_the_documents_parse(repository: Path, tree: list[Path]) -> None:
    documents = [file for file in tree if file.suffix == ".md"]
    calls = [
        (str(file), words)
        for file in documents
        for words in documented_commands((repository / file).read_text("utf-8"))
    ]
    assert len(calls) > 60
    refused = []
    for file, words in calls:
        try:
            build_parser().parse_args(words)
        except SystemExit:
            refused.append(f"{file}: pinakes {' '.join(words)}")
    assert refused == []


def test_calls_are_found_and_synopses_are_not() -> None:
    text = (
        "```\n$ pinakes init\n.../store is ready; next: pinakes ingest DIR\n"
        "cd a && pinakes fsck --full   # all\npinakes validate A B [--receipt FILE]\n"
        'pinakes study --all --sql "SELECT 1\nFROM t"\n```\npinakes fsck\n'
    )
    assert list(documented_commands(text)) == [
        ["init"],
        ["fsck", "--full"],
        ["study", "--all", "--sql", "SELECT 1\nFROM t"],
    ]
