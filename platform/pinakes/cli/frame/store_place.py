"""Where the store is, for messages."""

from __future__ import annotations

import shlex

from pinakes.config import Configuration


def store_place(configuration: Configuration) -> str:
    """Its folder, or its tables."""
    if configuration.profile == "embedded":
        return str(configuration.store)
    return f"{configuration.hbase_prefix}* on {configuration.hbase}"


def next_command(words: str, configuration: Configuration, *settings: str) -> str:
    """A command for the same store, as a shell takes it: with `--config`, `--store` and these other
    settings, where this call had them."""
    parts = [f"pinakes {words}"]
    if configuration.file is not None:
        parts.append(f"--config {shlex.quote(str(configuration.file))}")
    for name in ("store", *settings):
        option = f"--{name.replace('_', '-')}"
        if configuration.origins.get(name) == f"option {option}":
            parts.append(f"{option} {shlex.quote(str(getattr(configuration, name)))}")
    return " ".join(parts)
