"""pywb in proxy mode over archive files, as an independent reader and player of them."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from browsing import Client

COLLECTION = "all"
# As archived: no rewriting, no banner.
CONFIG = f"""\
proxy:
  coll: {COLLECTION}
  enable_content_rewrite: false
  enable_banner: false
  enable_wombat: false
"""
# cdxj-indexer on each file, in one process; where it gives a file up, nothing of that counts.
INDEX = """\
import io, sys
from cdxj_indexer.main import write_cdx_index
for name in sys.argv[1:]:
    lines = io.StringIO()
    options = {"post_append": True, "records": "response,revisit,resource"}
    try:
        write_cdx_index(lines, [name], options)
    except Exception as error:
        print(name, error, file=sys.stderr)
    else:
        sys.stdout.write(lines.getvalue())
"""


def index_files(tools: Path, root: Path, files: Sequence[Path]) -> None:
    """Make a collection of those of these files that cdxj-indexer can read."""
    collection = root / "collections" / COLLECTION
    for name in ("archive", "indexes"):
        (collection / name).mkdir(parents=True)
    for file in files:
        (collection / "archive" / file.name).symlink_to(file)
    command = [tools / "python", "-c", INDEX, *files]
    done = subprocess.run(command, capture_output=True, check=True)
    lines = sorted(set(done.stdout.splitlines(keepends=True)))
    (collection / "indexes" / "index.cdxj").write_bytes(b"".join(lines))
    (root / "config.yaml").write_text(CONFIG)


@contextmanager
def pywb_proxy(tools: Path, root: Path) -> Iterator[Client]:
    """Run it over the collection in `root`; a client that asks through it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    command = [tools / "wayback", "-b", "127.0.0.1", "-p", str(port), "-d", root]
    with (root / "log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=root, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            wait_for(port, server, root / "log")
            yield Client(port, root / "proxy-certs" / "pywb-ca.pem", timeout_s=20)
        finally:
            server.terminate()
            server.wait()


def wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    while True:
        assert server.poll() is None, log.read_text()
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.1)
