"""Every named field of the standard, declared once; its rules follow from it.

A field gives up to three rules: NAME-missing (mandatory on these record types),
NAME-forbidden ("shall not be used in") and NAME-syntax.
Source: ISO 28500:2009 §5.2-5.20, ISO 28500:2017 §5.2-5.22.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import MappingProxyType

from . import syntax
from .rules import RECORD_TYPES, Rule, shall

Syntax = Callable[[str], "str | None"]
CARRIED = frozenset({"content-length", "warc-block-digest", "warc-payload-digest"})
"""Fields that WARC/0.17 and its like have with the same meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A named field.  `clauses` as in `rules.shall`; `bad` is a value that breaks the grammar."""

    name: str
    short: str
    clauses: str
    syntax_1_0: Syntax | None
    syntax_1_1: Syntax
    bad: str
    mandatory: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    repeats: bool = False

    def syntax(self, version: str | None) -> Syntax | None:
        """What checks its value; None where that version does not know the field."""
        return self.syntax_1_1 if version == "1.1" else self.syntax_1_0

    def rules(self) -> Iterator[Rule]:
        """The rules that follow from this declaration."""
        carries = self.name.lower() in CARRIED
        if self.mandatory:
            types = () if self.mandatory == RECORD_TYPES else self.mandatory
            on = "all records" if not types else ", ".join(types)
            yield shall(
                f"{self.short}-missing",
                self.clauses,
                f"{self.name} is mandatory on {on}.",
                f"a {self.mandatory[-1]} without it",
                types,
                carries=carries,
            )
        if self.forbidden:
            yield shall(
                f"{self.short}-forbidden",
                self.clauses,
                f"{self.name} shall not be used on {', '.join(self.forbidden)}.",
                f"a {self.forbidden[0]} with it",
                self.forbidden,
            )
        yield shall(
            f"{self.short}-syntax",
            self.clauses,
            f"{self.name} follows its grammar.",
            f"`{self.name}: {self.bad}`",
            carries=carries,
        )


def _but(*types: str) -> tuple[str, ...]:
    return tuple(name for name in RECORD_TYPES if name not in types)


def _field(
    name: str,
    clauses: str,
    check: Syntax,
    bad: str,
    *,
    short: str = "",
    old: Syntax | None = None,
    mandatory: tuple[str, ...] = (),
    forbidden: tuple[str, ...] = (),
    repeats: bool = False,
) -> Field:
    return Field(
        name=name,
        short=short or name.lower().removeprefix("warc-"),
        clauses=clauses,
        syntax_1_0=None if clauses.startswith("-") else old or check,
        syntax_1_1=check,
        bad=bad,
        mandatory=mandatory,
        forbidden=forbidden,
        repeats=repeats,
    )


_ABOUT_CAPTURES_ONLY = ("warcinfo", "conversion", "continuation")
_NO_PAYLOAD = ("warcinfo", "metadata")

_ALL = (
    _field("WARC-Record-ID", "5.2", syntax.bracketed_uri, "urn:uuid:1234", mandatory=RECORD_TYPES),
    _field("Content-Length", "5.3", syntax.digits, "1,024", mandatory=RECORD_TYPES),
    _field(
        "WARC-Date",
        "5.4",
        syntax.date_1_1,
        "20200102030405",
        old=syntax.date_1_0,
        mandatory=RECORD_TYPES,
    ),
    _field("WARC-Type", "5.5", syntax.token, "web page", mandatory=RECORD_TYPES),
    _field("Content-Type", "5.6", syntax.media_type, "html"),
    _field(
        "WARC-Concurrent-To",
        "5.7",
        syntax.bracketed_uri,
        "urn:uuid:1234",
        forbidden=_ABOUT_CAPTURES_ONLY,
        repeats=True,
    ),
    _field("WARC-Block-Digest", "5.8", syntax.labelled_digest, "sha1:123"),
    _field("WARC-Payload-Digest", "5.9", syntax.labelled_digest, "0beec7b5", forbidden=_NO_PAYLOAD),
    _field(
        "WARC-IP-Address",
        "5.10",
        syntax.ip_address,
        "[2001:db8::1]",
        forbidden=_ABOUT_CAPTURES_ONLY,
    ),
    _field(
        "WARC-Refers-To",
        "5.11",
        syntax.bracketed_uri,
        "none",
        forbidden=_but("metadata", "revisit", "conversion"),
    ),
    _field(
        "WARC-Refers-To-Target-URI",
        "-/5.12",
        syntax.bare_uri,
        "<http://example.org/>",
        forbidden=_but("revisit"),
    ),
    _field(
        "WARC-Refers-To-Date", "-/5.13", syntax.date_1_1, "yesterday", forbidden=_but("revisit")
    ),
    _field(
        "WARC-Target-URI",
        "5.12/5.14",
        syntax.bare_uri,
        "http://example.org/a b",
        old=syntax.either_uri,
        mandatory=_but("warcinfo", "metadata"),
        forbidden=("warcinfo",),
    ),
    _field("WARC-Truncated", "5.13/5.15", syntax.token, "too long"),
    _field(
        "WARC-Warcinfo-ID",
        "5.14/5.16",
        syntax.bracketed_uri,
        "urn:uuid:1234",
        forbidden=("warcinfo",),
    ),
    _field("WARC-Filename", "5.15/5.17", syntax.text, "", forbidden=_but("warcinfo")),
    _field(
        "WARC-Profile",
        "5.16/5.18",
        syntax.bare_uri,
        "same as before",
        old=syntax.either_uri,
        mandatory=("revisit",),
    ),
    _field(
        "WARC-Identified-Payload-Type",
        "5.17/5.19",
        syntax.media_type,
        "an image",
        forbidden=_NO_PAYLOAD,
    ),
    _field(
        "WARC-Segment-Number", "5.18/5.20", syntax.digits, "second", mandatory=("continuation",)
    ),
    _field(
        "WARC-Segment-Origin-ID",
        "5.19/5.21",
        syntax.bracketed_uri,
        "urn:uuid:1234",
        mandatory=("continuation",),
        forbidden=_but("continuation"),
    ),
    _field(
        "WARC-Segment-Total-Length",
        "5.20/5.22",
        syntax.digits,
        "1 GB",
        forbidden=_but("continuation"),
    ),
)
FIELDS = MappingProxyType({field.name.lower(): field for field in _ALL})
"""Every field of WARC/1.1 by its name in lower case, in the order of the standard."""

FIELD_RULES = tuple(rule for field in _ALL for rule in field.rules())
