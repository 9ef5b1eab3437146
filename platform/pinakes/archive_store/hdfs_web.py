"""The checksum that HDFS keeps for a file, read through WebHDFS.

Source: Hadoop 3.4, WebHDFS REST API, GETFILECHECKSUM: a name node redirects to a data node,
which asks the nodes that have the blocks.
"""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import quote, urlencode, urlsplit

from .hdfs_checksums import KeptChecksum

_TIMEOUT_S = 30.0
_MOST_ANSWER_BYTES = 1 << 16


def kept_checksum(addresses: tuple[str, ...], path: str, user: str) -> KeptChecksum | None:
    """HDFS's checksum of a file, as this user; None if no name node's web server answers.

    Also None where it requires authentication (Kerberos): then the file is read back.
    """
    query = urlencode({"op": "GETFILECHECKSUM", "user.name": user})
    for address in addresses:
        try:
            found = json.loads(_get(f"{address}/webhdfs/v1{quote(path)}?{query}"))
            kept = found["FileChecksum"]
            return KeptChecksum(str(kept["algorithm"]), bytes.fromhex(kept["bytes"]))
        except (OSError, HTTPException, ValueError, KeyError, TypeError):
            continue  # the next may be the active one
    return None


def _get(url: str, *, redirected: bool = False) -> bytes:
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}")
        response = connection.getresponse()
        location = response.getheader("Location")
        if response.status == 307 and location and not redirected:
            return _get(location, redirected=True)
        if response.status != 200:
            raise HTTPException(f"{response.status} {response.reason}")
        return response.read(_MOST_ANSWER_BYTES)
    finally:
        connection.close()
