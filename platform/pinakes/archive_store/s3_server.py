"""Calls to the S3 server of a bucket, through `pyarrow.fs`.

Server, region and credentials are what Arrow finds: in the URL's query (`endpoint_override`,
`scheme`, `region`), in the environment, in the files of AWS.  Only time-outs and repetition are
ours: Arrow's own would keep a signal waiting for minutes.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import quote, unquote

from pinakes.errors import ConfigError
from pinakes.waiting import Waiting

from .http import pause_s
from .s3_errors import FOREIGN, failure_of

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

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
