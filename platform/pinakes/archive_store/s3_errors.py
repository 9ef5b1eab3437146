"""Translates exceptions of Arrow's S3 client to ours.  Pure.

Apart from FileNotFoundError they are all OSErrors, with the name of AWS' error or the HTTP status
in their text.  What is not known to be final counts as temporary.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pinakes.errors import InputRefused, PinakesError, StoreUnavailable

from .port import NotThere

FOREIGN = (OSError, ValueError)
"""What a call may raise; pyarrow's own ValueErrors are about names and URLs."""

_NOT_THERE = re.compile(r"NO_SUCH_KEY|NO_SUCH_BUCKET|Bucket '.*' not found|Not a regular file")
_FORBIDDEN = re.compile(
    "ACCESS_DENIED|SIGNATURE_DOES_NOT_MATCH|INVALID_ACCESS_KEY_ID|INVALID_CLIENT_TOKEN_ID"
    "|UNRECOGNIZED_CLIENT|MISSING_AUTHENTICATION_TOKEN|HTTP status 40[13]"
)
# Not: too slow (408), too early (425), too many (429).
_REFUSED = re.compile(r"HTTP status (?:3\d\d|4(?!08|25|29)\d\d)")


class Failure(NamedTuple):
    """An error of ours; `passes` if repeating the call may help."""

    error: PinakesError
    passes: bool


def failure_of(error: Exception, url: str) -> Failure:
    """The error of ours about `url`."""
    text = " ".join(str(error).split())
    text = text[max(text.find("AWS Error"), 0) :]  # before it, Arrow repeats the name
    if isinstance(error, FileNotFoundError) or _NOT_THERE.search(text):
        return Failure(NotThere("file not found on the server", file=url), False)
    if _FORBIDDEN.search(text):
        words = "the server refuses access: check the AWS credentials, and what they may read"
        return Failure(InputRefused(f"{words} ({text:.300})", file=url), False)
    if isinstance(error, ValueError):
        return Failure(InputRefused(f"not accepted as an S3 URL: {text:.300}", file=url), False)
    if _REFUSED.search(text):
        words = "the server refuses the request"
        return Failure(InputRefused(f"{words}: {text:.300}", file=url), False)
    words = "S3 cannot be reached, or failed"
    return Failure(StoreUnavailable(f"{words}: {text:.300}", file=url), True)
