"""Write the state of a crawl as it is in scenes, without the acts that lead there."""

from __future__ import annotations

from pinakes.catalog.crawl_rows import TABLE
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.name_keys import encode_crawl_key
from pinakes.hbase_schema.run_cells import CrawlState
from pinakes.row_store.port import Put, RowStore


def set_crawl_state(store: RowStore, crawl: str, state: str, *, act: str) -> None:
    cell = encode_cell(CrawlState(state=state, act=act))
    store.mutate(TABLE, [Put(encode_crawl_key(crawl), {CrawlState.COLUMN: cell}, None)])
