"""Making a crawl final: from then on files join it no more, and it leaves by `remove`."""

from __future__ import annotations

from pinakes.catalog.crawl_rows import COMMITTED, OPEN, change_crawl_state, require_crawl
from pinakes.catalog.file_rows import scan_entries
from pinakes.errors import ConfigError, Conflict
from pinakes.row_store.port import RowStore

from .acts import Actor


def commit_crawl(rows: RowStore, crawl: str, actor: Actor, *, dry_run: bool = False) -> bool:
    """Make an open crawl committed; whether it was not yet.

    A landing that began before and ends behind it is part of the crawl.

    Raises:
        ConfigError: there is no such crawl, or it was taken out.
        Conflict: some of its files are landing, or did not finish; they are named.
    """
    entry = require_crawl(rows, crawl)
    if entry.state == COMMITTED:
        return False
    if entry.state != OPEN:
        raise ConfigError(f"the crawl {crawl} is {entry.state}: only an open one is committed")
    under_way = [
        file.archive_file
        for file in scan_entries(rows, crawl)
        if file.state is not None and (file.state.is_landing or file.state.is_leaving)
    ]
    if under_way:
        more = f", and {len(under_way) - 3} more" if len(under_way) > 3 else ""
        raise Conflict(
            f"of the crawl {crawl} these did not finish landing: {', '.join(under_way[:3])}{more}; "
            "ingest them again, or run `pinakes fsck --repair`"
        )
    if not dry_run:
        change_crawl_state(rows, crawl, (OPEN,), COMMITTED, act=actor.new_act("commit"))
    return True
