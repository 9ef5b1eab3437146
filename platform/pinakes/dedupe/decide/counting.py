"""What the steps of the chain count, for people and for `--stats`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from pinakes.errors import PinakesError
from pinakes.index.manifest import ManifestLine


class CountedCapture(NamedTuple):
    """One capture, as statistics and error listings name it."""

    file: str
    offset: int
    inner_offset: int
    target_uri: str
    date: str


def capture_of(line: ManifestLine) -> CountedCapture:
    """A line as statistics name it."""
    return CountedCapture(line.file, line.offset, line.inner_offset, line.target_uri, line.date)


class Collision(NamedTuple):
    """One digest over unequal bodies: a capture of each, in order of hash extension; of a
    second digest, in order of the first."""

    digest: str
    captures: tuple[CountedCapture, ...]


@dataclass(slots=True)
class ResolveCount:
    """What `resolve_lines` saw.  Complete when its lines have been drawn to the end."""

    records: int = 0
    """Lines that may take part."""
    clusters: int = 0
    """Digests among them."""
    contents: int = 0
    """Different bodies among them."""
    compared_bytes: int = 0
    believed: int = 0
    """Lines found equal to another by their digests, unread."""
    second_digests_unread: int = 0
    """Contents that claim a second digest which a thousand others claim, too."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Lines that take no part, by reason."""
    collisions: list[Collision] = field(default_factory=list)
    problems: list[PinakesError] = field(default_factory=list)
    """Bodies that could not be read, with file and offset."""

    def add(self, other: ResolveCount) -> None:
        """Count in what was seen of other lines, whose digests are not among these."""
        self.records += other.records
        self.clusters += other.clusters
        self.contents += other.contents
        self.compared_bytes += other.compared_bytes
        self.believed += other.believed
        self.second_digests_unread += other.second_digests_unread
        self.skipped.update(other.skipped)
        self.collisions += other.collisions
        self.problems += other.problems

    def as_json(self) -> dict[str, object]:
        """For `--stats`; documented in docs/dedupe.md."""
        return {
            "records": self.records,
            "clusters": self.clusters,
            "contents": self.contents,
            "duplicates": self.records - self.contents,
            "compared_bytes": self.compared_bytes,
            "believed": self.believed,
            "second_digests_unread": self.second_digests_unread,
            "skipped": dict(sorted(self.skipped.items())),
            "collisions": [
                {
                    "digest": collision.digest,
                    "captures": [capture._asdict() for capture in collision.captures],
                }
                for collision in self.collisions
            ],
            "unreadable": [
                {"file": problem.file, "offset": problem.offset, "message": problem.message}
                for problem in self.problems
            ],
        }


@dataclass(slots=True)
class ProcessCount:
    """What `process_lines` decided.  Complete when its lines have been drawn to the end."""

    originals: int = 0
    """Full records that stay so, copies left full included."""
    duplicates: int = 0
    """Records that are to become revisits."""
    duplicate_bytes: int = 0
    """Their compressed bytes: more than what rewriting them saves."""
    full: Counter[str] = field(default_factory=Counter)
    """Copies of an earlier content that stay full, by reason."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Lines that take no part, by reason."""
    revisits: int = 0
    """Revisits that were there before."""
    repeated: int = 0
    """Lines about a record that an earlier line is about already: left out."""

    def as_json(self) -> dict[str, object]:
        """For `--stats`; documented in docs/dedupe.md."""
        return {
            "originals": self.originals,
            "duplicates": self.duplicates,
            "duplicate_bytes": self.duplicate_bytes,
            "full": dict(sorted(self.full.items())),
            "skipped": dict(sorted(self.skipped.items())),
            "revisits": self.revisits,
            "repeated": self.repeated,
        }


@dataclass(slots=True)
class Decisions:
    """What was decided, counted; complete when the lines have been drawn to the end."""

    resolved: ResolveCount = field(default_factory=ResolveCount)
    processed: ProcessCount = field(default_factory=ProcessCount)

    def as_json(self) -> dict[str, object]:
        return {"resolve": self.resolved.as_json(), "process": self.processed.as_json()}
