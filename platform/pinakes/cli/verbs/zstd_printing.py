"""What `pinakes zstd` says of files, and of all of them."""

from __future__ import annotations

from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.errors import PinakesError
from pinakes.rewrite.new_file import UNCHANGED
from pinakes.rewrite.recompress_file import PLANNED, TOO_LITTLE, Recompression


def say_findings(result: Recompression, name: str, console: Console) -> None:
    """Name what is no record, what is wrong with one, and what is left out."""
    for finding in (*result.stretches, *result.findings, *result.left_out):
        console.warn(PinakesError(finding.message, file=name, offset=finding.offset))


def too_little(files: int, min_saving: float) -> str:
    """The line about files that are left."""
    return f"{count_of(files, 'file')} unchanged: would save less than {min_saving * 100:.4g}%"


def sentence(result: Recompression) -> str:
    """The line that is printed for a file."""
    if result.outcome == TOO_LITTLE:
        change = sizes(result.bytes_before, result.bytes_after)
        return printable(f"{result.file}: {TOO_LITTLE}, left as it is; {change}")
    records = ", ".join(f"{count} {name}" for name, count in sorted(result.records.items()))
    change = sizes(result.bytes_before, result.bytes_after)
    parts = [f"{result.file} -> {result.target}: {result.outcome}, {records}", change]
    if stretches := len(result.stretches):
        are = count_of(stretches, "stretch that is", "stretches that are")
        parts.append(f"{are} no record, kept unchanged")
    if result.sampled_records is not None:
        parts.append(f"by a sample of {count_of(result.sampled_records, 'record')}")
    elif result.outcome == PLANNED:
        parts.append("by all records")
    if result.outcome == UNCHANGED:
        parts.append("equal to the existing file")
    if result.content is not None:
        parts.append(f"verified, {result.content.size:,} bytes")
    return printable("; ".join(parts))


def sizes(before: int, after: int) -> str:
    """Both, and what one is of the other."""
    ratio = f" ({after / before:.1%})" if before else ""
    return f"{before:,} -> {after:,} bytes{ratio}"
