"""What bash, zsh and fish complete with the scripts of `pinakes completion`; the manual page."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from verbs_here import call_here

from pinakes.cli.frame.manual_page import Command, manual_page, read_command
from pinakes.cli.parsers import whole_parser
from pinakes.cli.verbs import VERBS

Complete = Callable[[Sequence[str]], list[set[str]]]
"""Lines as typed, and the words that are offered for each."""

# The completion function is called once a line, with what bash sets for it.
BASH = r"""
eval "$(cat pinakes.bash)"
while IFS= read -r line; do
    read -ra COMP_WORDS <<<"$line"
    [[ $line == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _shtab_pinakes 2>/dev/null  # compopt works in a completion alone
    echo "${COMPREPLY[*]}"
done
"""
# zsh completes in its line editor alone, which wants a terminal.
ZSH = r"""
zmodload zsh/zpty
cp pinakes.zsh _pinakes
cat >lines
rm -f finished
cat >setup <<'SETUP'
fpath=($PWD $fpath)
autoload -Uz compinit
compinit -u -D
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
        builtin compadd "$@"
        return
    fi
    local -a hits
    builtin compadd -A hits "$@"
    found+=($hits)
}
answer() {
    local line
    typeset -ga found
    while IFS= read -r line; do
        found=()
        BUFFER=$line CURSOR=$#line
        zle complete-word
        print -r -- ${(j: :)found}
    done <lines >answers
    BUFFER=
    : >finished
}
zle -N answer
bindkey '^I' answer
SETUP
zpty -b shell zsh -f -i
zpty -w shell 'source ./setup'
zpty -w -n shell $'\t'
until [[ -e finished ]]; do zpty -r -t shell said || sleep 0.05; done
zpty -d shell
cat answers
"""
FISH = r"""
source pinakes.fish
while read -l line
    complete -C $line | string replace -r '\t.*' '' | string join ' '
end
true
"""
CALLS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


@pytest.fixture(scope="module")
def root() -> Command:
    """The command, from its parsers."""
    return read_command(whole_parser(VERBS))


@pytest.fixture(params=CALLS)
def complete(request: pytest.FixtureRequest, tmp_path: Path) -> Complete:
    """How this shell completes."""
    program = request.param
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: `make tools` does it")
    done = call_here(tmp_path, "completion", program)
    (tmp_path / f"pinakes.{program}").write_text(done.stdout)
    (tmp_path / "loop").write_text(CALLS[program])

    def answer(lines: Sequence[str]) -> list[set[str]]:
        shell = subprocess.run(
            [program, "loop"],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"},
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            text=True,
        )
        assert (shell.returncode, shell.stderr) == (0, "")
        return [set(line.split()) for line in shell.stdout.split("\n")[:-1]]

    return answer


def test_what_is_offered(complete: Complete) -> None:
    lines = {
        "pinakes ing": {"ingest"},
        "pinakes -q ing": {"ingest"},
        "pinakes --config here.toml ing": {"ingest"},
        "pinakes crawl l": {"list"},
        "pinakes crawl list --sto": {"--store"},
        "pinakes ingest --hook ": {"browsertrix", "heritrix", "wget"},
        "pinakes ingest --hook w": {"wget"},
        "pinakes ingest a.warc.gz --dry": {"--dry-run"},
        "pinakes completion ": {"bash", "fish", "zsh"},
        "pinakes ingest list --hoo": {"--hook"},
    }
    assert dict(zip(lines, complete([*lines]), strict=True)) == lines


def test_files_are_offered_where_there_are_no_choices(complete: Complete, tmp_path: Path) -> None:
    (tmp_path / "spring.warc.gz").touch()
    assert (
        complete(["pinakes ingest spr", "pinakes --config spr", "pinakes qa run --store spr"])
        == [{"spring.warc.gz"}] * 3
    )


def test_every_option_and_action_is_offered(complete: Complete, root: Command) -> None:
    commands = list(root)
    typed = [" ".join(["pinakes", *command.words, ""]) for command in commands]
    flags = [
        {flag for one in command.arguments for flag in one.flags if flag.startswith("--")}
        for command in commands
    ]
    assert complete([f"{line}--" for line in typed]) == flags
    nested = [
        (line, {one.words[-1] for one in command.commands})
        for line, command in zip(typed, commands, strict=True)
        if command.commands
    ]
    assert complete([line for line, _ in nested]) == [words for _, words in nested]


def test_the_tree_is_that_of_the_parsers(root: Command) -> None:
    found = {" ".join(command.words): command for command in root}
    assert {"", "ingest", "crawl list", "qa run"} <= set(found)
    hook = next(one for one in found["ingest"].arguments if "--hook" in one.flags)
    assert hook.choices == ("browsertrix", "heritrix", "wget")
    assert next(one for one in found["ingest"].arguments if "--watch" in one.flags).value == ""


def test_the_manual_page_has_every_option(tmp_path: Path, root: Command) -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed: `make tools` does it")
    page = call_here(tmp_path, "manual").stdout
    shown = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=300n"],
        input=page,
        capture_output=True,
        text=True,
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    words = set(shown.stdout.replace("‐", "-").replace(",", " ").split())
    for command in root:
        assert set(command.words) <= words
        assert {flag for one in command.arguments for flag in one.flags} <= words


def test_roff_in_a_help_text_is_text() -> None:
    odd = Command(
        words=(), help=".ce \\n(.$ it's …", usage="u", epilog="'br", arguments=(), commands=()
    )
    page = manual_page(odd)
    assert "\\&.ce \\en(.$ it's \\[u2026]" in page
    assert "\\&'br" in page
