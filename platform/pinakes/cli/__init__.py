"""The command `pinakes`.

Layer: the top; imported by nothing.  `command` reads the command line and runs one verb;
`verbs` has a module a verb, imported when it is called; `frame` is what they share: options,
output, progress, exit codes.  Importing this package loads the standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run `pinakes` on these arguments (the process's, where None); the exit code."""
    from pinakes.cli.command import run

    return run(argv)
