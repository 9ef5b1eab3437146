"""The original that a crawler may refer to, by digest and, if it wants that, by URL.

    digest ─▶ rows of `digests` ─▶ captures of each one's urlkey and second ─▶ the best, or none
              all of them: has       eligible, visible, of a crawl that counts,
              it one body alone?     addressable

A crawler does not compare bodies: it believes the digest.  So of a digest that is known to have
several bodies no capture is given.  For a SHA-1 that takes all of its rows, each with its SHA-256;
a SHA-256 is believed, as `dedupe --compare sha256` does.  The rules for originals are those of
docs/dedupe.md, "Who takes part" and "Addressable".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from pinakes.errors import MalformedRecord
from pinakes.hbase_schema.capture_cells import DigestEntry, Location
from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.digest_keys import digests_of
from pinakes.hbase_schema.generation_names import generation_file
from pinakes.hbase_schema.ranges import ALL_ROWS, KeyRange, prefix_range
from pinakes.row_store.port import Row, RowStore
from pinakes.warc.digest import Digest, parse_digest

from .captures import COLUMNS
from .captures import TABLE as CAPTURES
from .copies import Copy, Traits, copies_of, gives_body_of
from .crawl_rows import COMMITTED, OPEN, read_crawl_states
from .lookup import TABLE as DIGESTS
from .lookup import scan_scopes
from .reported import OwnReport
from .visible_files import VisibleFile, VisibleFiles

SEVERAL_BODIES = "several bodies have this digest"
DAMAGED = "the original is damaged, or its file is not there: run fsck"
MANY_COPIES = "too many captures have this digest to tell whether all have one body"
ALL_OPEN = "*"
"""In place of a crawl: all that are open."""
FEW_COPIES = 8
MOST_COPIES = 10_000
_PIECE_ROWS = 500
_PIECE_RANGES = 500
_ENTRY_LEAD = b'{"v":1,"capture_key":"'
_MOST_OF_SECOND = 8
"""With more captures of one urlkey in one second, it is not checked whether they are the same."""


class Asked(NamedTuple):
    """A digest, and the URL that the original has to have; None: any."""

    digest: Digest
    url: str | None = None


Wants = Callable[[Traits, bool], str | None]
"""Why the crawl that asks does not want such an original, None if it does; given whether it has
asked for one of just this URL.  In place of one, None: every original is wanted."""


class Original(NamedTuple):
    """A full capture that may be referred to, and the file that it is in."""

    copy: Copy
    place: VisibleFile

    @property
    def filename(self) -> str:
        """The file of the current generation."""
        place = self.place
        return generation_file(place.archive_file, place.generation, self.location.ending)

    @property
    def location(self) -> Location:
        """Its place in that."""
        location = self.copy.location(self.place.generation)
        if location is None:
            raise MalformedRecord(f"{self.copy.key!r} has no place in its file")
        return location

    @property
    def rank(self) -> tuple[object, ...]:
        """The order of choice: what something refers to already, what `dedupe` has chosen, age."""
        copy = self.copy
        return copy.choice, copy.second, self.place.archive_file, copy.ordinal


class FoundOriginal(NamedTuple):
    """The answer; `why` says more where there is no original although there are captures.

    `report` is what stands for an original that has not landed: see `crawl_originals`.
    """

    original: Original | None = None
    why: str | None = None
    report: OwnReport | None = None


class OriginalCandidate(NamedTuple):
    """A capture, and itself as an original if nothing but its digest speaks against it."""

    copy: Copy
    original: Original | None


class OriginalFinder:
    """Finds originals for one crawler.

    `crawl` is the one that asks: its captures count although it is open; `ALL_OPEN`: so do those
    of all open crawls; None: only those of committed ones.  `admits` are the access rules, by row
    key and file, and `gives` says of what they admit whether its bytes are given out; `wants` is
    the policy of the crawl.  `is_sound` reads one that would be the answer (see `SoundOriginals`);
    None: the catalogue is believed.
    """

    def __init__(
        self,
        store: RowStore,
        files: VisibleFiles,
        *,
        collection: str | None,
        crawl: str | None,
        admits: Callable[[bytes, VisibleFile], bool],
        gives: Callable[[Original], bool],
        wants: Wants | None = None,
        is_sound: Callable[[Original], bool] | None = None,
        most_copies: int = MOST_COPIES,
    ) -> None:
        self._store = store
        self._files = files
        self._collection = collection
        self._crawl = crawl
        self._admits = admits
        self._gives = gives
        self._wants = wants
        self._is_sound = is_sound
        self._most_copies = most_copies

    def iter_found(self, asked: Iterable[Asked]) -> Iterator[FoundOriginal | None]:
        """A `FoundOriginal` for each, in order, and None wherever a piece of work is done; lazy.

        Some hundred digests take three round trips, and their captures' memory.
        """
        given = self._collection
        scopes = [given] if given is not None else list(scan_scopes(self._store))
        each = max(1, _PIECE_RANGES // max(1, len(scopes)))
        iterator = iter(asked)
        while piece := list(islice(iterator, each)):
            yield from self._of_piece(piece, scopes)
            yield None

    def iter_originals(self, keys: KeyRange | None = None) -> Iterator[list[Original]]:
        """The originals of a range of `captures` that have a record id, some of the time none:
        of each URL and SHA-1 one.  In their order; lazy."""
        rows = self._store.scan(CAPTURES, keys or ALL_ROWS, columns=COLUMNS)
        while piece := list(islice(rows, _PIECE_ROWS)):
            copies = copies_of(piece)
            places = self._places_of(copies.values())
            asked = {
                key: Asked(digest, facts["url"])
                for key, copy in copies.items()
                if self._may_be_original(copy, places)
                and "record_id" in (facts := copy.facts)
                and (digest := parse_digest(facts["digest"])) is not None
            }
            found = (one for one in self.iter_found(asked.values()) if one is not None)
            yield [
                answer.original
                for key, answer in zip(asked, found, strict=True)
                if answer.original is not None and answer.original.copy.key == key
            ]

    def iter_candidates(self) -> Iterator[list[OriginalCandidate]]:
        """All captures of the store, in their order; lazy.  What else has their digest is for the
        caller to see."""
        rows = self._store.scan(CAPTURES, ALL_ROWS, columns=COLUMNS)
        while piece := list(islice(rows, _PIECE_ROWS)):
            copies = copies_of(piece)
            places = self._places_of(copies.values())
            fit = {key for key, copy in copies.items() if self._may_be_original(copy, places)}
            seconds = self._seconds_of(fit)
            found = []
            for key, copy in copies.items():
                place = places.get(copy.filename)
                original = Original(copy, place) if place is not None and key in fit else None
                if original is not None and not (
                    self._is_addressable(original, seconds) and self._gives(original)
                ):
                    original = None
                found.append(OriginalCandidate(copy, original))
            yield found

    def _of_piece(
        self, piece: Sequence[Asked], scopes: Sequence[str]
    ) -> Iterator[FoundOriginal | None]:
        ranges = [
            digests_of(scope, one.digest.algorithm, one.digest.hex)
            for one in piece
            for scope in scopes
        ]
        rows = list(self._store.first_rows(DIGESTS, ranges, limit_rows=FEW_COPIES + 1))
        keys = [_keys_of(found) if len(found) <= FEW_COPIES else None for found in rows]
        seconds = self._seconds_of({key for some in keys if some for key, _ in some})
        copies = copies_of(
            row for key, of_second in seconds.items() for row in of_second if row.key == key
        )
        crowded = [key for key, of_second in seconds.items() if len(of_second) > _MOST_OF_SECOND]
        copies |= self._read_copies(crowded)
        places = self._places_of(copies.values())
        at = 0
        for one in piece:
            known: list[Original] = []
            bodies: set[bytes | None] = set()
            few: list[tuple[bytes, str]] = []
            is_whole = True
            for key_range in ranges[at : at + len(scopes)]:
                named = keys[at]
                if named is None:
                    is_whole &= yield from self._read_many(one, key_range, known, bodies)
                elif named:
                    known += self._of_copies(one, named, copies, places)
                    few += named
                at += 1
            if bodies or len(few) > 1:
                bodies |= _bodies(few, copies)
            if one.digest.algorithm == "sha1" and len(bodies) > 1:
                yield FoundOriginal(None, SEVERAL_BODIES)
            elif not is_whole:
                yield FoundOriginal(None, MANY_COPIES)
            else:
                if len(known) > 1:
                    known.sort(key=lambda original: original.rank)
                fit = (o for o in known if self._is_addressable(o, seconds) and self._gives(o))
                yield self._wanted(one, fit)

    def _wanted(self, one: Asked, originals: Iterable[Original]) -> FoundOriginal:
        """The first of these that the crawl wants, and that is sound; else why the first is not
        given."""
        why: str | None = None
        for original in originals:
            refused: str | None = None
            if self._wants is not None:
                refused = self._wants(original.copy.traits, one.url is not None)
            if refused is None and self._is_sound is not None and not self._is_sound(original):
                refused = DAMAGED
            if refused is None:
                return FoundOriginal(original)
            why = why or refused
        return FoundOriginal(None, why)

    def _read_many(
        self, one: Asked, keys: KeyRange, known: list[Original], bodies: set[bytes | None]
    ) -> Generator[None, None, bool]:
        """Add the best few captures with a digest that very many have, and all their bodies.

        Returns whether it has read enough to decide: all, of a SHA-1.
        """
        best: list[Original] = []
        for _ in range(max(1, self._most_copies // _PIECE_ROWS)):
            values = self._store.scan_values(
                DIGESTS, keys, [DigestEntry.COLUMN], limit_rows=_PIECE_ROWS
            )
            named = [_key_of(value) for value in values.values()]
            copies = self._read_copies([key for key, _ in named])
            bodies |= _bodies(named, copies)
            best += self._of_copies(one, named, copies, self._places_of(copies.values()))
            best = sorted(best, key=lambda original: original.rank)[:FEW_COPIES]
            is_last = len(values) < _PIECE_ROWS
            if is_last or (one.digest.algorithm != "sha1" and best) or len(bodies) > 1:
                known += best
                return True
            keys = KeyRange(next(reversed(values)) + b"\0", keys.stop_row)
            yield None
        return False

    def _read_copies(self, keys: Sequence[bytes]) -> dict[bytes, Copy]:
        if not keys:
            return {}
        return copies_of(self._store.get_rows(CAPTURES, keys, columns=COLUMNS).values())

    def _of_copies(
        self,
        one: Asked,
        named: Sequence[tuple[bytes, str]],
        copies: Mapping[bytes, Copy],
        places: Mapping[str, VisibleFile],
    ) -> list[Original]:
        """Those of these captures that may be originals, but for their addresses."""
        return [
            Original(copy, places[copy.filename])
            for key, _ in named
            if (copy := copies.get(key)) is not None
            and self._may_be_original(copy, places)
            and (one.url is None or one.url == copy.facts["url"])
        ]

    def _may_be_original(self, copy: Copy, places: Mapping[str, VisibleFile]) -> bool:
        place = places.get(copy.filename)
        return place is not None and copy.is_fit(place.generation) and self._admits(copy.key, place)

    def _places_of(self, copies: Collection[Copy]) -> dict[str, VisibleFile]:
        """The visible files of these captures, if they are of the collection and a crawl that
        counts."""
        names = {copy.filename for copy in copies}
        places = {
            name: place
            for name, place in self._files.among(names).items()
            if self._collection in (None, place.collection)
        }
        states = read_crawl_states(self._store, {place.crawl for place in places.values()})
        return {n: p for n, p in places.items() if self._counts(p.crawl, states.get(p.crawl))}

    def _counts(self, crawl: str, state: str | None) -> bool:
        if state == OPEN:
            return self._crawl in (crawl, ALL_OPEN)
        return state == COMMITTED

    def _seconds_of(self, keys: Collection[bytes]) -> dict[bytes, list[Row]]:
        """By capture, all captures of its urlkey and second, itself among them."""
        ranges = {key: prefix_range(key[:-12]) for key in sorted(keys)}
        found = self._store.first_rows(
            CAPTURES, list(ranges.values()), limit_rows=_MOST_OF_SECOND + 1, columns=COLUMNS
        )
        return dict(zip(ranges, found, strict=True))

    def _is_addressable(self, original: Original, seconds: Mapping[bytes, list[Row]]) -> bool:
        """Whether nothing but its own body is found by its urlkey and second.

        Judged over all collections, without access rules: a reference outlives the rules.
        """
        key = original.copy.key
        rows = seconds.get(key) or self._seconds_of([key])[key]
        if len(rows) == 1:
            return True
        if len(rows) > _MOST_OF_SECOND:
            return False
        copy = original.copy
        digests = copy.digests
        return all(gives_body_of(copy, row, digests) for row in rows if row.key != key)


def _key_of(entry: bytes) -> tuple[bytes, str]:
    """The capture that a row of `digests` names, and over what the digest was computed."""
    if entry.startswith(_ENTRY_LEAD) and entry.find(b'"', len(_ENTRY_LEAD)) == len(entry) - 2:
        return entry[len(_ENTRY_LEAD) : -2], "stored"  # nearly all, in a tenth of the time
    decoded = decode_cell(DigestEntry, entry)
    return decoded.capture_key.encode("ascii"), decoded.body


def _keys_of(rows: Iterable[Row]) -> list[tuple[bytes, str]]:
    return [_key_of(row.value(DigestEntry.COLUMN) or b"") for row in rows]


def _bodies(named: Sequence[tuple[bytes, str]], copies: Mapping[bytes, Copy]) -> set[bytes | None]:
    """The SHA-256 of what the digest was computed over."""
    return {copies[key].sha256(body) for key, body in named if key in copies}
