"""Completion scripts for bash, zsh and fish, made of the commands and their arguments.

Each script follows the words of the line as far as they are verbs and actions, to know which
command it is in.  Then it offers the values of the option before the cursor, the command's options
behind `-`, and else its actions, the choices of its arguments, or files.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from types import MappingProxyType
from typing import NamedTuple

from pinakes.cli.frame.command_tree import Argument, Command

_Offer = Iterable[tuple[str, str]]
"""Words that may come next, and what they mean."""


class _Place(NamedTuple):
    """A command, and what may come next in it."""

    path: str
    """Its words; the empty text is `pinakes` itself."""
    options: list[tuple[str, str]]
    words: list[tuple[str, str]]
    values: list[tuple[tuple[str, ...], tuple[str, ...]]]
    """Flags with choices, and these."""
    files: list[str]
    """Flags with any other value."""


def _places(root: Command) -> Iterator[_Place]:
    for command in root:
        options = [one for one in command.arguments if one.flags]
        words = [(below.words[-1], below.help) for below in command.commands]
        words += [(word, "") for one in command.arguments if not one.flags for word in one.choices]
        yield _Place(
            path=" ".join(command.words),
            options=[(flag, _brief(one)) for one in options for flag in one.flags],
            words=words,
            values=[(one.flags, one.choices) for one in options if one.choices],
            files=[flag for one in options if one.value and not one.choices for flag in one.flags],
        )


def _brief(argument: Argument) -> str:
    """Its help up to what its default is: that may depend on who asks."""
    return argument.help.partition(" (default")[0]


def _bash(root: Command) -> str:
    paths, values, options, words = [], [], [], []
    for place in _places(root):
        if place.path:
            paths.append(f"{shlex.quote(f' {place.path}')})")
        for flags, choices in place.values:
            where = "|".join(shlex.quote(f"{place.path} {flag}") for flag in flags)
            values.append(f"{where}) words={shlex.quote(' '.join(choices))} ;;")
        if place.files:
            where = "|".join(shlex.quote(f"{place.path} {flag}") for flag in place.files)
            values.append(f"{where}) return ;;")
        names = " ".join(flag for flag, _ in place.options)
        options.append(f"{shlex.quote(place.path)}) words={shlex.quote(names)} ;;")
        names = " ".join(word for word, _ in place.words)
        words.append(f"{shlex.quote(place.path)}) words={shlex.quote(names)} ;;")
    return f"""\
# bash completion of pinakes
_pinakes() {{
    local word words='' path='' current=${{COMP_WORDS[COMP_CWORD]}}
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "${{path:+ $path}} $word" in
        {_alternatives(root)}) path="${{path:+$path }}$word" ;;
        esac
    done
    COMPREPLY=()
    case "$path ${{COMP_WORDS[COMP_CWORD-1]}}" in
    {_lines(values, 4)}
    esac
    if [[ -z $words && $current == -* ]]; then
        case "$path" in
        {_lines(options, 8)}
        esac
    elif [[ -z $words ]]; then
        case "$path" in
        {_lines(words, 8)}
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _pinakes pinakes
"""


def _zsh(root: Command) -> str:
    values, options, words = [], [], []
    for place in _places(root):
        for flags, choices in place.values:
            where = "|".join(shlex.quote(f"{place.path} {flag}") for flag in flags)
            values.append(f"{where}) offered=({' '.join(map(shlex.quote, choices))}) ;;")
        if place.files:
            where = "|".join(shlex.quote(f"{place.path} {flag}") for flag in place.files)
            values.append(f"{where}) _files; return ;;")
        options.append(f"{shlex.quote(place.path)}) offered=({_described(place.options)}) ;;")
        if place.words:
            words.append(f"{shlex.quote(place.path)}) offered=({_described(place.words)}) ;;")
    return f"""\
#compdef pinakes
# zsh completion of pinakes
_pinakes() {{
    local word route=''
    local -a offered
    for word in "${{(@)words[2,CURRENT-1]}}"; do
        case "${{route:+ $route}} $word" in
        {_alternatives(root)}) route="${{route:+$route }}$word" ;;
        esac
    done
    case "$route ${{words[CURRENT-1]}}" in
    {_lines(values, 4)}
    esac
    if (( ! $#offered )) && [[ ${{words[CURRENT]}} == -* ]]; then
        case "$route" in
        {_lines(options, 8)}
        esac
    elif (( ! $#offered )); then
        case "$route" in
        {_lines(words, 8)}
        esac
    fi
    if (( $#offered )); then
        _describe pinakes offered
    else
        _files
    fi
}}
if [[ $funcstack[1] == _pinakes ]]; then
    _pinakes "$@"
else
    compdef _pinakes pinakes
fi
"""


def _fish(root: Command) -> str:
    lines = []
    for command, place in zip(root, _places(root), strict=True):
        where = f"-n {_fish_quoted(f'test (__pinakes_route) = {_fish_quoted(place.path)}')}"
        for word, meaning in place.words:
            lines.append(f"complete -c pinakes {where} -f -a {word} -d {_fish_quoted(meaning)}")
        for one in (one for one in command.arguments if one.flags):
            names = " ".join(
                f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
                for flag in one.flags
            )
            value = " -r" if one.value else ""
            if one.choices:
                value = f" -x -a {_fish_quoted(' '.join(one.choices))}"
            lines.append(
                f"complete -c pinakes {where} {names}{value} -d {_fish_quoted(_brief(one))}"
            )
    routes = " ".join(_fish_quoted(f" {' '.join(one.words)}") for one in root if one.words)
    return f"""\
# fish completion of pinakes
function __pinakes_route
    set -l route ''
    for word in (commandline -opc)[2..-1]
        contains -- "$route $word" {routes}
        and set route "$route $word"
    end
    string trim -- $route
end
{_lines(lines, 0)}
"""


def _alternatives(root: Command) -> str:
    """The words of every command as patterns of `case`, each word behind a blank."""
    return "|".join(shlex.quote(f" {' '.join(one.words)}") for one in root if one.words)


def _described(offer: _Offer) -> str:
    """What zsh's `_describe` takes."""
    return " ".join(
        shlex.quote(word + (f":{meaning.replace(':', chr(92) + ':')}" if meaning else ""))
        for word, meaning in offer
    )


def _fish_quoted(text: str) -> str:
    """In fish's quotes, where only these two are escaped."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _lines(lines: Iterable[str], indent: int) -> str:
    return f"\n{' ' * indent}".join(lines)


SCRIPTS: MappingProxyType[str, Callable[[Command], str]] = MappingProxyType(
    {"bash": _bash, "zsh": _zsh, "fish": _fish}
)
"""The script for each shell."""
