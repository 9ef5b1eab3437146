"""A seventh of the pages changes between two crawls, always the same seventh."""

import pytest

from bench.site_changes import is_changed, served_body

PAGES = [f"/doc/page-{n}.html" for n in range(7000)]


def test_first_crawl_serves_files_as_they_are():
    assert not any(is_changed(page, 1) for page in PAGES)


def test_about_one_page_in_seven_changes_in_the_second_crawl():
    changed = sum(is_changed(page, 2) for page in PAGES)
    assert 900 < changed < 1100


@pytest.mark.parametrize("path", ["/a.png", "/a.css", "/a.js", "/html"])
def test_only_pages_change(path):
    assert not any(is_changed(f"/{n}{path}", 2) for n in range(200))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            b"<body>x</BODY></html>",
            b"<body>x<p>Revised for crawl 2.</p>\n</BODY></html>",
            id="inside-body",
        ),
        pytest.param(b"fragment", b"fragment<p>Revised for crawl 2.</p>\n", id="no-body"),
    ],
)
def test_changed_page_gets_one_line(body, expected):
    page = next(page for page in PAGES if is_changed(page, 2))
    assert served_body(body, page, 2) == expected


def test_unchanged_page_is_served_byte_for_byte():
    page = next(page for page in PAGES if not is_changed(page, 2))
    assert served_body(b"<body></body>", page, 2) == b"<body></body>"
