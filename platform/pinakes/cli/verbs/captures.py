"""How a capture is shown to people and scripts: what `lookup`, `timeline` and `show` share."""

from __future__ import annotations

from datetime import datetime, timezone

from pinakes.catalog.captures import CaptureRow, Placed
from pinakes.cli.frame.output import printable


def capture_object(placed: Placed) -> dict[str, object]:
    """A capture for `--json`; what is not known is null."""
    capture = placed.capture
    facts, mark = capture.facts, capture.dedupe
    return {
        "capture": capture.key.decode("ascii"),
        "url": facts.target_uri,
        "date": facts.date,
        "type": facts.type,
        "status": facts.status,
        "media_type": facts.media_type,
        "digest": facts.payload_sha1,
        "size": facts.payload_size,
        "file": placed.file,
        "offset": placed.location.offset,
        "length": placed.location.length,
        "archive_file": facts.archive_file,
        "generation": placed.entry.generation,
        "collection": placed.collection,
        "landed": format_ms(capture.landed_ms),
        "pinned": capture.pinned,
        "copy_number": mark.copy_number if mark is not None else None,
        "duplicate_of": mark.refers_to_key if mark is not None else None,
        "refers_to_url": facts.refers_to_target_uri,
        "refers_to_date": facts.refers_to_date,
        "withdrawn": None,
    }


def withdrawn_object(capture: CaptureRow) -> dict[str, object]:
    """A capture that was withdrawn, for `--json`: it has no place, and no body."""
    facts, withdrawal = capture.facts, capture.withdrawal
    return {
        "capture": capture.key.decode("ascii"),
        "url": facts.target_uri,
        "date": facts.date,
        "type": facts.type,
        "archive_file": facts.archive_file,
        "landed": format_ms(capture.landed_ms),
        "withdrawn": {
            "at": format_ms(withdrawal.act_time_ms),
            "by": withdrawal.by,
            "reason": withdrawal.reason,
            "asked": withdrawal.asked,
            "act": withdrawal.act,
        }
        if withdrawal is not None
        else None,
    }


def withdrawn_line(capture: CaptureRow) -> str:
    """The same on one line; the CAPTURE id comes last."""
    fields = [capture.facts.date or "no-date", withdrawal_words(capture)]
    return printable("  ".join([*fields, capture.key.decode("ascii")]))


def withdrawal_words(capture: CaptureRow) -> str:
    """That a capture was withdrawn, when, by whom and why."""
    withdrawal = capture.withdrawal
    if withdrawal is None:
        return ""
    return f"withdrawn {format_ms(withdrawal.act_time_ms)} by {withdrawal.by}: {withdrawal.reason}"


def capture_line(placed: Placed) -> str:
    """A capture on one line, fields apart by two blanks; the CAPTURE id comes last."""
    capture = placed.capture
    facts = capture.facts
    fields = [
        facts.date or "no-date",
        "-" if facts.status is None else str(facts.status),
        facts.media_type or "-",
        facts.type,
        facts.payload_sha1 or facts.declared_digest or "-",
        f"{placed.file}:{placed.location.offset}",
        placed.collection or "-",
        *state_words(placed),
    ]
    return printable("  ".join([*fields, capture.key.decode("ascii")]))


def state_words(placed: Placed) -> list[str]:
    """What dedupe says of a capture: duplicate of what, pinned."""
    capture = placed.capture
    mark = capture.dedupe
    words = []
    if mark is not None and capture.is_duplicate:
        target = mark.refers_to_key or f"{mark.refers_to_target_uri} {mark.refers_to_date}"
        words.append(f"duplicate of [{target}]")
    if capture.pinned:
        words.append("pinned")
    return words


def format_ms(milliseconds: int) -> str:
    """Milliseconds since 1970 as a date that `--as-of` takes, exactly."""
    moment = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{milliseconds % 1000:03d}Z"
