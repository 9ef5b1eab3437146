"""The capture of one page by one browser: frozen values, made of decoded JSON.

Images are files next to it, named by their digest, so that a snapshot is small for any page.
Every list is bounded, with the total next to it.
Layer: the lowest of `pinakes.qa`; standard library only, no IO.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from pinakes.errors import MalformedRecord

Value = TypeVar("Value")


class Outcome(str, Enum):
    """How far the capture came; the snapshot's reasons say why."""

    COMPLETE = "complete"
    STILL_LOADING = "still_loading"  # the load did not end in time; this is its state by then
    FAILED = "failed"  # the browser shows an error page of its own
    NOT_A_PAGE = "not_a_page"  # a download, a PDF, an empty answer
    CUT_OFF = "cut_off"  # the browser hung and was killed, or died


@dataclass(frozen=True, slots=True, kw_only=True)
class Rect:
    """CSS pixels, from the document's upper left corner."""

    x: int
    y: int
    width: int
    height: int

    @property
    def sides(self) -> tuple[int, int, int, int]:
        """x, y, width, height."""
        return self.x, self.y, self.width, self.height

    @property
    def area(self) -> int:
        return self.width * self.height

    def shared(self, other: Rect) -> int:
        """The area that both cover."""
        width = min(self.x + self.width, other.x + other.width) - max(self.x, other.x)
        height = min(self.y + self.height, other.y + other.height) - max(self.y, other.y)
        return max(0, width) * max(0, height)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A PNG in the snapshot's folder, named by its SHA-256; its pixels are CSS pixels."""

    name: str
    sha256: str
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A visible element; `kind` is text, image, media, control or block.

    `text` is the beginning of its own; `look` a number in the snapshot's `looks`, `decoded` one in
    its `decoded`.
    """

    tag: str
    kind: str
    rect: Rect
    text: str = ""
    look: int | None = None
    decoded: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SvgShape:
    """A shape of a drawing in SVG; `drawing` is the number of the drawing in the page.

    `place` is left and top edge, width and height in pixels of the drawing, and the length of a
    path; empty where browsers do not agree on it.  `moves`: a moment later it was elsewhere.
    `by_letters`: the drawing has letters, by which a script may have placed it.
    """

    tag: str
    drawing: int
    rect: Rect
    place: tuple[int, ...]
    look: int
    moves: bool = False
    by_letters: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A request of the page.  `status` is None if the browser does not report it."""

    url: str
    status: int | None
    media_type: str | None
    kind: str
    failure: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A frame at any depth; one of another site cannot be read, and has no text."""

    url: str
    rect: Rect
    readable: bool
    text_length: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """A video or audio element: HTMLMediaElement's states and MediaError's code."""

    tag: str
    url: str
    ready_state: int
    network_state: int
    error: int | None
    duration_s: float | None
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """Counts of img elements; `zero_size` have no natural size, `broken` failed to load."""

    total: int
    zero_size: int
    broken: int
    broken_urls: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Styles:
    """Counts; the rules of sheets of another origin cannot be read, and are not in `rules`."""

    sheets: int
    unreadable_sheets: int
    rules: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fontless:
    """Letters of the text that no font on the browser's machine has; of so many in all."""

    letters: int
    total: int
    scripts: tuple[str, ...]
    """Those that most of them are of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """A fixed element that covers more than a third of the viewport."""

    tag: str
    identity: str
    rect: Rect
    viewport_share: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One page as one browser showed it."""

    url: str
    browser: str
    browser_version: str
    taken: datetime
    clock: datetime | None  # the time that scripts saw; None if it could not be set
    seed: int | None
    outcome: Outcome
    reasons: tuple[str, ...] = ()
    final_url: str | None = None
    title: str = ""
    media_type: str | None = None
    viewport_width: int
    viewport_height: int
    page_width: int | None = None
    page_height: int | None = None
    image: Image | None = None
    image_without_overlay: Image | None = None
    overlay: Overlay | None = None
    text: str = ""
    text_length: int = 0
    fontless: Fontless | None = None
    boxes: tuple[Box, ...] = ()
    boxes_total: int = 0
    looks: tuple[str, ...] = ()
    """How boxes are drawn: computed styles, by `compare.drawn_elements.ASPECTS`."""
    shapes: tuple[SvgShape, ...] = ()
    shapes_total: int = 0
    decoded: tuple[str, ...] = ()  # what pictures show, in cells: `compare.drawings`
    strips: tuple[str, ...] = ()  # that asked for consent, and were taken away
    masked: tuple[Rect, ...] = ()  # regions of the masked selectors: not compared
    resources: tuple[Resource, ...] = ()
    resources_total: int = 0
    frames: tuple[Frame, ...] = ()
    frames_total: int = 0
    media: tuple[Media, ...] = ()
    media_total: int = 0
    pictures: Pictures | None = None
    styles: Styles | None = None
    console: tuple[str, ...] = ()
    console_total: int = 0
    timings_ms: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        for moment in (self.taken, self.clock):
            if moment is not None and moment.tzinfo is None:
                raise ValueError("datetime without a time zone")

    @property
    def goes_on_below_image(self) -> bool:
        """Whether the image has the page's beginning alone."""
        return self.image is not None and self.image.height < (self.page_height or 0)


def value_of(cls: type[Value], document: object) -> Value:
    """A value of a dataclass, for example of this module, from decoded JSON.

    Raises:
        MalformedRecord: a field is missing, unknown, or of another type.
    """
    try:
        value: Value = _value(cls, document)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise MalformedRecord(f"not a {cls.__name__}: {error}") from error
    return value


def _value(cls: Any, document: Any) -> Any:
    """Build a value of the type, strictly."""
    origin = get_origin(cls)
    if origin is tuple:
        return _tuple(get_args(cls), document)
    if origin in (Union, UnionType):
        [inner] = [choice for choice in get_args(cls) if choice is not type(None)]
        return None if document is None else _value(inner, document)
    if cls is datetime:
        return datetime.fromisoformat(document)
    if isinstance(cls, type) and issubclass(cls, Enum):
        return cls(document)
    if cls in (int, float, str, bool):
        return _primitive(cls, document)
    hints = _hints(cls)
    if unknown := document.keys() - hints.keys():
        raise ValueError(f"unknown fields {sorted(unknown)}")
    return cls(**{name: _value(hints[name], value) for name, value in document.items()})


@cache
def _hints(cls: type) -> dict[str, Any]:
    """The types of a class's fields, by name: they are resolved from text, which takes longer than
    all else here."""
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in fields(cls)}


def _tuple(inner: tuple[Any, ...], document: Any) -> tuple[Any, ...]:
    if not isinstance(document, list):
        raise TypeError("a list was expected")
    if inner[-1] is Ellipsis:
        return tuple(_value(inner[0], value) for value in document)
    return tuple(_value(kind, value) for kind, value in zip(inner, document, strict=True))


def _primitive(cls: type, document: object) -> object:
    if cls is float and type(document) is int:
        return float(document)
    if type(document) is not cls:
        raise TypeError(f"{cls.__name__} was expected, not {type(document).__name__}")
    return document
