"""Every verb that is built is documented, helps, and is as the interface says."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.cli.command import build_parser
from pinakes.cli.parsers import VerbParser
from pinakes.cli.verbs import VERBS

# Options of the interface that a verb which is built does not have yet, and with what they come.
NOT_YET: dict[str, set[str]] = {
    "qa": {"train"},
    "zstd": {"train"},
}


def subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


@pytest.fixture(scope="module")
def verbs() -> dict[str, VerbParser]:
    """Each verb's parser, with the verb's own arguments."""
    found = {}
    for name, parser in subparsers(build_parser()).items():
        assert isinstance(parser, VerbParser)
        parser.load()
        found[name] = parser
    return found


def actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    yield from parser._actions
    for nested in subparsers(parser).values():
        yield from actions(nested)


def interface(repository: Path) -> dict[str, str]:
    lines = (repository / "tests/house/interface.txt").read_text().splitlines()
    return {line.split()[1]: line for line in lines}


@pytest.fixture(scope="module")
def documents(repository: Path) -> str:
    """Everything that users read."""
    files = [repository / "README.md", *sorted((repository / "docs").rglob("*.md"))]
    return "\n".join(file.read_text("utf-8") for file in files)


def test_every_verb_is_in_the_documents(documents: str) -> None:
    named = set(re.findall(r"\bpinakes ([a-z-]+)\b", documents))
    assert VERBS.keys() - named == set()


def test_every_argument_has_help(verbs: dict[str, VerbParser]) -> None:
    silent = [
        (name, action.option_strings or action.dest)
        for name, parser in verbs.items()
        for action in actions(parser)
        if not action.help and not isinstance(action, argparse._SubParsersAction)
    ]
    assert silent == []
    assert all(parser.format_help() for parser in verbs.values())


def test_no_argument_takes_a_name_of_the_frame(verbs: dict[str, VerbParser]) -> None:
    own = {"--quiet", "--verbose", "--json", "--log-format", "--config"}
    taken = {"quiet", "verbose", "json", "log_format", "config", "verb", "verb_module"}
    names = [
        (name, action.dest)
        for name, parser in verbs.items()
        for action in actions(parser)
        if not own & set(action.option_strings)
    ]
    assert [(name, dest) for name, dest in names if dest in taken] == []


def test_help_fits_on_one_line_of_the_list() -> None:
    assert [name for name, verb in VERBS.items() if not 0 < len(verb.help) <= 60] == []
    assert [name for name, verb in VERBS.items() if verb.help.endswith(".")] == []


def test_every_verb_is_one_of_the_interface(repository: Path, verbs: dict[str, VerbParser]) -> None:
    assert verbs.keys() == VERBS.keys()
    lines = interface(repository)
    for name, parser in verbs.items():
        not_yet = NOT_YET.get(name, set())
        meant = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", lines[name]))
        built = {option for action in actions(parser) for option in action.option_strings}
        assert meant - built == {option for option in not_yet if option[0] == "-"}, name
        nested = re.match(rf"pinakes {name} ([a-z-]+(?:\|[a-z-]+)+)", lines[name])
        if nested:
            assert set(subparsers(parser)) >= set(nested[1].split("|")) - not_yet, name


def test_verbs_stand_in_the_order_of_the_interface(repository: Path) -> None:
    order = list(interface(repository))
    assert list(VERBS) == [name for name in order if name in VERBS]
