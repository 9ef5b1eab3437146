"""The list of browsers, where they are looked for, what is said of those that are not there."""

from __future__ import annotations

import io
import tarfile
from datetime import datetime, timezone
from hashlib import sha256
from pathlib import Path

import brotli
import chromium_packs
import pytest

from pinakes.errors import ConfigError, DigestMismatch, StoreUnavailable
from pinakes.qa.browsers.browser_list import BROWSERS, Browser, Driver, browser_named, installed
from pinakes.qa.browsers.page_scripts import Pins
from pinakes.qa.browsers.session import Session, starter
from pinakes.qa.browsers.tab import Proxy, Viewport

PIPED = Browser(name="old", kind=Driver.PIPED_CHROMIUM, program="old-1/chromium", version="92.")
ANSWER, LISTEN = r"printf '%s\0' ", " >&4; cat <&3 >/dev/null"
PINS = Pins(clock=datetime(2009, 5, 6, tzinfo=timezone.utc))
# Whichever of the two ends of the pipe it is told by.
GONE = "old does not start: the (browser ended|pipe is closed)"


def program(file: Path, text: str = "exit 0") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/bash\n{text}\n")
    file.chmod(0o755)
    return file


def test_names_are_those_of_their_packs() -> None:
    names = [browser.name for browser in BROWSERS]
    assert len(set(names)) == len(names)
    piped = {browser.program for browser in BROWSERS if browser.kind is Driver.PIPED_CHROMIUM}
    assert piped == {f"chromium-{version}/chromium" for version in chromium_packs.PACKS}
    assert len(piped) >= 3


def test_an_unknown_browser_is_named_and_so_are_the_known() -> None:
    with pytest.raises(ConfigError, match=r"'netscape'; known: chromium, firefox"):
        browser_named("netscape")


def test_a_missing_program_is_named_with_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(ConfigError, match=r"firefox: firefox-esr not found .*`make browsers`"):
        installed(browser_named("firefox"), tmp_path)
    program(tmp_path / "bin" / "firefox-esr")
    with pytest.raises(ConfigError, match="firefox: geckodriver not found"):
        installed(browser_named("firefox"), tmp_path)


def test_chromium_is_the_headless_shell_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(ConfigError, match="chromium-headless-shell or chromium not found"):
        installed(browser_named("chromium"), tmp_path)
    program(tmp_path / "bin" / "chromedriver")
    whole = program(tmp_path / "bin" / "chromium")
    assert installed(browser_named("chromium"), tmp_path).program == whole
    shell = program(tmp_path / "bin" / "chromium-headless-shell")
    assert installed(browser_named("chromium"), tmp_path).program == shell


def test_the_cache_goes_before_path_and_the_working_folder_is_not_looked_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.chdir(tmp_path)
    program(tmp_path / PIPED.program)
    with pytest.raises(ConfigError):
        installed(PIPED, tmp_path / "cache")
    there = program(tmp_path / "cache" / PIPED.program)
    assert installed(PIPED, tmp_path / "cache").program == there
    program(tmp_path / "path" / "firefox-esr")
    program(tmp_path / "path" / "geckodriver")
    ours = program(tmp_path / "cache" / "bin" / "geckodriver")
    assert installed(browser_named("firefox"), tmp_path / "cache").driver == ours


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 3", GONE),
        ("echo no browser >&4; exit", GONE),
        (
            ANSWER + """'{"id":1,"result":{"product":"Chrome/131.0.1"}}'""" + LISTEN,
            r"old should be version 92\.\*, and is 131\.0\.1",
        ),
        (
            ANSWER + """'{"id":1,"error":{"message":"not today"}}'""" + LISTEN,
            "old does not start: Browser.getVersion: not today",
        ),
    ],
    ids=["ends", "babbles", "another-version", "refuses"],
)
def test_a_program_that_is_no_such_browser_is_named(
    tmp_path: Path, script: str, words: str
) -> None:
    program(tmp_path / PIPED.program, script)
    start = starter(installed(PIPED, tmp_path), Proxy(host="127.0.0.1", port=9), Viewport())
    session = Session("old", start, viewport=Viewport())
    with pytest.raises(ConfigError, match=words):
        session.capture("http://a.example/", pins=PINS, folder=tmp_path)
    assert session._scratch is None


def pack(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An npm whose `pack` copies what lies in a file of ours."""
    renderer = pack({"libEGL.so": b"GL"})
    content = pack(
        {
            "package/bin/chromium.br": brotli.compress(b"\x7fELF browser"),
            "package/bin/swiftshader.tar.br": brotli.compress(renderer),
        }
    )
    given = tmp_path / "given.tgz"
    given.write_bytes(content)
    program(tmp_path / "path" / "npm", f"/bin/cp {given} ./pack.tgz && echo pack.tgz")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(chromium_packs, "PACKS", {"1.0": sha256(content).hexdigest()})
    return given


def test_a_pack_is_fetched_once(npm: Path, tmp_path: Path) -> None:
    said: list[str] = []
    for _ in range(2):
        chromium_packs.have_packs(tmp_path / "cache", said.append)
    folder = tmp_path / "cache" / "chromium-1.0"
    assert (folder / "chromium").read_bytes() == b"\x7fELF browser"
    assert (folder / "chromium").stat().st_mode & 0o111
    assert (folder / "libEGL.so").read_bytes() == b"GL"
    assert len(said) == 1
    assert [entry.name for entry in (tmp_path / "cache").iterdir()] == ["chromium-1.0"]


def test_a_pack_of_other_bytes_is_not_taken(npm: Path, tmp_path: Path) -> None:
    npm.write_bytes(npm.read_bytes()[:-1])
    with pytest.raises(DigestMismatch):
        chromium_packs.have_packs(tmp_path / "cache", print)
    assert list((tmp_path / "cache").iterdir()) == []


def test_without_npm_or_network_it_is_said(npm: Path, tmp_path: Path) -> None:
    program(tmp_path / "path" / "npm", "echo no such host >&2; exit 1")
    with pytest.raises(StoreUnavailable, match="no such host"):
        chromium_packs.have_packs(tmp_path / "cache", print)
    (tmp_path / "path" / "npm").unlink()
    with pytest.raises(ConfigError, match="npm not found"):
        chromium_packs.have_packs(tmp_path / "cache", print)
