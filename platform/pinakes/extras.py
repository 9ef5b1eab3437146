"""Optional dependencies that are missing: how to install them where this Pinakes is installed.

Pinakes is in no package registry, so that its name alone says nothing to pip.  Layer: the lowest
but errors; reads what pip noted.
"""

from __future__ import annotations

import json
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from pinakes.errors import MissingExtra

_NAME = "pinakes"


def missing_extra(what: str, *extras: str) -> MissingExtra:
    """The error of one that is missing: `what` needs it, and these extras have it."""
    return MissingExtra(f"{what}: {install_command(*extras)}")


def install_command(*extras: str) -> str:
    """The command that adds these extras to this environment."""
    tree = Path(__file__).parents[2]
    is_clone = (tree / "Makefile").is_file() and (tree / "setup.cfg").is_file()
    return describe_install(
        extras,
        tree=tree if is_clone else None,
        origin=_origin(),
        python=Path(sys.executable),
        folder=Path.cwd(),
    )


def describe_install(
    extras: tuple[str, ...], *, tree: Path | None, origin: str | None, python: Path, folder: Path
) -> str:
    """`make` for a clone's own `.venv`, else pip with what Pinakes was installed from.

    `tree` is the clone that runs, `origin` the URL of what was installed, `python` the
    environment's, `folder` where the command will be typed.
    """
    if tree is not None and python.parent == tree / ".venv" / "bin":
        elsewhere = "" if folder == tree else f"-C {shlex.quote(str(tree))} "
        return f"make {elsewhere}{' '.join(f'dev-{extra}' for extra in extras)}"
    wanted = f"[{','.join(extras)}]"
    pip = f"{shlex.quote(str(python))} -m pip install"
    if tree is not None:
        return f"{pip} -e {shlex.quote(f'{tree}{wanted}')}"
    return f"{pip} {shlex.quote(f'{_NAME}{wanted}' + (f' @ {origin}' if origin else ''))}"


def _origin() -> str | None:
    """What pip noted of where Pinakes came from, if it was not a registry (PEP 610)."""
    try:
        noted = json.loads(distribution(_NAME).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    scheme = f"{noted['vcs_info']['vcs']}+" if "vcs_info" in noted else ""
    return f"{scheme}{noted['url']}" if "url" in noted else None
