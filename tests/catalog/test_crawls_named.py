"""Which crawls a name stands for."""

from __future__ import annotations

import pytest
from crawl_states import set_crawl_state

from pinakes.catalog.crawl_rows import PURGED, crawls_named, ensure_crawl
from pinakes.errors import ConfigError
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.hbase_schema.tables import declared_schema
from pinakes.row_store.sqlite.admin import EmbeddedSchemaAdmin
from pinakes.row_store.sqlite.store import EmbeddedRowStore

CRAWLS = {
    "spring": "news", "summer": "news", "news": "other",
    "alone": "alone",
    "first": "first", "second": "first",
    "gone": "kept", "x": "gone",
    "left": "kept", "v": "left",
}  # fmt: skip
OUT = ("gone", "v")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> EmbeddedRowStore:
    path = tmp_path_factory.mktemp("rows") / "rows.sqlite"
    EmbeddedSchemaAdmin(path).apply(declared_schema())
    rows = EmbeddedRowStore(path)
    for crawl, collection in CRAWLS.items():
        ensure_crawl(rows, crawl, CrawlFacts(collection=collection), act="a", act_time_ms=1)
    for crawl in OUT:
        set_crawl_state(rows, crawl, PURGED, act="a")
    return rows


@pytest.mark.parametrize(
    ("name", "crawls"),
    [
        pytest.param("spring", ["spring"], id="crawl"),
        pytest.param("spring/", ["spring"], id="crawl, marked"),
        pytest.param("+spring", [], id="crawl, marked as a collection"),
        pytest.param("other", ["news"], id="collection"),
        pytest.param("other/", [], id="collection, marked as a crawl"),
        pytest.param("news", None, id="a crawl of another collection, and a collection"),
        pytest.param("news/", ["news"], id="both: the crawl"),
        pytest.param("+news", ["spring", "summer"], id="both: the collection"),
        pytest.param("first", None, id="a crawl and its collection, which has others"),
        pytest.param("alone", ["alone"], id="a crawl and its collection, which has no other"),
        pytest.param("gone", ["x"], id="a collection, and a crawl that is purged"),
        pytest.param("left", ["left"], id="a crawl, and a collection of which all is purged"),
        pytest.param("none", [], id="neither"),
    ],
)
def test_what_a_name_stands_for(
    rows: EmbeddedRowStore, name: str, crawls: list[str] | None
) -> None:
    if crawls is None:
        with pytest.raises(ConfigError, match=f"give {name}/ for the crawl, or [+]{name} for"):
            crawls_named(rows, name)
    else:
        assert [one.crawl for one in crawls_named(rows, name)] == crawls
