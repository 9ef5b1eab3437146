"""The index of a collection, written to a Redis as Browsertrix keeps it.

    what crawls have ─▶ keys aside, with an expiry ─▶ plan ─▶ one transaction: they get their names

Crawlers that run see the old index or the new one, and so they do if we, or the Redis, die: what
is written aside expires.  What is there by others stays: crawls that run, and crawls that only the
Redis knows, with their digests.  Which keys are ours stands in the hash `pinakes:exported`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pinakes.catalog.crawl_rows import COMMITTED, OPEN
from pinakes.errors import Conflict, StoreUnavailable

from .gathered import CrawlDigest, GatheredDigests, WaczNumbers
from .keys import (
    ALL_COUNTS,
    CANCELED,
    COMMITTED_CRAWLS,
    DONE_WACZS,
    LAST_UPDATE,
    MERGED,
    OPEN_CRAWLS,
    SUMMED,
    CrawlKeys,
    digest_field,
    format_listed,
    keys_of,
)
from .marks import EXPORTED, STALE, Mark, read_counts, read_marks, why_left
from .server import Command, SharedServer, Watch, lost

_ASIDE_S = 86_400
_ATTEMPTS = 5
_BATCH = 1000
_FIXED = {
    COMMITTED_CRAWLS: "set",
    OPEN_CRAWLS: "set",
    CANCELED: "set",
    ALL_COUNTS: "hash",
    DONE_WACZS: "set",
    LAST_UPDATE: "string",
    EXPORTED: "hash",
    **dict.fromkeys(MERGED.values(), "hash"),
}
_OF_CRAWL = ("hash", "list", "hash")


@dataclass(slots=True)
class Exported:
    """What became of each crawl; what was left out, and why."""

    digests: dict[str, int] = field(default_factory=dict)
    """By crawl that was written: how many digests it has."""
    left: dict[str, str] = field(default_factory=dict)
    """Open crawls that are left as they are, and why."""
    taken_out: list[str] = field(default_factory=list)
    """Crawls that are no longer in the index, since the collection does not have them."""


class IndexExporter:
    """Writes crawls of one collection: those of `counts`, with what Browsertrix counts of them.

    `withheld` are crawls of the collection that no one may refer to, no matter who wrote them;
    `openings` distinguish crawls of one name; `unnamed` are those that manifests no longer name,
    and the bytes of their WACZ files.  `token` distinguishes this export's keys from another's.
    """

    def __init__(
        self,
        server: SharedServer,
        collection: str,
        states: Mapping[str, str],
        waczs: WaczNumbers,
        counts: Mapping[str, Mapping[str, int]],
        *,
        openings: Mapping[str, str],
        unnamed: Mapping[str, int],
        withheld: Collection[str] = (),
        spelling: str,
        token: str,
        now: str,
    ) -> None:
        self._server = server
        self._collection = collection
        self._states = states
        self._waczs = waczs
        self._counts = counts
        self._openings = openings
        self._withheld = withheld
        self._unnamed = unnamed
        self._spelling = spelling
        self._aside = f"pinakes:aside:{token}:".encode("ascii")
        self._now = now
        self._merged = MERGED[spelling]
        self._made: dict[bytes, int] = {}
        """The keys aside, and how many members each has got."""
        self._marks: dict[str, Mark] = {}
        self._evictions = 0

    def export(self, gathered: GatheredDigests, *, whole: bool) -> Exported:
        """Write these crawls; `whole`: they are all that the collection has, and what is there of
        others is taken out: of those that earlier exports wrote, and of `withheld` ones that are
        committed there.

        Raises:
            Conflict: the database has the index of another collection or in the other spelling,
                something else is at a key, or crawlers change it all the time.
            StoreUnavailable: the Redis cannot be reached, is full, or evicts keys.  Nothing was
                changed, but if that was just at the end, everything may have been: run it again.
        """
        self._require_ours()
        self._evictions = self._server.count_evictions()
        done = Exported()
        try:
            self._write_aside(gathered, done)
            self._server.change(
                self._watched(),
                lambda watch: self._decide(done, watch, whole=whole),
                attempts=_ATTEMPTS,
            )
            self._server.require_kept(self._evictions)
            done.digests = {c: n for c, n in done.digests.items() if c not in done.left}
        finally:
            self._drop_aside()
        return done

    def _require_ours(self) -> None:
        self._server.require_all(_FIXED)
        self._marks = read_marks(self._server)
        other = next((m for m in self._marks.values() if m.collection != self._collection), None)
        if other is not None:
            raise Conflict(
                f"{self._server.name} has the index of the collection {other.collection}: give "
                f"{self._collection} a database of its own, as in redis://HOST:PORT/1"
            )
        unlike = next((m for m in self._marks.values() if m.spelling != self._spelling), None)
        if unlike is not None:
            raise Conflict(
                f"{self._server.name} has an index in the spelling {unlike.spelling}: export with "
                f"--spelling {unlike.spelling}, or to another database"
            )
        crawls = sorted({*self._counts, *self._marks})
        self._server.require_all(
            dict(pair for crawl in crawls for pair in zip(keys_of(crawl), _OF_CRAWL, strict=True))
        )

    # Aside.

    def _write_aside(self, gathered: GatheredDigests, done: Exported) -> None:
        self._write_hashes(self._fields(gathered))
        for crawl, counts in self._counts.items():
            keys = self._keys_aside(crawl)
            pairs = {name.encode(): b"%d" % counts[name] for name in SUMMED if counts[name]}
            self._write_hashes((keys.counts, name, value) for name, value in pairs.items())
            files = self._waczs.lists.get(crawl, ())
            for at in range(0, len(files), _BATCH):
                some = list(map(format_listed, files[at : at + _BATCH]))
                self._write_batch("RPUSH", {keys.waczs: some})
                self._made[keys.waczs] = at + len(some)
            done.digests[crawl] = self._made.get(keys.hashes, 0)

    def _fields(self, gathered: GatheredDigests) -> Iterator[tuple[bytes, bytes, bytes]]:
        owners = self._aside + self._merged
        for item in gathered.items():
            name = digest_field(item.digest, self._spelling).encode("ascii", "replace")
            if isinstance(item, CrawlDigest):
                yield self._keys_aside(item.crawl).hashes, name, item.value
            else:
                yield owners, name, item.crawl.encode("ascii")

    def _write_hashes(self, fields: Iterable[tuple[bytes, bytes, bytes]]) -> None:
        """Key, field and value each; some at a time."""
        batch: dict[bytes, list[bytes]] = {}
        size = 0
        for key, name, value in fields:
            batch.setdefault(key, []).extend((name, value))
            size += 1
            if size == _BATCH:
                self._write_pairs(batch)
                batch, size = {}, 0
        self._write_pairs(batch)

    def _write_pairs(self, batch: Mapping[bytes, Sequence[bytes]]) -> None:
        added = self._write_batch("HSET", batch)
        for key, number in zip(batch, added, strict=True):
            self._made[key] += number

    def _write_batch(self, command: str, words: Mapping[bytes, Sequence[bytes]]) -> list[int]:
        """Write to keys aside, which expire if we die; what the command has answered for each."""
        commands: list[Command] = [(command, key, *some) for key, some in words.items()]
        new = [key for key in words if key not in self._made]
        self._made |= dict.fromkeys(new, 0)
        commands += [("EXPIRE", key, _ASIDE_S) for key in new]
        return self._server.ask(commands)[: len(words)]

    def _keys_aside(self, crawl: str) -> CrawlKeys:
        return CrawlKeys(*(self._aside + key for key in keys_of(crawl)))

    def _drop_aside(self) -> None:
        keys = [*self._made, self._aside + b"merged"]
        with suppress(StoreUnavailable):  # they expire
            self._server.send(("UNLINK", key) for key in keys)

    # The transaction.

    def _watched(self) -> list[bytes]:
        crawls = {*self._counts, *self._marks}
        of_crawls = [key for crawl in sorted(crawls) for key in keys_of(crawl)]
        return [*_FIXED, *of_crawls, *sorted(self._made)]

    def _decide(self, done: Exported, watch: Watch, *, whole: bool) -> list[Command]:
        self._require_ours()
        self._require_whole()
        done.left = {c: why for c in self._counts if (why := self._why_left(c)) is not None}
        ours = [crawl for crawl in self._counts if crawl not in done.left]
        gone = self._gone(watch) if whole else []
        done.taken_out = gone
        earlier = self._earlier()
        stale = [crawl for crawl in earlier if done.left.get(crawl) == STALE]
        replaced = [crawl for crawl in earlier if crawl in ours]
        commands = [*self._not_done(replaced), *self._names(ours), *self._without(gone)]
        commands += self._without_stale(stale)
        commands += self._merge({*ours, *gone, *stale}, watch)
        commands += self._sets(ours, gone)
        commands += self._sums(ours, [*gone, *stale], done)
        self._server.require_kept(self._evictions)
        return commands

    def _require_whole(self) -> None:
        """Raises StoreUnavailable where keys aside are no longer what was written: the server was
        restarted, or evicts."""
        lists = {keys_of(crawl).waczs for crawl in self._counts}
        asked = [
            ("LLEN" if key.removeprefix(self._aside) in lists else "HLEN", key)
            for key in self._made
        ]
        if self._server.ask(asked) != list(self._made.values()):
            raise lost(self._server)

    def _why_left(self, crawl: str) -> str | None:
        if self._states[crawl] == COMMITTED:
            return None
        return why_left(self._server, crawl, self._marks.get(crawl), self._openings[crawl])

    def _earlier(self) -> list[str]:
        """Open crawls that stand committed there, since an export wrote an earlier one of the name
        so."""
        written = [
            crawl
            for crawl in self._counts
            if crawl in self._marks
            and (self._marks[crawl].state, self._states[crawl]) == (COMMITTED, OPEN)
        ]
        asked = self._server.ask(("SISMEMBER", COMMITTED_CRAWLS, crawl) for crawl in written)
        return [crawl for crawl, is_there in zip(written, asked, strict=True) if is_there]

    def _gone(self, watch: Watch) -> list[str]:
        """Crawls to take out.  What crawlers committed there of a crawl that was taken out here is
        nothing to refer to: its captures are not here."""
        exported = [crawl for crawl in self._marks if crawl not in self._states]
        others = sorted(set(self._withheld) - set(exported))
        asked = self._server.ask(("SISMEMBER", COMMITTED_CRAWLS, crawl) for crawl in others)
        gone = [crawl for crawl, is_there in zip(others, asked, strict=True) if is_there]
        for crawl in gone:
            for key, kind in zip(keys_of(crawl), _OF_CRAWL, strict=True):
                watch(key)
                self._server.require(key, kind)
        return [*exported, *gone]

    def _names(self, ours: Sequence[str]) -> Iterator[Command]:
        for crawl in ours:
            for key, aside in zip(keys_of(crawl), self._keys_aside(crawl), strict=True):
                yield "UNLINK", key
                if aside in self._made:
                    yield "RENAME", aside, key
                    yield "PERSIST", key

    def _without(self, gone: Sequence[str]) -> Iterator[Command]:
        yield from self._not_done(gone)
        for crawl in gone:
            yield "UNLINK", *keys_of(crawl)
            yield "HDEL", EXPORTED, crawl

    def _not_done(self, crawls: Sequence[str]) -> Iterator[Command]:
        for crawl in crawls:
            for name in _names_of(self._server, crawl):
                yield "SREM", DONE_WACZS, name

    def _without_stale(self, stale: Sequence[str]) -> Iterator[Command]:
        """Let these crawls be committed no more, and delete from their own hashes the digests that
        the merged index has of them: else their crawlers, which run, would merge them again."""
        if stale:
            yield "SREM", COMMITTED_CRAWLS, *stale
            for name, owner in self._server.iter_hash(self._merged):
                if (crawl := owner.decode("utf-8", "replace")) in stale:
                    yield "HDEL", keys_of(crawl).hashes, name

    def _merge(self, replaced: set[str], watch: Watch) -> list[Command]:
        """The merged index: ours, and what others have put there."""
        aside, owners = self._aside + b"merged", self._aside + self._merged
        self._server.send([("UNLINK", aside)])
        if owners in self._made:
            self._server.send([("COPY", owners, aside), ("EXPIRE", aside, _ASIDE_S)])
        others = {crawl.encode("ascii") for crawl in replaced}
        kept = (
            ("HSETNX", aside, name, crawl)
            for name, crawl in self._server.iter_hash(self._merged)
            if crawl not in others
        )
        self._server.send(kept)
        watch(aside)
        [is_there] = self._server.ask([("EXISTS", aside)])
        if not is_there and owners in self._made:
            raise lost(self._server)
        named: list[Command] = [("RENAME", aside, self._merged), ("PERSIST", self._merged)]
        return [("UNLINK", self._merged), *(named if is_there else [])]

    def _sets(self, ours: Sequence[str], gone: Sequence[str]) -> Iterator[Command]:
        committed = [crawl for crawl in ours if self._states[crawl] == COMMITTED]
        for crawl in ours:
            is_open = crawl not in committed
            yield "SADD", OPEN_CRAWLS if is_open else COMMITTED_CRAWLS, crawl
            yield "SREM", COMMITTED_CRAWLS if is_open else OPEN_CRAWLS, crawl
            for listed in self._waczs.lists.get(crawl, ()) if not is_open else ():
                yield "SADD", DONE_WACZS, listed.name
        for crawl in gone:
            yield "SREM", OPEN_CRAWLS, crawl
            yield "SREM", COMMITTED_CRAWLS, crawl

    def _sums(self, ours: Sequence[str], gone: Sequence[str], done: Exported) -> Iterator[Command]:
        """`allcounts`, and our marks."""
        total: Counter[str] = Counter()
        there = {
            crawl.decode("utf-8", "surrogateescape")
            for crawl in self._server.read_set(COMMITTED_CRAWLS)
        }
        for crawl in sorted(there - {*ours, *gone}):
            total.update(read_counts(self._server, crawl))
        for crawl in ours:
            counts = self._counts[crawl]
            if self._states[crawl] == COMMITTED:
                total.update(counts)
            known = {name: number for name, number in counts.items() if number}
            mark = Mark(
                self._collection,
                self._spelling,
                done.digests[crawl],
                len(self._waczs.lists.get(crawl, ())),
                known,
                self._states[crawl],
                self._openings[crawl],
            )
            yield "HSET", EXPORTED, crawl, json.dumps(mark._asdict(), separators=(",", ":"))
        yield "HDEL", ALL_COUNTS, *SUMMED
        pairs = [(name, total[name]) for name in SUMMED if total[name]]
        for name, number in [*pairs, ("updateProgress", 1)]:
            yield "HSET", ALL_COUNTS, name, number
        # Where the collection knows of none, an indexer's own counts stay.
        removed = (len(self._unnamed), sum(self._unnamed.values()))
        for name, number in zip(("removedCrawls", "removedCrawlSize"), removed, strict=True):
            yield "HSET" if self._unnamed else "HSETNX", ALL_COUNTS, name, number
        yield "SET", LAST_UPDATE, self._now


def _names_of(server: SharedServer, crawl: str) -> Iterator[str]:
    """The WACZ files in a crawl's list."""
    for value in server.iter_list(keys_of(crawl).waczs):
        try:
            yield str(json.loads(value)["filename"])
        except (ValueError, TypeError, KeyError):
            continue
