"""Commit a crawl: no more files join it, and it is deleted by `remove`, not `cancel`."""

from __future__ import annotations

from pinakes.catalog.crawl_rows import COMMITTED, OPEN, change_crawl_state, require_crawl
from pinakes.catalog.file_rows import scan_entries
from pinakes.errors import ConfigError, Conflict
from pinakes.row_store.port import RowStore

from .acts import Actor


def commit_crawl(rows: RowStore, crawl: str, actor: Actor, *, dry_run: bool = False) -> bool:
    """Make an open crawl committed; False if it was already.

    A landing that began before the commit and ends after it is part of the crawl.

    Raises:
        ConfigError: the crawl does not exist, or was taken out.
        Conflict: some of its files are landing, or did not finish; the message names them.
    """
    entry = require_crawl(rows, crawl)
    if entry.state == COMMITTED:
        return False
    if entry.state != OPEN:
        raise ConfigError(f"the crawl {crawl} is {entry.state}: only open crawls can be committed")
    under_way = [
        file.archive_file
        for file in scan_entries(rows, crawl)
        if file.state is not None and (file.state.is_landing or file.state.is_leaving)
    ]
    if under_way:
        more = f", and {len(under_way) - 3} more" if len(under_way) > 3 else ""
        raise Conflict(
            f"files of the crawl {crawl} did not finish landing: {', '.join(under_way[:3])}{more}; "
            "ingest them again, or run `pinakes fsck --repair`"
        )
    if not dry_run:
        change_crawl_state(rows, crawl, (OPEN,), COMMITTED, act=actor.new_act("commit"))
    return True
