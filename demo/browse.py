"""Start `pinakes serve` on the demo's store, ask it for a page of the second crawl, and end it.

    python -m demo.browse URL

Prints what it asks and what comes: an index line, and the record that it names, by its range.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
import zlib
from urllib.parse import quote


def fetched(address: str, span: str | None = None) -> bytes:
    """What is at an address, or a span of it."""
    request = urllib.request.Request(address, headers={"Range": span} if span else {})
    with urllib.request.urlopen(request, timeout=30) as answer:
        body: bytes = answer.read()
        return body


def main(url: str) -> None:
    """Ask for the latest capture of a URL; of a revisit, for the record that has its body."""
    command = ["pinakes", "serve", "--port", "0", "--processes", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            base = serving.stdout.readline().strip()
            query = f"{base}cdx?url={quote(url)}&limit=-1&resolveRevisits=true"
            line = fetched(query).decode()
            print(f"GET {query}\n{line.strip()}")
            fields = json.loads(line.split(" ", 2)[2])
            lead = "orig." if fields["orig.offset"] != "-" else ""
            start, length = int(fields[f"{lead}offset"]), int(fields[f"{lead}length"])
            name = f"{base}warc/{quote(fields[f'{lead}filename'])}"
            span = f"bytes={start}-{start + length - 1}"
            record = zlib.decompress(fetched(name, span), 31)
            print(f"GET {name} with Range: {span}")
            head = record.partition(b"\r\n\r\n")[0].decode("utf-8", "replace")
            wanted = ("WARC-Type", "WARC-Target-URI", "WARC-Date")
            print("\n".join(row for row in head.splitlines() if row.startswith(wanted)))
        finally:
            serving.terminate()


if __name__ == "__main__":
    main(sys.argv[1])
