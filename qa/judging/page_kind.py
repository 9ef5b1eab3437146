"""The kind of page that a snapshot shows: a soft 404, a login wall, a blank page.

Takes a snapshot and statistics of its image, gives kinds with reasons in words.  Kinds are hints
for people, not verdicts: a page about error 404 is not an error.  `statistics_of` alone needs the
extra `qa`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from pinakes.qa.snapshot import Outcome, Snapshot

if TYPE_CHECKING:
    from pinakes.qa.compare.pairs import LoadedSnapshot
    from pinakes.qa.compare.pixels import Pixels


class PageKind(str, Enum):
    """Kinds of pages other than the requested one."""

    SOFT_404 = "soft 404"
    LOGIN_WALL = "login wall"
    BLANK = "blank"
    BROWSER_ERROR = "browser error"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedKind:
    """A kind, and the reason for it."""

    kind: PageKind
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageStatistics:
    """Of a page's image, of any size."""

    deviation: float
    """Standard deviation of its grey levels, from 0 to 127.5."""
    commonest: float
    """The part of its pixels that has the commonest colour, from 0 to 1."""


_FEW_WORDS = 120
"""A page that has more to say is no page of an error or a wall."""

_HEADING = 400
"""So many of its first letters are looked through, and its title."""

_EMPTY_DEVIATION = 1.0
_EMPTY_COMMONEST = 0.9995

_NOT_FOUND = re.compile(
    r"\b404\b.{0,40}(not found|error|page|introuvable|nicht gefunden|no encontrad)"
    r"|(error|http|status|erreur|fehler)\W{0,3}404\b"
    r"|(page|file|url|document|resource|site|article)\b.{0,60}"
    r"(not (?:be )?found|no longer (?:exists?|available)|does(?:n.t| not) exist|cannot be found)"
    r"|(could(?:n.t| not)|cannot|can.t|unable to) (?:be )?(?:find|found|locate)\b.{0,40}"
    r"(page|file|url|document|looking for|asked|requested)"
    r"|^\W*not found\b|nothing (?:was )?found|page introuvable|seite (?:wurde )?nicht gefunden"
    r"|p[aá]gina no encontrada|pagina non trovata|p[aá]gina n[aã]o encontrada"
    r"|strona nie (?:została )?znaleziona|ページが見つかりません|找不到",
    re.IGNORECASE | re.DOTALL,
)
_LOGIN = re.compile(
    r"\b(log ?in|sign ?in|log on|members? only|subscribers? only|anmelden|einloggen|"
    r"se connecter|connexion|iniciar sesi[oó]n|accedi|zaloguj|entrar|ログイン|登录)\b",
    re.IGNORECASE,
)
_PASSWORD = re.compile(
    r"\b(password|passwort|kennwort|mot de passe|contrase[nñ]a|senha|has[lł]o|parola)\b"
    r"|パスワード|密码",
    re.IGNORECASE,
)


def kinds_in_words(loaded: LoadedSnapshot) -> Iterator[str]:
    """The kinds of a page, regardless of what it is compared with."""
    pixels, snapshot = loaded.pixels, loaded.snapshot
    # That a page is blank is not to be seen in an image of its beginning.
    is_whole = not snapshot.goes_on_below_image
    image = statistics_of(pixels) if pixels is not None and is_whole else None
    for kind in page_kinds(snapshot, image):
        yield f"{kind.kind.value}: {kind.reason}"


def page_kinds(snapshot: Snapshot, image: ImageStatistics | None = None) -> tuple[JudgedKind, ...]:
    """The kinds of a page; mostly none."""
    if snapshot.outcome is Outcome.FAILED:
        why = ", ".join(snapshot.reasons) or "no answer"
        return (JudgedKind(kind=PageKind.BROWSER_ERROR, reason=f"the browser's own error: {why}"),)
    if snapshot.outcome not in (Outcome.COMPLETE, Outcome.STILL_LOADING):
        return ()
    found = (_blank(snapshot, image), _soft_404(snapshot), _login_wall(snapshot))
    return tuple(kind for kind in found if kind is not None)


def _blank(snapshot: Snapshot, image: ImageStatistics | None) -> JudgedKind | None:
    """Nothing is visible: by its image if there is one, else by its contents."""
    if image is not None:
        empty = image.deviation < _EMPTY_DEVIATION or image.commonest > _EMPTY_COMMONEST
        reason = f"{image.commonest:.2%} of the image has one colour"
        return JudgedKind(kind=PageKind.BLANK, reason=reason) if empty else None
    shows = any(box.kind != "block" for box in snapshot.boxes)
    if snapshot.text.strip() or shows:
        return None
    return JudgedKind(kind=PageKind.BLANK, reason="neither text nor pictures")


def _soft_404(snapshot: Snapshot) -> JudgedKind | None:
    """It says that the page does not exist, and little else; its status was a success."""
    if _is_long(snapshot):
        return None
    found = _NOT_FOUND.search(snapshot.title) or _NOT_FOUND.search(snapshot.text[:_HEADING])
    if found is None:
        return None
    said = " ".join(found[0].split())[:80]
    return JudgedKind(kind=PageKind.SOFT_404, reason=f"the page says: {said}")


def _login_wall(snapshot: Snapshot) -> JudgedKind | None:
    """A form to log in with, and little else; or one that covers the page."""
    over = snapshot.overlay.text if snapshot.overlay is not None else ""
    if _LOGIN.search(over) and _PASSWORD.search(over):
        return JudgedKind(kind=PageKind.LOGIN_WALL, reason="a login form covers the page")
    fields = sum(box.tag == "input" for box in snapshot.boxes)
    said = f"{snapshot.title}\n{snapshot.text}"
    if _is_long(snapshot) or not fields or not _LOGIN.search(said) or not _PASSWORD.search(said):
        return None
    return JudgedKind(kind=PageKind.LOGIN_WALL, reason="a password field, and little else")


def _is_long(snapshot: Snapshot) -> bool:
    return len(snapshot.text.split()) > _FEW_WORDS


def statistics_of(pixels: Pixels) -> ImageStatistics:
    """Statistics of all pixels; an image without pixels counts as empty."""
    from pinakes.qa.compare.arrays_extra import cv2, np

    if not pixels.size:
        return ImageStatistics(deviation=0.0, commonest=1.0)
    grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
    counts = np.bincount(grey.reshape(-1), minlength=256)
    return ImageStatistics(deviation=float(grey.std()), commonest=float(counts.max() / grey.size))
