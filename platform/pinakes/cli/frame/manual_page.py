"""The manual page in roff (man(7)), made of the commands and their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pinakes import __version__
from pinakes.cli.frame.command_tree import Argument, Command


def manual_page(root: Command) -> str:
    """The page `pinakes(1)`."""
    return "\n".join(_page(root)) + "\n"


def _page(root: Command) -> Iterator[str]:
    common = {argument.flags for argument in root.arguments}
    yield f'.TH PINAKES 1 "" "Pinakes {__version__}" "User Commands"'
    yield from (".SH NAME", "pinakes \\- catalogue and deduplicate web archives")
    yield from (".SH SYNOPSIS", f".B {_roff(root.usage)}")
    yield from (".SH DESCRIPTION", _roff(root.help))
    yield ".SH OPTIONS"
    yield from _described(root.arguments)
    yield ".SH VERBS"
    for command in root:
        if not command.words:
            continue
        own = [one for one in command.arguments if one.flags not in common]
        yield from (f".SS {_roff(' '.join(command.words))}", _roff(command.help))
        yield from (".PP", f".B {_roff(command.usage)}")
        yield from _described(own)
    yield from (".SH EXIT STATUS", _roff(root.epilog))


def _described(arguments: Iterable[Argument]) -> Iterator[str]:
    for one in arguments:
        yield ".TP"
        names = [f"{flag} {one.value}".rstrip() for flag in one.flags] or [one.value]
        yield f".B {_roff(', '.join(names))}"
        yield _roff(one.help)


def _roff(text: str) -> str:
    """Text as roff prints it: no escape, no request, hyphens that can be copied."""
    text = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    text = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text)
    return f"\\&{text}" if text.startswith((".", "'")) else text
