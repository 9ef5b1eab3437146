"""Posts whose bodies are coded have the keys that cdxj-indexer gives them."""

from __future__ import annotations

import gzip
import json
import subprocess
import zlib
from pathlib import Path

import pytest

from pinakes.cli import main

pytestmark = pytest.mark.slow
URI = "https://example.org/log?alt=json"
QUERIES = [json.dumps({"q": word, "n": [1, 2]}).encode() for word in ("one", "two")]
RAW = zlib.compressobj(wbits=-15)
CODED = {
    "": [*QUERIES],
    "Content-Encoding: gzip\r\n": [gzip.compress(query) for query in QUERIES],
    "Content-Encoding: GZIP\r\n": [gzip.compress(query) for query in QUERIES],
    "Content-Encoding: deflate\r\n": [zlib.compress(query) for query in QUERIES],
    "Content-Encoding: gzip\r\nX-False: 1\r\n": [*QUERIES],
}


def _record(kind: str, number: int, block: bytes) -> bytes:
    lines = (
        *("WARC/1.0", f"WARC-Type: {kind}", f"WARC-Target-URI: {URI}"),
        *("WARC-Date: 2020-01-01T00:00:00Z", f"WARC-Record-ID: <urn:x:{kind}{number}>"),
        f"WARC-Concurrent-To: <urn:x:{'request' if kind == 'response' else 'response'}{number}>",
        *(f"Content-Type: application/http; msgtype={kind}", f"Content-Length: {len(block)}"),
    )
    return "\r\n".join((*lines, "", "")).encode() + block + b"\r\n\r\n"


def _pair(number: int, fields: str, body: bytes) -> bytes:
    head = f"POST /log?alt=json HTTP/1.1\r\nContent-Type: application/json\r\n{fields}"
    asked = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n%d" % number
    return _record("response", number, answer) + _record("request", number, asked)


def test_the_keys_are_those_of_cdxj_indexer(
    peer_tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = [(fields, body) for fields, bodies in CODED.items() for body in bodies]
    path = tmp_path / "posts.warc"
    path.write_bytes(b"".join(_pair(n, *pair) for n, pair in enumerate(pairs)))
    call = [str(peer_tools / "cdxj-indexer"), "-p", str(path)]
    theirs = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    assert main(["cdx", str(path)]) == 0
    ours = capsys.readouterr().out

    def keys(lines: str) -> list[str]:
        return sorted(line.partition(" ")[0] for line in lines.splitlines())

    assert keys(ours) == keys(theirs)
    assert len(set(keys(ours))) == 2
