"""Archive files made to be misunderstood, by a seed: mutated, nested, lying, damaged."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable

Members = list[bytes]
BODIES = [b"", b"x", b"<p>one</p>" * 30, b"<p>two</p>" * 30, bytes(range(256)) * 4]
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
LINE_ENDS = (b"\r\n", b"\n", b"\r\n\r\n", b"\n\n\n", b"\r\r\n", b" ", b"\0")


def record(dice: random.Random, number: int) -> bytes:
    """A record, now and then an odd one."""
    body = dice.choice(BODIES)
    block = HTTP + body
    if dice.random() < 0.1:
        coded = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body) + dice.choice((0, 0, 5)), body)
        block = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + coded
    kind = dice.choice([b"response"] * 8 + [b"revisit", b"resource", b"request", b"metadata"])
    second = dice.choice([dice.randrange(60), 7])
    date = b"2020-01-%02dT00:00:%02dZ" % (dice.randrange(1, 4), second)
    if dice.random() < 0.05:
        date = dice.choice([b"", b"20200101", b"2020-13-01T00:00:00Z", b"9999-01-01T00:00:00Z"])
    uri = b"http://example.org/%d" % dice.randrange(6)
    lines = [
        b"WARC/1.%d" % dice.randrange(2),
        b"WARC-Type: " + kind,
        b"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>"
        % (number // dice.choice((1, 1, 2))),
        b"WARC-Target-URI: " + uri,
        b"WARC-Date: " + date,
        b"Content-Type: application/http; msgtype=response",
    ]
    if kind == b"revisit":
        lines.append(
            b"WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
        )
        if dice.random() < 0.7:
            lines.append(b"WARC-Refers-To-Target-URI: http://example.org/%d" % dice.randrange(6))
            lines.append(b"WARC-Refers-To-Date: 2020-01-01T00:00:07Z")
        block = HTTP
    if dice.random() < 0.1:
        lines.append(b"X-Folded: a\r\n  b" + b"c" * dice.choice((0, 9000)))
    if dice.random() < 0.05:
        lines.append(b"WARC-Target-URI: http://example.com/twice")
    length = len(block) + (dice.choice((-3, 4, 400)) if dice.random() < 0.05 else 0)
    lines.append(b"Content-Length: %d" % length)
    end = b"\r\n\r\n" + (
        dice.choice(LINE_ENDS) * dice.choice((1, 1, 500)) if dice.random() < 0.1 else b""
    )
    return b"\r\n".join([*lines, b"", b""]) + block + end


def flip(dice: random.Random, members: Members) -> None:
    at = dice.randrange(len(members))
    data = bytearray(members[at])
    if data:
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    members[at] = bytes(data)


def cut(dice: random.Random, members: Members) -> None:
    at = dice.randrange(len(members))
    place = dice.randrange(len(members[at]) + 1)
    members[at] = dice.choice((members[at][:place], members[at][place:]))


def swap(dice: random.Random, members: Members) -> None:
    one, two = dice.randrange(len(members)), dice.randrange(len(members))
    members[one], members[two] = members[two], members[one]


def double(dice: random.Random, members: Members) -> None:
    members.insert(dice.randrange(len(members)), dice.choice(members))


def nest(dice: random.Random, members: Members) -> None:
    start = dice.randrange(len(members))
    end = start + dice.randrange(1, 5)
    inner = dice.choice((b"", b"text", b"\r\n")) + b"".join(members[start:end])
    members[start:end] = [gzip.compress(inner, dice.choice((0, 0, 9)), mtime=0)]


def join(dice: random.Random, members: Members) -> None:
    start = dice.randrange(len(members))
    texts = []
    for member in members[start : start + 3]:
        try:
            texts.append(zlib.decompress(member, 31))
        except zlib.error:
            return
    members[start : start + 3] = [gzip.compress(b"".join(texts), mtime=0)]


def put_rubbish(dice: random.Random, members: Members) -> None:
    rubbish = dice.choice(
        (b"\0" * 100, b"rubbish\n", b"\x1f\x8b\x08", b"WARC/1.0\r\n", b"\r\n", gzip.compress(b""))
    )
    members.insert(dice.randrange(len(members) + 1), rubbish)


def inflate(dice: random.Random, members: Members) -> None:
    at = dice.randrange(len(members))
    try:
        members[at] = zlib.decompress(members[at], 31)
    except zlib.error:
        return


def over_two_members(dice: random.Random, members: Members) -> None:
    at = dice.randrange(len(members))
    try:
        text = zlib.decompress(members[at], 31)
    except zlib.error:
        return
    place = dice.randrange(len(text) + 1)
    members[at] = gzip.compress(text[:place], mtime=0) + gzip.compress(text[place:], mtime=0)


MUTATIONS: tuple[Callable[[random.Random, Members], None], ...] = (
    *(flip, cut, swap, double, nest, join, put_rubbish, inflate, over_two_members),
)


def hostile_files(seed: int) -> list[bytes]:
    """Two archive files of one crawl; the same for the same seed."""
    dice = random.Random(seed)
    files = []
    for file in range(2):
        members = [
            gzip.compress(record(dice, 100 * file + number), dice.choice((0, 6)), mtime=0)
            for number in range(dice.randrange(3, 14))
        ]
        for _ in range(dice.randrange(4)):
            dice.choice(MUTATIONS)(dice, members)
        files.append(b"".join(members))
    return files
