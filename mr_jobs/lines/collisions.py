"""Collisions found by the tasks of a job, merged into one per digest.

A digest that is divided, or takes several rounds, is processed in pieces: each reports, by hash
extension, one capture of each content that it has.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator

from pinakes.dedupe.decide.counting import Collision, CountedCapture

COLLISIONS = "collisions"
"""The name under which tasks keep such lines."""

_SEVERAL = 2


def collision_text(digest: str, captures: Iterable[tuple[int, CountedCapture]]) -> bytes:
    """A line: hash extensions, with one capture of each."""
    contents = [[extension, *capture] for extension, capture in captures]
    return json.dumps([digest, contents]).encode()


def merge_collisions(texts: Iterable[bytes]) -> Iterator[Collision]:
    """Merge such lines into collisions by digest, with one capture of each content.

    Of each content the first capture by place is named.  A digest with one content is not a
    collision.  Memory: the colliding digests.
    """
    found: dict[str, dict[int, CountedCapture]] = defaultdict(dict)
    for text in texts:
        digest, contents = json.loads(text)
        captures = found[digest]
        for extension, *values in contents:
            capture = CountedCapture(*values)
            captures[extension] = min(captures.get(extension, capture), capture)
    for digest in sorted(found):
        captures = found[digest]
        if len(captures) >= _SEVERAL:
            yield Collision(digest, tuple(captures[extension] for extension in sorted(captures)))
