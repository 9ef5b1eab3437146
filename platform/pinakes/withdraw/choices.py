"""Which references to a withdrawn original become full records, and what the others refer to.

Pure.  Each reference, in order of age, refers to the earliest full copy before it that can be
addressed and has another urlkey or second; where there is none, it becomes one itself.  So the
same references and copies give the same result, also when some have become full already.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Copy(NamedTuple):
    """A capture of the content: sorted by its fields, oldest first."""

    second: str
    archive_file: str
    ordinal: int
    key: bytes

    @property
    def address(self) -> tuple[bytes, str]:
        """What a replay tool looks it up by: urlkey and second."""
        return self.key.rpartition(b" ")[0].rpartition(b" ")[0], self.second


class Choice(NamedTuple):
    """References that become full, and those that refer to another original: by row key."""

    promoted: list[Copy]
    repointed: dict[bytes, bytes]


def choose_originals(
    references: Iterable[Copy], full: Iterable[Copy], unfit: frozenset[bytes]
) -> Choice:
    """Provide for all references to one content.

    `unfit` are the row keys of copies that nothing may refer to: other bodies have their urlkey
    and second, too, or they have no date, answer a POST, and the like.
    """
    originals = sorted(copy for copy in full if copy.key not in unfit)
    promoted: list[Copy] = []
    repointed: dict[bytes, bytes] = {}
    for reference in sorted(references):
        for original in originals:
            if original < reference and original.address != reference.address:
                repointed[reference.key] = original.key
                break
        else:
            promoted.append(reference)
            if reference.key not in unfit:
                originals = sorted([*originals, reference])
    return Choice(promoted, repointed)
