"""The bench's server answers known paths over one connection, and nothing else."""

import http.client
from urllib.parse import urlsplit

from bench.site_server import serving


def test_serves_known_paths_and_keeps_the_connection():
    with serving({"/page.html": b"<p>hello</p>"}.get) as base:
        connection = http.client.HTTPConnection(urlsplit(base).netloc)
        answers = []
        for path in ("/page.html", f"{base}/page.html", "/../page.html", "/etc/passwd"):
            connection.request("GET", path)
            answer = connection.getresponse()
            answers.append((answer.status, answer.headers["Content-Type"], answer.read()))
        connection.close()
    page_answer = (200, "text/html; charset=utf-8", b"<p>hello</p>")
    assert answers[:2] == [page_answer, page_answer]
    assert [status for status, _, _ in answers[2:]] == [404, 404]
