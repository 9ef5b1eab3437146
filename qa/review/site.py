"""The site of the review: a page, its images, and a small API for the page.

    GET  /                          the page, which loads all else
    GET  /image/NAME                an image
    GET  /api/run                   the run, and the viewer
    GET  /api/pairs?state=…&offset= a part of the list
    GET  /api/pairs/ID              a pair
    POST /api/pairs/ID/judgements   a judgement
    GET  /api/progress              how far the review is
    GET  /api/summary               the figures
    POST /api/signoffs              a sign-off

Nothing archived runs in the page: it gets images and escaped text.  Writing needs the token:
`checked_requests.require_write_access`.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Collection
from importlib.resources import files
from pathlib import Path
from typing import BinaryIO

from werkzeug.exceptions import HTTPException, NotFound
from werkzeug.routing import Rule
from werkzeug.wrappers import Response
from werkzeug.wsgi import FileWrapper

from pinakes.access.display import display_text, stylesheet
from pinakes.access.page_site import STRICT_HEADERS, PageSite, Request
from pinakes.errors import Conflict, InputRefused, PinakesError
from pinakes.qa.results import is_image_name
from pinakes.qa.review import checked_requests

from .answers import listed_answer, pair_answer, signed_answer, summary_answer
from .board import Board, PairHistory
from .judgement import FAULTS, NAME_CHARACTERS, NOTE_CHARACTERS
from .judgement_rows import SignOffState
from .visible_pair import FILTER_NAMES, HIDDEN, STATES, Viewer, parse_filter

_TYPES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp"}


def image_type(name: str) -> str:
    """The media type of an image's name; None for other names."""
    return _TYPES[name.rpartition(".")[2]]


class RunImages:
    """Opens the images of a run's folder."""

    def __init__(self, folder: Path, names: Collection[str]) -> None:
        self._folder = folder
        self._names = frozenset(filter(is_image_name, names))

    def open(self, name: str) -> tuple[BinaryIO, int] | None:
        """The file, for the caller to close, and its size in bytes; None if there is none."""
        if name not in self._names:
            return None
        try:
            # Opening a pipe would block; a link may lead elsewhere.
            number = os.open(self._folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode):
            os.close(number)
            return None
        return os.fdopen(number, "rb"), found.st_size


HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    **STRICT_HEADERS,
}
_IMAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "Cache-Control": "private, max-age=3600",  # named by its bytes
}
PAGE_PAIRS = 50
_MOST_PAIRS = 200
_SITES = 500
_SCRIPTS = ("elements", "listing", "pair", "stage", "saying", "summary", "review")
_ASSETS = {
    "/": ("pinakes.qa.review", "review.html", "text/html"),
    "/review.css": ("pinakes.qa.review", "review.css", "text/css"),
    **{f"/{name}.js": ("pinakes.qa.review", f"{name}.js", "text/javascript") for name in _SCRIPTS},
}


