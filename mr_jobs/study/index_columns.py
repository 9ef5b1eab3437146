"""The table `ccindex`: a row per capture, in the columns of Common Crawl's and some of ours.

Names, types and meanings are those of Common Crawl's columnar index (github.com/commoncrawl/
cc-index-table, `cc-index-schema-flat.json`), so that queries written for it run unchanged.
Where it says `int` for a place in a file we say `bigint`: ours may be longer than 2 GiB.
"""

from __future__ import annotations

from types import MappingProxyType

COMMON_CRAWL = MappingProxyType(
    {
        "url_surtkey": "string",
        "url": "string",
        "url_host_name": "string",
        "url_host_tld": "string",
        "url_host_2nd_last_part": "string",
        "url_host_3rd_last_part": "string",
        "url_host_4th_last_part": "string",
        "url_host_5th_last_part": "string",
        "url_host_registry_suffix": "string",
        "url_host_registered_domain": "string",
        "url_host_private_suffix": "string",
        "url_host_private_domain": "string",
        "url_host_name_reversed": "string",
        "url_protocol": "string",
        "url_port": "int",
        "url_path": "string",
        "url_query": "string",
        "fetch_time": "timestamp",
        "fetch_status": "smallint",
        "fetch_redirect": "string",
        "content_digest": "string",
        "content_mime_type": "string",
        "content_mime_detected": "string",
        "content_charset": "string",
        "content_languages": "string",
        "content_truncated": "string",
        "warc_record_id": "binary",
        "warc_filename": "string",
        "warc_record_offset": "bigint",
        "warc_record_length": "bigint",
        "warc_segment": "string",
        "crawl": "string",
        "subset": "string",
    }
)
"""Column by column, Common Crawl's; those whose values we were not given are null."""

OURS = MappingProxyType(
    {
        "collection": "string",
        "archive_file": "string",
        "record_ordinal": "bigint",
        "record_type": "string",
        "payload_size": "bigint",
        "content_sha256": "string",
        "content_dechunked_sha256": "string",
        "skip": "string",
        "is_replaced": "boolean",
        "takes_part": "boolean",
    }
)
"""Ours: the record as it landed (`record_type`, `payload_size` in bytes of the stored body, its
SHA-256 and that of the de-chunked body in hex), why it can be no duplicate (`skip`), whether a
run has made it a revisit since, and whether a study counts it."""

COLUMNS = MappingProxyType({**COMMON_CRAWL, **OURS})

STUDIED = (
    "collection",
    "crawl",
    "url_surtkey",
    "url_host_name",
    "fetch_time",
    "fetch_status",
    "content_mime_type",
    "archive_file",
    "record_ordinal",
    "record_type",
    "warc_record_length",
    "payload_size",
    "content_sha256",
    "content_dechunked_sha256",
    "skip",
    "takes_part",
)
"""Those that a study asks for: the fewer, the faster."""
