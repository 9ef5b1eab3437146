"""The recipes of docs/ingest.md, run as they are printed there, by the crawlers that they name."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Timer

import pytest
from verbs_here import call_here
from web_servers import free_port

from bench.peers import pins
from bench.site_server import serving

pytestmark = pytest.mark.slow

SITE = "https://example.org/"
PAGES = {
    "/": b'<a href="/one.html">one</a> <a href="/gone.html">gone</a>',
    "/robots.txt": b"User-agent: *\nDisallow:\n",
    "/one.html": b"<p>one</p>",
}
HANGS_S = 120
BLOCK = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)
# A word that only this recipe has.
RECIPES = {
    "wget": "--hook wget",
    "heritrix": "FOREGROUND",
    "cron": "* * * *",
    "browsertrix": "docker run",
    "webhook": "webhook.json",
    "wacz": "item.wacz",
    "warcprox": "warcprox",
}


@pytest.fixture(scope="module")
def recipes(repository: Path) -> dict[str, str]:
    """Each recipe by name; none is left over."""
    text = (repository / "docs" / "ingest.md").read_text("utf-8")
    section = text.split("\n## Hooks", 1)[1].split("\n## ", 1)[0]
    blocks = BLOCK.findall(section)
    found = {name: [b for b in blocks if word in b] for name, word in RECIPES.items()}
    assert sorted(block for named in found.values() for block in named) == sorted(blocks)
    return {name: block for name, [block] in found.items()}


@pytest.fixture
def site() -> Iterator[str]:
    """The address of a small site that links to a page which it does not have."""
    with serving(PAGES.get) as url:
        yield f"{url}/"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A folder with a configuration and a store, to run recipes in."""
    (tmp_path / "pinakes.toml").write_text('profile = "embedded"\nstore = "store"\n')
    assert call_here(tmp_path, "init").returncode == 0
    return tmp_path


def _environment() -> dict[str, str]:
    """`pinakes` and `python3` as here, and no proxy."""
    plain = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    return {**plain, "PATH": f"{Path(sys.executable).parent}:{plain['PATH']}"}


def _shell(folder: Path, script: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env={**_environment(), **more},
        capture_output=True,
        text=True,
        timeout=HANGS_S,
    )


def _landed(archive: Path, url: str) -> list[dict[str, object]]:
    """The captures of a URL."""
    done = call_here(archive, "--json", "timeline", url)
    return [json.loads(line) for line in done.stdout.splitlines()]


def _statuses(archive: Path, site: str) -> list[object]:
    """The HTTP statuses of the front page, of the page behind it, and of the missing one."""
    pages = (site, f"{site}one.html", f"{site}gone.html")
    return [capture["status"] for page in pages for capture in _landed(archive, page)]


def _needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: `make tools` does it")


def _peer(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"{path.name} is not installed: `make tools` does it")
    return path


def test_wget(recipes: dict[str, str], archive: Path, site: str) -> None:
    _needs("wget")
    done = _shell(archive, recipes["wget"].replace(SITE, site))
    assert done.returncode == 0, done.stderr
    assert _statuses(archive, site) == [200, 200, 404]


def test_wget_where_nobody_answers(recipes: dict[str, str], archive: Path) -> None:
    _needs("wget")
    nobody = f"http://127.0.0.1:{free_port()}/"
    done = _shell(archive, recipes["wget"].replace(SITE, nobody))
    assert done.returncode == 4, done.stderr
    assert _landed(archive, nobody) == []


def test_wget_that_failed(recipes: dict[str, str], archive: Path, site: str) -> None:
    _needs("wget")
    (archive / "full").mkdir()
    # wget is given a folder as its log file: 3, file I/O.
    failing = recipes["wget"].replace("--mirror", "--mirror -o full").replace(SITE, site)
    done = _shell(archive, failing)
    assert done.returncode not in (0, 4, 5, 6, 7, 8)
    assert _statuses(archive, site) == []


def _heritrix_home(folder: Path, site: str) -> Path:
    """Heritrix with a job `news` for the site, made from its own profile."""
    home = folder / "heritrix"
    home.mkdir()
    for part in ("bin", "lib", "conf"):
        (home / part).symlink_to(_peer(pins.heritrix_home()) / part)
    (engine,) = (home / "lib").glob("heritrix-engine-*.jar")
    with zipfile.ZipFile(engine) as jar:
        profile = jar.read("org/archive/crawler/restlet/profile-crawler-beans.cxml").decode()
    contact = re.search(r"ENTER_AN_URL\w+", profile)
    assert contact is not None
    beans = profile.replace(contact[0], "http://library.example.org/")
    beans = beans.replace("http://example.example/example", site)
    beans = beans.replace("</props>", '<prop key="disposition.minDelayMs">0</prop></props>')
    (home / "jobs" / "news").mkdir(parents=True)
    (home / "jobs" / "news" / "crawler-beans.cxml").write_text(beans)
    return home


