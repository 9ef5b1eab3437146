"""What is asked of a rewritten archive file before anybody may read it.  DigestMismatch: no."""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.dedupe.validate.file_pairs import Comparison, compare_files
from pinakes.dedupe.validate.raw_proof import RawProof, compare_raw
from pinakes.errors import DigestMismatch
from pinakes.warc.source import Source


def require_given_back(before: Source, after: Source) -> None:
    """The new file gives the old one back, byte for byte."""
    _require_bytes(before, compare_raw(before, after))


def require_revisits(before: Source, after: Source, bodies: Sequence[str]) -> None:
    """The same; each body left out has the SHA-256 of its original's: `bodies`, in order.

    And behind damage, every record is still read.
    """
    proof = compare_raw(before, after, bodies)
    _require_bytes(before, proof)
    if proof.behind_damage:
        require_records(before, after)


def require_records(before: Source, after: Source, bodies: Sequence[str] | None = None) -> None:
    """The new file gives the old one back, byte for byte and record by record.

    `bodies` as `require_revisits`; None where nothing is left out.
    """
    found = Comparison()
    compare_files(before, after, None, found, bodies=bodies)
    if found.discrepancies:
        first = found.discrepancies[0]
        raise DigestMismatch(
            f"the new file is not what it should be ({first.code}: {first.message}); "
            "nothing was changed",
            file=before.name,
            offset=first.offset,
        )


def _require_bytes(before: Source, proof: RawProof) -> None:
    if proof.difference is not None:
        raise DigestMismatch(
            f"the new file would not give this one back ({proof.difference.what}); "
            "nothing was changed",
            file=before.name,
            offset=proof.difference.before,
        )
