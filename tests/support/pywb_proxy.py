"""pywb in proxy mode over archive files, as an independent reader and player of them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from browsing import Client
from wayback_server import wayback

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
    with wayback(tools, root) as port:
        yield Client(port, root / "proxy-certs" / "pywb-ca.pem", timeout_s=20)