def test_heritrix(recipes: dict[str, str], archive: Path, site: str) -> None:
    _needs("java")
    home = _heritrix_home(archive, site)
    recipe = recipes["heritrix"].replace(" -r ", f" -p {free_port()} -r ")
    done = _shell(archive, recipe, HERITRIX_HOME=str(home))
    assert done.returncode == 0, done.stderr
    assert _statuses(archive, site) == [200, 200, 404]
    # By cron: what has landed is not landed again.
    command = recipes["cron"].split(None, 5)[5]
    command = command.replace("cd /archive", f"cd {archive}").replace("/heritrix/", f"{home}/")
    again = _shell(Path("/"), command)
    assert (again.returncode, again.stdout.count("was there")) == (0, 1), again.stderr
    # A job that cannot be started lands nothing, although the launch before it is there.
    (home / "jobs" / "news" / "crawler-beans.cxml").write_text("<beans")
    failed = _shell(archive, recipe, HERITRIX_HOME=str(home))
    assert (failed.returncode, "was there" in failed.stdout) == (1, False)


@pytest.fixture
def docker(archive: Path, site: str) -> Path:
    """The folder of a `docker` that runs Browsertrix's writer on the site; it ends with $CODE.

    Where there is no Node.js, as on a bare machine, Python's warcio writes.
    """
    support = Path(__file__).resolve().parents[1] / "support"
    if shutil.which("node") is not None and pins.warcio_js().is_dir():
        writer = f"node {support / 'browsertrix_writer.mjs'} {pins.warcio_js()}"
    else:
        writer = f"{sys.executable} {support / 'warcio_writer.py'}"
    program = archive / "programs" / "docker"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\n{writer} {site} "$@" && exit $CODE\nexit 99\n')
    program.chmod(0o755)
    return program.parent


@pytest.mark.parametrize(
    ("code", "statuses"),
    [
        pytest.param(0, [200, 200, 404], id="whole"),
        pytest.param(15, [200, 200, 404], id="at-its-time-limit"),
        pytest.param(9, [], id="failed"),
    ],
)
def test_browsertrix(
    recipes: dict[str, str],
    archive: Path,
    site: str,
    docker: Path,
    code: int,
    statuses: list[int],
) -> None:
    path = f"{docker}:{_environment()['PATH']}"
    recipe = recipes["browsertrix"].replace(SITE, site)
    done = _shell(archive, recipe, PATH=path, CODE=str(code))
    assert done.returncode == code, done.stderr
    assert _statuses(archive, site) == statuses


@pytest.fixture
def crawled(archive: Path, site: str, docker: Path) -> Path:
    """A file that Browsertrix's writer wrote of the site."""
    call = f"run -v {archive / 'crawls'}:/crawls image crawl --url {site} --collection c"
    subprocess.run(
        [docker / "docker", *call.split()], env={**_environment(), "CODE": "0"}, check=True
    )
    (file,) = archive.glob("crawls/collections/c/archive/*.warc.gz")
    return file


def test_webhook(recipes: dict[str, str], archive: Path, site: str, crawled: Path) -> None:
    body = {
        "event": "crawlFinished",
        "itemId": "manual-1",
        "state": "complete",
        "resources": [{"name": "x/rec.warc.gz", "path": "https://example.org/rec.warc.gz?sig"}],
    }
    (archive / "webhook.json").write_text(json.dumps(body))
    shutil.copy(crawled, archive / "rec.warc.gz")
    assert _shell(archive, recipes["webhook"]).returncode == 0
    assert _statuses(archive, site) == [200, 200, 404]


def test_wacz(recipes: dict[str, str], archive: Path, site: str, crawled: Path) -> None:
    with zipfile.ZipFile(archive / "item.wacz", "w") as wacz:
        wacz.write(crawled, "archive/data.warc.gz")
        wacz.writestr("datapackage.json", "{}")
    assert _shell(archive, recipes["wacz"]).returncode == 0
    assert _statuses(archive, site) == [200, 200, 404]


def test_warcprox(recipes: dict[str, str], archive: Path) -> None:
    path = f"{_peer(pins.warcprox()).parent}:{_environment()['PATH']}"
    port = free_port()
    recipe = recipes["warcprox"].replace("8000", str(port)).replace("time 60", "time 1")
    running = subprocess.Popen(
        ["sh", "-c", recipe.replace("--watch", "--watch --settle 1")],
        cwd=archive,
        env={**_environment(), "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    deadline = Timer(HANGS_S, os.killpg, (running.pid, signal.SIGKILL))
    deadline.start()
    said = []
    # It fetches nothing from 127.0.0.1.
    with serving(PAGES.get, "127.0.0.2") as url:
        try:
            proxies = urllib.request.ProxyHandler({"http": f"http://127.0.0.1:{port}"})
            assert running.stdout is not None
            # It listens before its tables are made, and loses what it fetches meanwhile.
            for line in running.stdout:
                said.append(line)
                if "created table buckets_of_stats" in line:
                    break
            for page in ("/", "/one.html", "/gone.html"):
                with suppress(urllib.error.HTTPError):
                    urllib.request.build_opener(proxies).open(url + page).close()
            for line in running.stdout:
                said.append(line)
                if ": landed, " in line:
                    break
        finally:
            os.killpg(running.pid, signal.SIGTERM)
            running.communicate(timeout=HANGS_S)
            deadline.cancel()
        assert _statuses(archive, f"{url}/") == [200, 200, 404], "".join(said)
