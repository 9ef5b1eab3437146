"""Names of new files, before any is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pinakes.errors import ConfigError


def refuse_clashes(by_target: Mapping[str, Collection[str]]) -> None:
    """Raise ConfigError where two inputs would be written under one name."""
    clashes = [" and ".join(names) for names in by_target.values() if len(names) > 1]
    if clashes:
        raise ConfigError(
            f"two inputs would have the same output name, nothing was written: {'; '.join(clashes)}"
        )