class ReviewSite(PageSite):
    """Answers with the page and its data; errors are problems in JSON."""

    def __init__(self, board: Board, images: RunImages, *, token: str, title: str) -> None:
        self._board = board
        self._images = images
        self._token = token
        self._title = title
        pair = "/api/pairs/<id>"
        rules = [Rule(path, endpoint=self._asset, methods=["GET"]) for path in _ASSETS]
        rules += [
            Rule("/report.css", endpoint=self._report_style, methods=["GET"]),
            Rule("/favicon.ico", endpoint=self._no_icon, methods=["GET"]),
            Rule("/image/<name>", endpoint=self._image, methods=["GET"]),
            Rule("/api/run", endpoint=self._run, methods=["GET"]),
            Rule("/api/pairs", endpoint=self._pairs, methods=["GET"]),
            Rule(pair, endpoint=self._pair, methods=["GET"]),
            Rule(f"{pair}/judgements", endpoint=self._judge, methods=["POST"]),
            Rule("/api/progress", endpoint=self._progress, methods=["GET"]),
            Rule("/api/summary", endpoint=self._summary, methods=["GET"]),
            Rule("/api/signoffs", endpoint=self._sign, methods=["POST"]),
        ]
        super().__init__(rules)

    def refusal(self, request: Request, error: HTTPException) -> Response:
        """With the error's own message, if it has one."""
        return _problem(error.description or error.name, error.code or 500)

    def failure(self, request: Request, error: PinakesError) -> Response:
        """The first is the client's error; the others are the store's."""
        if isinstance(error, InputRefused):
            return _problem(error.message, 400)
        if isinstance(error, Conflict):
            return _problem(error.message, 409)
        return _problem(str(error), 503)

    def _asset(self, request: Request) -> Response:
        package, name, media_type = _ASSETS[request.path]
        return Response(files(package).joinpath(name).read_bytes(), mimetype=media_type)

    def _report_style(self, request: Request) -> Response:
        return Response(stylesheet("pinakes.qa.report", "report.css"), mimetype="text/css")

    def _no_icon(self, request: Request) -> Response:
        return Response(status=204)  # browsers request it, and log an error otherwise

    def _image(self, request: Request, name: str) -> Response:
        found = self._images.open(name)
        if found is None:
            raise NotFound("no such image in the folder of the run")
        file, size = found
        response = Response(FileWrapper(file), mimetype=image_type(name), direct_passthrough=True)
        response.content_length = size
        response.headers.update(_IMAGE_HEADERS)
        return response

    def _run(self, request: Request) -> Response:
        viewer, pairs = self._viewer(request), self._board.pairs
        sites = sorted({pair.site for pair in pairs})
        return _json(
            {
                "run": display_text(self._board.run),
                "title": display_text(self._title),
                "pairs": len(pairs),
                "faults": FAULTS,
                "states": list(STATES),
                "hidden": HIDDEN,
                "browsers": sorted({pair.browsers for pair in pairs})[:_SITES],
                "sites": sites[:_SITES],
                "sites_left_out": max(0, len(sites) - _SITES),
                "signoffs": [state.value for state in SignOffState],
                "name_characters": NAME_CHARACTERS,
                "note_characters": NOTE_CHARACTERS,
                "page_pairs": PAGE_PAIRS,
                "viewer": {
                    "author": viewer.author,
                    "role": viewer.role.value,
                    "may_write": checked_requests.has_token(request, self._token),
                    "may_sign": self._board.may_sign(viewer),
                },
            }
        )

    def _pairs(self, request: Request) -> Response:
        wanted = parse_filter(
            {name: request.args[name] for name in FILTER_NAMES if name in request.args}
        )
        offset = max(0, request.args.get("offset", 0, type=int))
        limit = min(_MOST_PAIRS, max(1, request.args.get("limit", PAGE_PAIRS, type=int)))
        listed = self._board.listed(self._viewer(request), wanted, offset=offset, limit=limit)
        return _json(listed_answer(listed, offset))

    def _pair(self, request: Request, id: str) -> Response:  # noqa: A002
        return _history(self._board.look(id, self._viewer(request)))

    def _judge(self, request: Request, id: str) -> Response:  # noqa: A002
        checked_requests.require_write_access(request, self._token)
        viewer, sent = self._viewer(request), checked_requests.parse_judge_request(request)
        return _history(self._board.judge(id, viewer, *sent))

    def _progress(self, request: Request) -> Response:
        return _json(self._board.progress()._asdict())

    def _summary(self, request: Request) -> Response:
        summary, problem = self._board.summary()
        signed = self._board.signoffs()
        return _json(
            summary_answer(summary, signed, unreadable=self._board.unreadable(), problem=problem)
        )

    def _sign(self, request: Request) -> Response:
        checked_requests.require_write_access(request, self._token)
        viewer, sent = self._viewer(request), checked_requests.parse_sign_request(request)
        signed = self._board.sign(viewer, *sent)
        return _json(signed_answer(signed))

    def _viewer(self, request: Request) -> Viewer:
        return self._board.viewer(checked_requests.reviewer_name(request))


def _history(history: PairHistory | None) -> Response:
    if history is None:
        raise NotFound("no such pair in this run")
    return _json(pair_answer(history))


def _json(value: object, status: int = 200) -> Response:
    # ASCII: a note may have a lone surrogate, which UTF-8 cannot encode.
    return Response(json.dumps(value, allow_nan=False), status, mimetype="application/json")


def _problem(words: str, status: int) -> Response:
    return _json({"problem": display_text(words)}, status)
