"""`pinakes cluster`: the verb of `local_cluster`, which a clone of the source has, and no wheel."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pinakes
from pinakes.cli.frame.output import Console
from pinakes.errors import ConfigError

_NAME = "local_cluster"
_ABSENT = (
    "`pinakes cluster` starts servers for development and tests, and is in a clone of the source "
    "only: run `make dev` there, then `.venv/bin/pinakes cluster` (docs/cluster.md)"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the clone's verb; without a clone, accept any."""
    verb = _clones_verb()
    if verb is None:
        parser.description = _ABSENT
        parser.add_argument("rest", nargs=argparse.REMAINDER, help="refused, without a clone")
    else:
        verb.configure(parser)


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Do what the clone's verb does.

    Raises:
        ConfigError: this is installed without a clone.
    """
    verb = _clones_verb()
    if verb is None:
        raise ConfigError(_ABSENT)
    return int(verb.run(arguments, console))


def _clones_verb() -> ModuleType | None:
    """`local_cluster.verb` of the clone that this runs from; None if it runs from none."""
    folder = Path(pinakes.__file__).resolve().parents[2] / _NAME
    if _NAME not in sys.modules:
        # By its place: with the clone on the path, its other folders would be packages, too.
        at = folder / "__init__.py"
        spec = spec_from_file_location(_NAME, at, submodule_search_locations=[str(folder)])
        if spec is None or spec.loader is None or not at.is_file():
            return None
        module = sys.modules[_NAME] = module_from_spec(spec)
        spec.loader.exec_module(module)
    return import_module(f"{_NAME}.verb")
