"""Every named field of the standard, a row each: where it may stand, and its grammar.

`table` makes up to three rules of a row: NAME-missing (mandatory on these record types),
NAME-forbidden ("shall not be used in") and NAME-syntax.
Source: ISO 28500:2009 §5.2-5.20, ISO 28500:2017 §5.2-5.22.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

from pinakes.warc import field_names as names

from . import syntax
from .rules import RECORD_TYPES

Syntax = Callable[[str], "str | None"]
OLDER_FIELDS = frozenset(
    {names.CONTENT_LENGTH_KEY, names.WARC_BLOCK_DIGEST_KEY, names.WARC_PAYLOAD_DIGEST_KEY}
)
"""Fields that WARC/0.17 and its like have with the same meaning."""


@dataclass(frozen=True, slots=True)
class Field:
    """A named field.

    `clauses` as in `rules.Rule`; `grammar` says what is wrong with a value, and
    `grammar_1_0` where that of WARC/1.0 is another; `bad` is a value that breaks both.
    """

    name: str
    clauses: str
    grammar: Syntax
    bad: str
    grammar_1_0: Syntax | None = None
    mandatory: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    repeats: bool = False

    @property
    def short(self) -> str:
        """What the codes of its rules begin with."""
        return self.name.lower().removeprefix("warc-")

    def syntax(self, version: str | None) -> Syntax | None:
        """What checks its value; None where that version does not know the field."""
        if version == "1.1":
            return self.grammar
        return None if self.clauses.startswith("-") else self.grammar_1_0 or self.grammar


def _but(*types: str) -> tuple[str, ...]:
    return tuple(name for name in RECORD_TYPES if name not in types)


_NO_CAPTURE = ("warcinfo", "conversion", "continuation")
_NO_PAYLOAD = ("warcinfo", "metadata")

# fmt: off
_ALL = (
    Field(names.WARC_RECORD_ID, "5.2", syntax.bracketed_uri, "urn:uuid:1234",
          mandatory=RECORD_TYPES),
    Field(names.CONTENT_LENGTH, "5.3", syntax.digits, "1,024", mandatory=RECORD_TYPES),
    Field(names.WARC_DATE, "5.4", syntax.date_1_1, "20200102030405", grammar_1_0=syntax.date_1_0,
          mandatory=RECORD_TYPES),
    Field(names.WARC_TYPE, "5.5", syntax.token, "web page", mandatory=RECORD_TYPES),
    Field(names.CONTENT_TYPE, "5.6", syntax.media_type, "html"),
    Field(names.WARC_CONCURRENT_TO, "5.7", syntax.bracketed_uri, "urn:uuid:1234",
          forbidden=_NO_CAPTURE, repeats=True),
    Field(names.WARC_BLOCK_DIGEST, "5.8", syntax.labelled_digest, "sha1:123"),
    Field(names.WARC_PAYLOAD_DIGEST, "5.9", syntax.labelled_digest, "0beec7b5",
          forbidden=_NO_PAYLOAD),
    Field(names.WARC_IP_ADDRESS, "5.10", syntax.ip_address, "[2001:db8::1]", forbidden=_NO_CAPTURE),
    Field(names.WARC_REFERS_TO, "5.11", syntax.bracketed_uri, "none",
          forbidden=_but("metadata", "revisit", "conversion")),
    Field(names.WARC_REFERS_TO_TARGET_URI, "-/5.12", syntax.bare_uri, "<http://example.org/>",
          forbidden=_but("revisit")),
    Field(names.WARC_REFERS_TO_DATE, "-/5.13", syntax.date_1_1, "yesterday",
          forbidden=_but("revisit")),
    Field(names.WARC_TARGET_URI, "5.12/5.14", syntax.bare_uri, "http://example.org/a b",
          grammar_1_0=syntax.either_uri, mandatory=_but("warcinfo", "metadata"),
          forbidden=("warcinfo",)),
    Field(names.WARC_TRUNCATED, "5.13/5.15", syntax.token, "too long"),
    Field(names.WARC_WARCINFO_ID, "5.14/5.16", syntax.bracketed_uri, "urn:uuid:1234",
          forbidden=("warcinfo",)),
    Field(names.WARC_FILENAME, "5.15/5.17", syntax.text, "", forbidden=_but("warcinfo")),
    Field(names.WARC_PROFILE, "5.16/5.18", syntax.bare_uri, "same as before",
          grammar_1_0=syntax.either_uri, mandatory=("revisit",)),
    Field(names.WARC_IDENTIFIED_PAYLOAD_TYPE, "5.17/5.19", syntax.media_type, "an image",
          forbidden=_NO_PAYLOAD),
    Field(names.WARC_SEGMENT_NUMBER, "5.18/5.20", syntax.digits, "second",
          mandatory=("continuation",)),
    Field(names.WARC_SEGMENT_ORIGIN_ID, "5.19/5.21", syntax.bracketed_uri, "urn:uuid:1234",
          mandatory=("continuation",), forbidden=_but("continuation")),
    Field(names.WARC_SEGMENT_TOTAL_LENGTH, "5.20/5.22", syntax.digits, "1 GB",
          forbidden=_but("continuation")),
)
# fmt: on
FIELDS = MappingProxyType({field.name.lower(): field for field in _ALL})
"""Every field of WARC/1.1 by its name in lower case, in the order of the standard."""
