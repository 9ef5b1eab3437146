"""What `serve` answers with: pages, look-ups, byte ranges of archive files."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pinakes.access.asgi import Application
from pinakes.access.asgi_site import LOGGER, AsgiSite, Route
from pinakes.access.cdx.answer import CdxIndex
from pinakes.access.cdx.handler import CdxSite
from pinakes.access.readable import ReadableCaptures
from pinakes.access.rules import parse_rules
from pinakes.access.site import HEADERS, Site
from pinakes.access.views import Views
from pinakes.access.warc_server import WarcServer
from pinakes.catalog.originals import Original
from pinakes.catalog.sound_originals import SoundOriginals
from pinakes.config import Configuration
from pinakes.dedupe.decide.policy import parse_policies
from pinakes.errors import ConfigError, PinakesError
from pinakes.profile import Stores, open_stores

_STORE_THREADS = 16
_LEAST_TOKEN = 16


@contextmanager
def open_site(
    configuration: Configuration, hosts: Sequence[str] | None, tokens: tuple[str, ...]
) -> Iterator[Application]:
    """What one process answers with, on stores of its own."""
    with ExitStack() as stack:
        stores = stack.enter_context(open_stores(configuration, serving=True))
        threads = None
        if configuration.profile == "cluster":
            threads = stack.enter_context(ThreadPoolExecutor(_STORE_THREADS))
        rules = parse_rules(configuration.access)
        captures = ReadableCaptures(stores.rows, stores.archive, rules=rules)
        views = Views(stores.rows, stores.archive, shows_crawl=captures.shows_crawl)
        pages = Site(views, captures, replay_url=configuration.replay_url)
        cdx = CdxSite(
            CdxIndex(stores.rows, stores.archive, rules=rules),
            stores.rows,
            threads=threads,
            otherwise=pages,
            pages=pages.first_parts,
            tokens=tokens,
            replay_url=configuration.replay_url,
            policies=parse_policies(configuration.dedupe),
            is_sound=proof_of_originals(configuration, stores, _log_damage),
        )
        warc = Route(re.compile(rb"/warc/.+"), WarcServer(captures.files))
        in_gzip = Route(re.compile(rb"/gzip/.+"), WarcServer(captures.files, in_gzip=True))
        routes = (*cdx.routes(), warc, in_gzip)
        yield AsgiSite(pages, hosts=hosts, headers=HEADERS, routes=routes)
        if not views.close():
            # A thread hangs in a store, and ends with the process: the store is left open.
            stack.pop_all()


def proof_of_originals(
    configuration: Configuration, stores: Stores, on_damage: Callable[[PinakesError], None]
) -> Callable[[Original], bool] | None:
    """What reads an original before a crawler is given it; None where the catalogue is believed."""
    if configuration.crawl_originals != "read":
        return None
    return SoundOriginals(stores.rows, stores.archive, on_damage=on_damage).is_sound


def _log_damage(error: PinakesError) -> None:
    logging.getLogger(LOGGER).error("an original is left out: %s", error)


def read_tokens(path: Path | None) -> tuple[str, ...]:
    """The tokens in a file, a line each."""
    if path is None:
        return ()
    try:
        lines = path.read_text("ascii").split()
    except (OSError, ValueError) as error:
        raise ConfigError(f"token_file cannot be read: {error}", file=str(path)) from error
    if not lines or any(len(token) < _LEAST_TOKEN for token in lines):
        raise ConfigError(
            f"token_file has tokens of {_LEAST_TOKEN} characters or more, a line each",
            file=str(path),
        )
    return tuple(lines)
