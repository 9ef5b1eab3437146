"""Collisions as the tasks of a job find them, brought into one for each digest.

A digest that is divided, or goes several rounds, is seen in pieces: each tells a capture of
what it knows by its hash extension.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator

from pinakes.dedupe.decide.counting import Capture, Collision

COLLISIONS = "collisions"
"""What tasks keep such lines under."""

_SEVERAL = 2


def collision_text(digest: str, captures: Iterable[tuple[int, Capture]]) -> bytes:
    """A line: hash extensions with a capture of each."""
    contents = [[extension, *capture] for extension, capture in captures]
    return json.dumps([digest, contents]).encode()


def merge_collisions(texts: Iterable[bytes]) -> Iterator[Collision]:
    """The collisions that such lines tell together, by digest; a capture of each content.

    Of one content the first capture by place is named.  What is known of one content only is
    no collision.  Memory: the digests that collide.
    """
    found: dict[str, dict[int, Capture]] = defaultdict(dict)
    for text in texts:
        digest, contents = json.loads(text)
        captures = found[digest]
        for extension, *values in contents:
            capture = Capture(*values)
            captures[extension] = min(captures.get(extension, capture), capture)
    for digest in sorted(found):
        captures = found[digest]
        if len(captures) >= _SEVERAL:
            yield Collision(digest, tuple(captures[extension] for extension in sorted(captures)))
