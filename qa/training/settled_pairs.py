"""What people settled of a run's pairs, as pairs to train with.  Pure."""

from __future__ import annotations

from pinakes.qa.judging.model import model_name
from pinakes.qa.results.pair_result import PairResult
from pinakes.qa.sample.hosts import host_of

from .labelled import LabelledPair


def labelled_pair(result: PairResult, *, is_faulty: bool) -> LabelledPair:
    """A result with what people say of it; its site is its host, without `www.`."""
    browsers = {view.browser for view in (result.reference, result.other) if view.browser}
    host = (host_of(result.url) or result.url).removeprefix("www.")
    return LabelledPair(
        site=host,
        features=dict(result.features),
        label="dissimilar" if is_faulty else "similar",
        pair=model_name(browsers),
    )
