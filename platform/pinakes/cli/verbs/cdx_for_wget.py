"""`pinakes cdx COLLECTION --format wget`: a CDX file for wget's `--warc-dedup`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from pinakes.access.cdx.answer import CdxIndex
from pinakes.access.rules import parse_rules
from pinakes.catalog.cdx_lines import CDX_WITH_IDS, format_cdx_with_id
from pinakes.catalog.crawl_rows import require_crawls_there, scan_crawls
from pinakes.catalog.originals import OriginalFinder
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import output_file
from pinakes.config import Configuration
from pinakes.errors import ConfigError
from pinakes.index.cdxj import format_cdx_header
from pinakes.profile import open_stores


def write_for_wget(
    names: Sequence[str], output: str, configuration: Configuration, console: Console
) -> Exit:
    """The originals of collections, as `serve` gives them: by rows, since that takes knowing what
    else has the digest, and is at the address."""
    with open_stores(configuration) as stores:
        rules = parse_rules(configuration.access)
        lines = CdxIndex(stores.rows, stores.archive, rules=rules).lines
        collections = {crawl.facts.collection for crawl in scan_crawls(stores.rows)}
        for name in names:
            require_crawls_there(stores.rows, collection=name)
            if name not in collections:
                raise ConfigError(
                    f"{name}: no collection of this name, and --format wget takes no other"
                )
        with output_file(output, console) as out:
            out.write(f"{format_cdx_header(CDX_WITH_IDS)}\n".encode())
            for name in names:
                finder = OriginalFinder(
                    stores.rows,
                    lines.files,
                    collection=name,
                    crawl=None,
                    admits=lines.admits,
                    gives=lines.gives,
                )
                for original in chain.from_iterable(finder.iter_originals()):
                    line = format_cdx_with_id(original)
                    out.write(line.encode("utf-8", "surrogateescape") + b"\n")
    return Exit.DONE
