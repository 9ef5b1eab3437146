"""What `pinakes qa run` looks at pages with: a proxy, and a browser for each generation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pinakes.config import user_folder
from pinakes.profile import Stores
from pinakes.qa.browsers.browser_list import browser_named, installed
from pinakes.qa.browsers.session import Session
from pinakes.qa.browsers.starting import starter
from pinakes.qa.browsers.tab import Proxy, Viewport
from pinakes.qa.replay.generations import Generation
from pinakes.qa.replay.proxy import ReplayProxy
from pinakes.qa.run.before_after import BeforeAfter, Side


@contextmanager
def looking(stores: Stores, browser: str, folder: Path) -> Iterator[BeforeAfter]:
    """Both generations behind a browser of the list; results go to `folder`.

    Raises:
        ConfigError: where there is no such browser, or it is not installed.
        MissingExtra: without the extra `qa`.
    """
    programs = installed(browser_named(browser), user_folder("cache") / "browsers")
    viewport = Viewport()
    with ExitStack() as stack:
        proxy = stack.enter_context(ReplayProxy(stores.rows, stores.archive))

        def side(generation: Generation) -> Side:
            session = proxy.open_session(generation)
            start = starter(programs, Proxy(host=session.host, port=session.port), viewport)
            shown = stack.enter_context(Session(browser, start, viewport=viewport))
            return Side(f"replay:{generation}", session, shown)

        yield BeforeAfter(side("before"), side("current"), folder, run=folder.name)
