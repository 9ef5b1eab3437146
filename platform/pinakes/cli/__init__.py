"""The command `pinakes`: one file a verb, imported when it is called.

Layer: the top; imported by nothing.  `verbs` lists the verbs, `frame` reads the command
line and runs one, `output` and `progress` speak to people and scripts, `exits` says which
exit code an error is.  Importing this package loads the standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run `pinakes` on these arguments (the process's, where None); the exit code."""
    from pinakes.cli.frame import run

    return run(argv)
