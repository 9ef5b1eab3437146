"""Index, byte ranges and pywb's replay out of real HBase and HDFS, as out of a folder."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest
from cdx_by_hand import lines_of_files, parsed
from cluster_stores import store_on
from scenes import page as site_page
from scenes import write_crawl
from shared_cluster import RunningCluster
from warcio.archiveiterator import ArchiveIterator
from wayback_server import installed_tools, plain_environment

pytestmark = pytest.mark.faults
TIMEOUT_S = 120


def run(folder: Path, *verb: object) -> str:
    command = [sys.executable, "-m", "pinakes.cli", "-q", *map(str, verb)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def get(url: str, span: str | None = None) -> bytes:
    request = urllib.request.Request(url, headers={"Range": span} if span else {})
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        return bytes(answer.read())


@pytest.fixture
def folder(cluster: RunningCluster, tmp_path: Path) -> Iterator[Path]:
    """Two crawls, landed and deduplicated on the cluster; its configuration lies here."""
    with store_on(cluster, tmp_path):
        for crawl in (1, 2):
            write_crawl(tmp_path / "crawls" / f"c{crawl}", crawl)
            run(tmp_path, "ingest", tmp_path / "crawls" / f"c{crawl}", "--crawl", f"c{crawl}")
        run(tmp_path, "dedupe", "--all")
        yield tmp_path


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[dict[str, str]]:
    """The addresses of a `pinakes serve`."""
    verb = [sys.executable, "-m", "pinakes.cli", "serve", "--json", "--port", "0"]
    with subprocess.Popen(
        [*verb, "--processes", "1", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env=plain_environment(),
    ) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()
            process.communicate(timeout=TIMEOUT_S)


def bodies(crawls: Path) -> dict[tuple[str, str], bytes]:
    """By time and URL, the bodies of the crawled files, by warcio."""
    found = {}
    for path in sorted(crawls.rglob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type == "response":
                    date = record.rec_headers.get_header("WARC-Date")
                    time = "".join(c for c in date if c.isdigit())
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    found[time, url] = record.content_stream().read()
    return found


def test_pywb_replays_and_lines_name_their_records(folder: Path) -> None:
    expected = bodies(folder / "crawls")
    command = str(installed_tools() / "wayback")
    with serving(folder, "--replay", "0", "--wayback-command", command) as told:
        listed = get(f"{told['url']}cdx?url=example.org&matchType=host").decode()
        lines = [parsed(line) for line in listed.splitlines()]
        assert sorted(map(str, lines)) == sorted(
            str(parsed(line)) for line in run(folder, "cdx", "default").splitlines()
        )
        assert any(fields["mime"] == "warc/revisit" for *_, fields in lines)
        for _, time, fields in lines:
            start, length = int(fields["offset"]), int(fields["length"])
            span = f"bytes={start}-{start + length - 1}"
            part = folder / "crawl" / "part.warc.gz"
            part.parent.mkdir(exist_ok=True)
            part.write_bytes(get(f"{told['url']}warc/{fields['filename']}", span))
            [alone] = lines_of_files(part.parent, ["part.warc.gz"])
            assert (alone[1], alone[2]["url"]) == (time, fields["url"])
        found = {(time, url): get(f"{told['replay']}{time}id_/{url}") for time, url in expected}
        assert found == expected


def test_crawlers_are_told_of_originals(folder: Path) -> None:
    """After dedupe: of each body the first crawl's capture, once that is committed."""
    digests = [hashlib.sha1(body).hexdigest() for body in bodies(folder / "crawls").values()]
    unknown = [hashlib.sha1(b"%d" % number).hexdigest() for number in range(1000)]
    asked = "\n".join([*digests, *unknown]).encode()

    def told_of(base: str) -> list[str | None]:
        with urllib.request.urlopen(f"{base}default/digests", asked, timeout=TIMEOUT_S) as answer:
            lines = [json.loads(line) for line in answer.read().splitlines()]
        assert [line["digest"] for line in lines] == [*digests, *unknown]
        return [line["original"] and line["original"]["crawl"] for line in lines]

    with serving(folder) as told:
        assert not any(told_of(told["url"]))
        for crawl in ("c1", "c2"):
            run(folder, "crawl", "commit", crawl)
        found = told_of(told["url"])
        # Every third page is another in the second crawl.
        assert [found.count(crawl) for crawl in ("c1", "c2", None)] == [20, 4, 1000]
        url, digest = "http://example.org/1", hashlib.sha1(site_page(1)).hexdigest()
        query = urlencode({"url": url, "fl": "timestamp,digest", "limit": "-1"})
        line = get(f"{told['url']}default/dedup/hex?{query}&filter=!mimetype:warc/revisit")
        assert line.decode() == f"20210101000001 {digest}\n"
        listed = get(f"{told['url']}default/dedup/wget").decode().splitlines()
        assert len(listed) == 1 + len(set(digests))
