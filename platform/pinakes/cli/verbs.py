"""The verbs that are built: adding one is adding its line here.

The module `pinakes.cli.NAME` offers `configure(parser)` and `run(arguments, console)`
(see `frame.VerbModule`), and is imported only when its verb is called, so that
`pinakes --help` stays quick.  The order is that of `pinakes --help`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class Verb(NamedTuple):
    """Where a verb lives, and what it does, in one line without a full stop."""

    module: str
    help: str


VERBS = MappingProxyType(
    {
        "config": Verb("pinakes.cli.config", "the configuration in force, and whence each value"),
        "refs": Verb("pinakes.cli.refs", "write archive files anew, duplicates as revisits"),
        "validate": Verb("pinakes.cli.validate", "compare archive files before and after"),
        "restore": Verb("pinakes.cli.restore", "turn our revisits back into full records"),
    }
)
