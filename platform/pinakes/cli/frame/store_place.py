"""Where the store is, for messages."""

from __future__ import annotations

from pinakes.config import Configuration


def store_place(configuration: Configuration) -> str:
    """Its folder, or its tables."""
    if configuration.profile == "embedded":
        return str(configuration.store)
    return f"{configuration.hbase_prefix}* on {configuration.hbase}"
