"""Which records a selection holds for."""

from __future__ import annotations

import pytest

from pinakes.errors import ConfigError
from pinakes.index.selection import Entry, Selection, digest_of, pattern_of, status_of, time_of
from pinakes.index.urlkey import urlkey
from pinakes.warc.digest import Digest, parse_digest

BODY_SHA1 = "sha1:JYQVGOZRKJXYGTBHOORKWEGGAFEVBNRD"
OTHER_SHA1 = "sha1:HJTMTVLJQBB657G75PNOAS6QR7Q3VY6R"
ENTRY = Entry(
    "a.warc.gz",
    7,
    100,
    0,
    "response",
    "2020-02-29T10:00:00.5Z",
    "http://www.example.org/a/b?c=1",
    404,
    "text/html",
    1000,
    OTHER_SHA1,
    None,
    (),
)


def compute(algorithm: str) -> Digest | None:
    assert algorithm == "sha1"
    return parse_digest(BODY_SHA1)


@pytest.mark.parametrize(
    ("selection", "holds"),
    [
        (Selection(), True),
        (Selection(types=frozenset({"response", "revisit"})), True),
        (Selection(types=frozenset({"revisit"})), False),
        (Selection(statuses=(status_of("200"), status_of("4XX"))), True),
        (Selection(statuses=(status_of("3xx"),)), False),
        (Selection(media_types=(pattern_of("TEXT/*"),)), True),
        (Selection(media_types=(pattern_of("text"),)), False),
        (Selection(urls=(pattern_of("http://*.org/a/*"),)), True),
        (Selection(urls=(pattern_of("*/a/b"),)), False),
        (Selection(urlkeys=frozenset({urlkey("https://EXAMPLE.org/a/b?c=1")})), True),
        (Selection(urlkeys=frozenset({urlkey("https://example.org/a/b")})), False),
        (Selection(hosts=("example.org",)), True),
        (Selection(hosts=("www.example.org",)), True),
        (Selection(hosts=("ample.org",)), False),
        (Selection(since=time_of("2020-02-29")), True),
        (Selection(since=time_of("2020-02-29T10:00:01Z")), False),
        (Selection(until=time_of("202003")), True),
        (Selection(until=time_of("2020")), False),
        (Selection(min_size=1000, max_size=1000), True),
        (Selection(min_size=1001), False),
        (Selection(max_size=999), False),
        (Selection(digests=frozenset({digest_of(BODY_SHA1)})), True),
        # What is declared may be wrong.
        (Selection(digests=frozenset({digest_of(OTHER_SHA1)})), False),
        (Selection(hosts=("example.org",), min_size=1001), False),
    ],
)
def test_all_conditions_have_to_hold(selection: Selection, holds: bool) -> None:
    assert selection.selects(ENTRY, compute) is holds


def test_a_revisit_has_the_digest_that_it_declares() -> None:
    revisit = ENTRY._replace(type="revisit")
    assert Selection(digests=frozenset({digest_of(OTHER_SHA1)})).selects(revisit, compute)
    assert not Selection(digests=frozenset({digest_of(BODY_SHA1)})).selects(revisit, compute)


def test_inverted() -> None:
    assert not Selection(hosts=("example.org",), invert=True).selects(ENTRY, compute)


@pytest.mark.parametrize("selection", [Selection(since="2020"), Selection(hosts=("a",)),
                                       Selection(urls=(pattern_of("*"),)),
                                       Selection(media_types=(pattern_of("*"),)),
                                       Selection(statuses=(status_of("200"),))])  # fmt: skip
def test_what_is_unknown_meets_no_condition(selection: Selection) -> None:
    unknown = ENTRY._replace(date="no date", target_uri=None, media_type=None, status=None)
    assert not selection.selects(unknown, compute)


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (status_of, "20"),
        (status_of, "x00"),
        (status_of, "2000"),
        (time_of, "202"),
        (time_of, "yesterday"),
        (time_of, "2020-02-29T10:00:00.5Z"),
        (digest_of, "sha1:short"),
    ],
)
def test_wrong_conditions(parse: object, text: str) -> None:
    with pytest.raises(ConfigError):
        parse(text)  # type: ignore[operator]
