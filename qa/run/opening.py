"""What a run looks at pages with: a proxy, and for each side a browser of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pinakes.config import user_folder
from pinakes.profile import Stores
from pinakes.qa.browsers.browser_list import browser_named, installed
from pinakes.qa.browsers.session import Session
from pinakes.qa.browsers.starting import starter
from pinakes.qa.browsers.tab import Proxy, Viewport
from pinakes.qa.replay.proxy import ReplayProxy
from pinakes.qa.views.side import ReplaySide, Side

from .page_judge import PageJudge
from .plan import GENERATIONS, RunPlan


@contextmanager
def open_judge(plan: RunPlan, stores: Stores, folder: Path) -> Iterator[PageJudge]:
    """All sides of a plan, with their browsers; images go to `folder`.

    Raises:
        ConfigError: where a browser is not installed.
        MissingExtra: without the extra `qa`.
    """
    viewport = Viewport()
    with ExitStack() as stack:
        proxy = stack.enter_context(ReplayProxy(stores.rows, stores.archive))

        def browser(name: str, host: str, port: int) -> Session:
            programs = installed(browser_named(name), user_folder("cache") / "browsers")
            start = starter(programs, Proxy(host=host, port=port), viewport)
            return stack.enter_context(Session(name, start, viewport=viewport))

        sides = [
            side
            for view in dict.fromkeys((plan.reference, plan.other))
            for side in _sides(view, plan, proxy, browser)
        ]
        yield PageJudge(sides, folder, run=plan.run, masked=plan.masked)


def _sides(
    view: str,
    plan: RunPlan,
    proxy: ReplayProxy,
    browser: Callable[[str, str, int], Session],
) -> Iterator[Side]:
    for name in plan.browsers:
        if view in GENERATIONS:
            session = proxy.open_session(view)  # type: ignore[arg-type]
            yield ReplaySide(view, session, browser(name, session.host, session.port))
        else:
            raise NotImplementedError(view)
