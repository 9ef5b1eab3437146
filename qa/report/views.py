"""Display names of the two views of a pair.  Pure."""

from __future__ import annotations

from pinakes.access.display import display_text
from pinakes.qa.results.pair_result import PairResult, View

_NAME_CHARACTERS = 100


def side_names(result: PairResult) -> tuple[str, str]:
    """`Before` and `After` for these, else `Reference` and the other's name."""
    both = (result.reference, result.other)
    is_deduplication = [view.kind for view in both] == ["replay:before", "replay:current"]
    if is_deduplication and both[0].browser == both[1].browser:
        return "Before", "After"
    return "Reference", "Compared"


def kind_of_pair(result: PairResult) -> str:
    """The two views in words: `before chromium → current chromium`."""
    return f"{_view(result.reference)} → {_view(result.other)}"


def _view(view: View) -> str:
    kind = view.kind.partition(":")[2] if view.kind.startswith("replay:") else view.kind
    return display_text(f"{kind} {view.browser}".strip(), _NAME_CHARACTERS)
