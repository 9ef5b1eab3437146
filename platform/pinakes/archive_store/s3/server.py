"""Calls to the S3 server of a bucket, through `pyarrow.fs`.

Server, region and credentials are what Arrow finds: in the URL's query (`endpoint_override`,
`scheme`, `region`), in the environment, in the files of AWS.  Only time-outs and repetition are
ours: Arrow's own would keep a signal waiting for minutes.

Exceptions of Arrow's client, apart from FileNotFoundError, are all OSErrors, with the name of AWS'
error or the HTTP status in their text.  What is not known to be final counts as temporary.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import quote, unquote

from pinakes.archive_store.http.files import pause_s
from pinakes.errors import ConfigError
from pinakes.waiting import Waiting

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem


from pinakes.archive_store.port import NotThere
from pinakes.errors import InputRefused, PinakesError, StoreUnavailable

ATTEMPTS = 5
_CONNECT_S = 10.0
_REQUEST_S = 20.0
"""Without a byte."""

_URL = re.compile(r"s3://([^/?#@:]+)(?:/([^?#]*))?(?:\?([^#]*))?\Z", re.DOTALL | re.IGNORECASE)

T = TypeVar("T")


class S3Place(NamedTuple):
    """`bucket` is the URL of the bucket, with the query; `path` the bucket and the key, as Arrow
    takes them."""

    bucket: str
    path: str


def parse_s3_url(url: str) -> S3Place:
    """`s3://BUCKET/KEY?QUERY`; `Raises` ConfigError for what is none."""
    if "@" in url.removeprefix("s3://").split("/")[0]:
        raise ConfigError(
            "URLs with a user name or password are not accepted: "
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    match = _URL.match(url)
    if match is None:
        raise ConfigError(f"not an S3 URL, s3://BUCKET/KEY: {url!r}")
    bucket, key, query = match[1], match[2] or "", match[3]
    try:
        path = f"{bucket}/{unquote(key, errors='strict')}"
        path.encode()
    except UnicodeError as error:
        raise ConfigError(f"not a key of S3, which are UTF-8: {url!r}") from error
    return S3Place(f"s3://{bucket}" + (f"?{quote(query, safe='=&%:/')}" if query else ""), path)


class S3Server:
    """The server of a bucket; for several threads, not across forks."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket
        self._filesystem: FileSystem | None = None
        self._waiting = Waiting(bucket, ATTEMPTS * _REQUEST_S)

    def ask(self, url: str, act: Callable[[FileSystem], T]) -> T:
        """Return what `act` returns; repeat it while the server does not answer.

        Raises:
            InputRefused: about `url`, also if access is refused; `port.NotThere`.
            StoreUnavailable: after `ATTEMPTS` failures.
        """
        began_s = time.monotonic()
        failed = 0
        while True:
            try:
                return act(self._connected())
            except FOREIGN as error:
                failed += 1
                failure = failure_of(error, url)
                if not failure.passes or failed == ATTEMPTS:
                    raise failure.error from error
                self._waiting.tell(time.monotonic() - began_s, failure.error.message)
            time.sleep(pause_s(failed))

    def _connected(self) -> FileSystem:
        if self._filesystem is None:
            self._filesystem = _connect(self._bucket)
        return self._filesystem


def server_of(place: S3Place) -> S3Server:
    """The server of a place, the same for all places of a bucket in this process."""
    return _server(place.bucket, os.getpid())


@lru_cache(maxsize=32)
def _server(bucket: str, pid: int) -> S3Server:
    # By process: two that share a connection would get each other's bytes.  What a fork inherits
    # stays here, so that it does not end the connections of its parent.
    return S3Server(bucket)


def _connect(bucket: str) -> FileSystem:
    from pyarrow.fs import AwsStandardS3RetryStrategy, FileSystem, S3FileSystem

    # By way of a URL: AWS_ENDPOINT_URL and the region of a bucket are looked up for these only.
    found, _ = FileSystem.from_uri(bucket)
    _, (options,) = found.__reduce__()
    options.update(
        connect_timeout=_CONNECT_S,
        request_timeout=_REQUEST_S,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=1),
    )
    return S3FileSystem(**options)


FOREIGN = (OSError, ValueError)
"""What a call may raise; pyarrow's own ValueErrors are about names and URLs."""

_NOT_THERE = re.compile(r"NO_SUCH_KEY|NO_SUCH_BUCKET|Bucket '.*' not found|Not a regular file")
_FORBIDDEN = re.compile(
    "ACCESS_DENIED|SIGNATURE_DOES_NOT_MATCH|INVALID_ACCESS_KEY_ID|INVALID_CLIENT_TOKEN_ID"
    "|UNRECOGNIZED_CLIENT|MISSING_AUTHENTICATION_TOKEN|HTTP status 40[13]"
)
# Not: too slow (408), too early (425), too many (429).
_REFUSED = re.compile(r"HTTP status (?:3\d\d|4(?!08|25|29)\d\d)")


class S3Failure(NamedTuple):
    """An error of ours; `passes` if repeating the call may help."""

    error: PinakesError
    passes: bool


def failure_of(error: Exception, url: str) -> S3Failure:
    """The error of ours about `url`."""
    text = " ".join(str(error).split())
    text = text[max(text.find("AWS Error"), 0) :]  # before it, Arrow repeats the name
    if isinstance(error, FileNotFoundError) or _NOT_THERE.search(text):
        return S3Failure(NotThere("file not found on the server", file=url), False)
    if _FORBIDDEN.search(text):
        words = "the server refuses access: check the AWS credentials, and what they may read"
        return S3Failure(InputRefused(f"{words} ({text:.300})", file=url), False)
    if isinstance(error, ValueError):
        return S3Failure(InputRefused(f"not accepted as an S3 URL: {text:.300}", file=url), False)
    if _REFUSED.search(text):
        words = "the server refuses the request"
        return S3Failure(InputRefused(f"{words}: {text:.300}", file=url), False)
    words = "S3 cannot be reached, or failed"
    return S3Failure(StoreUnavailable(f"{words}: {text:.300}", file=url), True)
