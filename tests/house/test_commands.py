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


@pytest.fixture(params=VERBS, scope="module")
def verb(request: pytest.FixtureRequest) -> tuple[str, VerbParser]:
    """A verb's name, and its parser with the verb's own arguments."""
    parser = subparsers(build_parser())[request.param]
    assert isinstance(parser, VerbParser)
    parser.load()
    return request.param, parser


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


def test_every_verb_is_in_the_documents(documents: str, verb: tuple[str, VerbParser]) -> None:
    assert re.search(rf"\bpinakes {re.escape(verb[0])}\b", documents)


def test_every_argument_has_help(verb: tuple[str, VerbParser]) -> None:
    silent = [
        action.option_strings or action.dest
        for action in actions(verb[1])
        if not action.help and not isinstance(action, argparse._SubParsersAction)
    ]
    assert silent == []
    assert verb[1].format_help()


def test_no_argument_takes_a_name_of_the_frame(verb: tuple[str, VerbParser]) -> None:
    own = {"--quiet", "--verbose", "--json", "--log-format", "--config"}
    taken = {"quiet", "verbose", "json", "log_format", "config", "verb", "verb_module"}
    others = [action for action in actions(verb[1]) if not own & set(action.option_strings)]
    assert [action.dest for action in others if action.dest in taken] == []


def test_help_fits_on_one_line_of_the_list(verb: tuple[str, VerbParser]) -> None:
    words = VERBS[verb[0]].help
    assert len(words) <= 60
    assert not words.endswith(".")


def test_every_verb_is_one_of_the_interface(repository: Path, verb: tuple[str, VerbParser]) -> None:
    name, parser = verb
    line = interface(repository)[name]
    meant = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", line))
    built = {option for action in actions(parser) for option in action.option_strings}
    assert meant - built == {option for option in NOT_YET.get(name, set()) if option[0] == "-"}
    nested = re.match(rf"pinakes {name} ([a-z-]+(?:\|[a-z-]+)+)", line)
    if nested:
        assert set(subparsers(parser)) >= set(nested[1].split("|")) - NOT_YET.get(name, set())


def test_verbs_stand_in_the_order_of_the_interface(repository: Path) -> None:
    order = list(interface(repository))
    assert list(VERBS) == [name for name in order if name in VERBS]
