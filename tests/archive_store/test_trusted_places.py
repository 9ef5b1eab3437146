"""What a manifest may name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinakes.archive_store.trusted_places import TrustedPlaces
from pinakes.errors import InputRefused

WEB = "https://example.org/crawls/all.json"


@pytest.mark.parametrize(
    ("trusted", "origin", "place"),
    [
        pytest.param("", None, "http://elsewhere.org/a.wacz", id="the user's own words"),
        pytest.param("", WEB, "https://example.org/other/a.wacz", id="its own host"),
        pytest.param("", WEB, "https://EXAMPLE.org:443/a.wacz", id="its port said"),
        pytest.param("", WEB, "http://example.org/a.wacz", id="http, each on its own port"),
        pytest.param("files.org", WEB, "https://files.org:8443/a.wacz", id="a host, any port"),
        pytest.param("FILES.org:8443", WEB, "https://files.org:8443/a.wacz", id="host and port"),
        pytest.param("files.org:443", WEB, "https://files.org/a.wacz", id="the scheme's port"),
        pytest.param("[::1]", WEB, "http://[::1]:8080/a.wacz", id="an address"),
        pytest.param("", "/in/all.json", "/in/deep/a.wacz", id="its own folder"),
        pytest.param("a.org, /in", "/other/all.json", "file:///in/a.wacz", id="a folder"),
        pytest.param("/in", WEB, "/in/a.wacz", id="a folder, from the web"),
    ],
)
def test_places_that_may_be_named(trusted: str, origin: str | None, place: str) -> None:
    TrustedPlaces.parse(trusted).require(place, origin)


@pytest.mark.parametrize(
    ("trusted", "origin", "place", "named"),
    [
        pytest.param("", WEB, "https://files.org/a.wacz", "the host files.org,", id="host"),
        pytest.param("", WEB, "https://example.org:8443/", "example.org:8443", id="port"),
        pytest.param("files.org:1", WEB, "https://files.org/", "files.org", id="another port"),
        pytest.param("", WEB, "https://example.org.evil.net/", "evil.net", id="a longer name"),
        pytest.param("", WEB, "https://example.org@evil.net/", "evil.net", id="a user name"),
        pytest.param("", WEB, "file:///etc/a.wacz", "/etc/a.wacz", id="a file, from the web"),
        pytest.param("", "/in/all.json", "http://localhost/a.wacz", "localhost", id="from a file"),
        pytest.param("", "/in/all.json", "/in/../etc/a.wacz", "/etc/a.wacz", id="above"),
        pytest.param("/in", "/x/all.json", "/inner/a.wacz", "/inner/a.wacz", id="a longer folder"),
    ],
)
def test_places_that_may_not_be_named(trusted: str, origin: str, place: str, named: str) -> None:
    with pytest.raises(InputRefused, match="import_from") as refusal:
        TrustedPlaces.parse(trusted).require(place, origin)
    assert named in str(refusal.value)


def test_a_link_out_of_the_folder_may_not_be_named(tmp_path: Path) -> None:
    (tmp_path / "outside.wacz").write_bytes(b"")
    (tmp_path / "in").mkdir()
    link = tmp_path / "in" / "a.wacz"
    link.symlink_to("../outside.wacz")
    with pytest.raises(InputRefused):
        TrustedPlaces().require(str(link), str(tmp_path / "in" / "all.json"))
    TrustedPlaces(folders=(tmp_path,)).require(str(link), str(tmp_path / "in" / "all.json"))


@pytest.mark.parametrize("text", ["http://files.org", "files.org/a", "a b.org", "*"])
def test_what_is_no_host_or_folder_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="hosts and folders"):
        TrustedPlaces.parse(text)


@pytest.mark.parametrize("url", ["http://[broken", "http://a:port/", "http://"])
def test_what_has_no_host_is_nobodys(url: str) -> None:
    with pytest.raises(InputRefused):
        TrustedPlaces.parse("a").require(url, WEB)
