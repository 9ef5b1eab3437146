"""What a run looks at pages with: for each side what answers it, and a browser of its own."""

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
from pinakes.qa.judging.model import decode_model
from pinakes.qa.replay.proxy import ReplayProxy
from pinakes.qa.views.opening import AsWideAsStored, OtherViews
from pinakes.qa.views.side import ReplaySide, Side

from .page_judge import PageJudge
from .plan import ACCESS, GENERATIONS, STORED, RunPlan, is_access, kind_of


@contextmanager
def open_judge(plan: RunPlan, stores: Stores, folder: Path) -> Iterator[PageJudge]:
    """All sides of a plan, with their browsers; images go to `folder`.

    Raises:
        ConfigError: where a browser is not installed.
        MissingExtra: without the extra `qa`.
    """
    with ExitStack() as stack:
        opening = _Opening(plan, stores, folder, stack)
        models = [decode_model(text.encode()) for text in plan.models]
        yield PageJudge(
            opening.sides(),
            folder,
            run=plan.run,
            prove_first=plan.prove_first,
            masked=plan.masked,
            models=models,
        )


class _Opening:
    """Opens sides; the stack closes them."""

    def __init__(self, plan: RunPlan, stores: Stores, folder: Path, stack: ExitStack) -> None:
        self._plan = plan
        self._stack = stack
        self._proxy = stack.enter_context(ReplayProxy(stores.rows, stores.archive))
        self._others = OtherViews(stores, folder, stack, collection=plan.collection)

    def sides(self) -> list[Side]:
        plan = self._plan
        if plan.reference != STORED:
            views = dict.fromkeys((plan.reference, plan.other))
            return [
                self._side(view, name, Viewport(), self._stack)
                for view in views
                for name in plan.browsers
            ]
        stored = self._others.stored()
        sides: list[Side] = [stored]
        for name in plan.browsers:

            def open_side(viewport: Viewport, stack: ExitStack, name: str = name) -> Side:
                return self._side(plan.other, name, viewport, stack)

            wide = AsWideAsStored(kind_of(plan.other), name, stored, open_side)
            self._stack.callback(wide.close)
            sides.append(wide)
        return sides

    def _side(self, view: str, name: str, viewport: Viewport, stack: ExitStack) -> Side:
        def browser(host: str, port: int) -> Session:
            programs = installed(browser_named(name), user_folder("cache") / "browsers")
            start = starter(programs, Proxy(host=host, port=port), viewport)
            masked = self._plan.masked_selectors
            return stack.enter_context(Session(name, start, viewport=viewport, masked=masked))

        if view in GENERATIONS:
            collection = self._plan.collection
            session = self._proxy.open_session(view, collection=collection)  # type: ignore[arg-type]
            stack.callback(session.close)  # a port, which the next width has no use for
            return ReplaySide(view, session, browser(session.host, session.port))
        if is_access(view):
            return self._others.access(view.removeprefix(f"{ACCESS}:"), browser, stack)
        return self._others.live(browser, stack)
