"""Opens what a run captures pages with: for each side a proxy session and a browser behind it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pinakes.profile import Stores
from pinakes.qa.browsers.looking import Limits
from pinakes.qa.browsers.session import Session
from pinakes.qa.browsers.starting import open_browser
from pinakes.qa.browsers.tab import Proxy, Viewport
from pinakes.qa.judging.model import decode_model
from pinakes.qa.views.opening import AsWideAsStored, SideOpener
from pinakes.qa.views.side import Side

from .page_judge import PageJudge
from .plan import ACCESS, COOKIE_STRIP, GENERATIONS, STORED, RunPlan, is_access, kind_of


@contextmanager
def open_judge(plan: RunPlan, stores: Stores, folder: Path) -> Iterator[PageJudge]:
    """All sides of a plan, with their browsers; images go to `folder`.

    Raises:
        ConfigError: where a browser is not installed.
        MissingExtra: without the extra `qa`.
    """
    with ExitStack() as stack:
        opener = SideOpener(stores, folder, stack, collection=plan.collection)
        models = [decode_model(text.encode()) for text in plan.models]
        yield PageJudge(
            _Sides(plan, opener, stack).open_all(),
            folder,
            run=plan.run,
            prove_first=plan.prove_first,
            masked=plan.masked,
            models=models,
        )


class _Sides:
    """Opens the sides of a plan; the stack closes them."""

    def __init__(self, plan: RunPlan, opener: SideOpener, stack: ExitStack) -> None:
        self._plan = plan
        self._opener = opener
        self._stack = stack

    def open_all(self) -> list[Side]:
        plan = self._plan
        if plan.reference != STORED:
            views = dict.fromkeys((plan.reference, plan.other))
            return [
                self._open(view, name, Viewport(), self._stack)
                for view in views
                for name in plan.browsers
            ]
        stored = self._opener.stored()
        sides: list[Side] = [stored]
        for name in plan.browsers:

            def open_side(viewport: Viewport, stack: ExitStack, name: str = name) -> Side:
                return self._open(plan.other, name, viewport, stack)

            wide = AsWideAsStored(kind_of(plan.other), name, stored, open_side)
            self._stack.callback(wide.close)
            sides.append(wide)
        return sides

    def _open(self, view: str, name: str, viewport: Viewport, stack: ExitStack) -> Side:
        def browser_at(proxy: Proxy) -> Session:
            session = open_browser(
                name,
                proxy,
                viewport,
                limits=Limits(across=self._plan.across),
                masked=self._plan.masked_selectors,
                without_strips=COOKIE_STRIP in self._plan.benign,
            )
            return stack.enter_context(session)

        if view in GENERATIONS:
            return self._opener.replay(view, browser_at, stack)  # type: ignore[arg-type]
        if is_access(view):
            return self._opener.access(view.removeprefix(f"{ACCESS}:"), browser_at, stack)
        return self._opener.live(browser_at, stack)
