"""Provides for all references whose originals go: revisits by `dedupe`, and those that landed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pinakes.acts.act import Act
from pinakes.catalog.captures import Capture, get_captures
from pinakes.dedupe.run.collection import Collection

from .choices import Choice
from .landed_references import place_of
from .landed_revisits import Change, change_revisits
from .provision import (
    pin_originals,
    places_of,
    repoint_others,
    restore_promoted,
)
from .survey import Reference


def _provide_landed(
    collection: Collection,
    landed: Sequence[Reference],
    bodies: Mapping[bytes, Capture],
    originals: Mapping[bytes, bytes | None],
    act: Act,
) -> None:
    """Change those of these references that have an original here, by row key; None: full.

    `bodies` are the captures whose body they have.  Raises as `change_revisits`.
    """
    of_file: dict[str, dict[bytes, bytes]] = defaultdict(dict)
    for name, row, _ in landed:
        if row.row_key is not None and row.row_key in originals:
            of_file[name][row.row_key] = bodies[row.row_key].key
    for name, keys in sorted(of_file.items()):
        # Looked up for each file: changing the one before may have moved records in it.
        captures = get_captures(act.rows, sorted(set(keys.values())))
        new = {key: one for key in keys if (one := originals[key]) is not None}
        places = places_of(act.rows, new) if new else {}
        changes = {
            key: Change(place_of(collection, body), body.facts.payload_sha256, places.get(key))
            for key, body in ((key, captures[one]) for key, one in keys.items())
        }
        change_revisits(collection, name, changes, act)


def provide_for(
    collection: Collection,
    ours: Sequence[Reference],
    landed: Sequence[Reference],
    bodies: Mapping[bytes, Capture],
    choice: Choice,
    act: Act,
) -> None:
    """Do what was chosen for revisits by `dedupe` and for those that landed as such.

    May be repeated from the beginning.

    Raises:
        UnresolvedReference, DigestMismatch: a reference cannot be provided for; nothing is
            lost, and its file is as it was.
        Conflict: another process works on a file.
    """
    full: dict[bytes, bytes | None] = {copy.key: None for copy in choice.promoted}
    restore_promoted(collection, ours, choice, act)
    _provide_landed(collection, landed, bodies, full, act)
    pin_originals(choice, act)
    repoint_others(collection, ours, choice, act)
    _provide_landed(collection, landed, bodies, choice.repointed, act)
