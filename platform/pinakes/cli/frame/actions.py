"""Verbs that have verbs of their own: `pinakes crawl list`, `pinakes qa run`, …"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import NamedTuple


class Action(NamedTuple):
    """One of them: what it does, in words, and its arguments."""

    words: str
    configure: Callable[[argparse.ArgumentParser], None]


def add_actions(parser: argparse.ArgumentParser, actions: Mapping[str, Action]) -> None:
    """Add them, each with its arguments."""
    words = {name: action.words for name, action in actions.items()}
    for name, one in action_parsers(parser, words).items():
        actions[name].configure(one)


def action_parsers(
    parser: argparse.ArgumentParser, words: Mapping[str, str]
) -> dict[str, argparse.ArgumentParser]:
    """A parser for each name, `arguments.action` being the one that was given."""
    nested = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    return {
        name: nested.add_parser(name, help=said, description=f"{said[0].upper()}{said[1:]}.")
        for name, said in words.items()
    }
