"""What is asked of a rewritten archive file before anybody may read it.  DigestMismatch: no."""

from __future__ import annotations

from pinakes.dedupe.validate.file_pairs import Comparison, compare_files
from pinakes.dedupe.validate.raw_proof import RawProof, compare_raw
from pinakes.errors import DigestMismatch
from pinakes.warc.source import Source


def require_given_back(before: Source, after: Source) -> None:
    """The new file gives the old one back, byte for byte."""
    _require_bytes(before, compare_raw(before, after))


def require_revisits(before: Source, after: Source) -> None:
    """The same; and behind damage, every record is still read."""
    proof = compare_raw(before, after)
    _require_bytes(before, proof)
    if proof.behind_damage:
        require_records(before, after)


def require_records(before: Source, after: Source) -> None:
    """The new file gives the old one back, byte for byte and record by record."""
    found = Comparison()
    compare_files(before, after, None, found)
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
