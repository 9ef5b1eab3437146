"""The authority of one process: whom it signs for, and what it leaves behind."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from pinakes.errors import PinakesError
from pinakes.extras import install_command
from pinakes.qa.replay.certificates import Authority

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")


@pytest.fixture(scope="module")
def authority() -> Iterator[Authority]:
    made = Authority()
    yield made
    made.close()


def shaken(authority: Authority, host: str, name: str) -> bytes:
    """The certificate that a client gets who asks that host for that name."""
    ours, theirs = socket.socketpair()

    def serve() -> None:
        try:
            authority.context(host).wrap_socket(ours, server_side=True).close()
        except ssl.SSLError:
            ours.close()

    thread = threading.Thread(target=serve)
    thread.start()
    trust = ssl.create_default_context(cafile=str(authority.ca_file))
    try:
        with trust.wrap_socket(theirs, server_hostname=name) as client:
            return client.getpeercert(binary_form=True) or b""
    finally:
        theirs.close()
        thread.join()


@pytest.mark.parametrize(
    "host",
    ["example.org", "a_b.example.org", "xn--bcher-kva.example", "192.0.2.7", "a" * 60 + ".org"],
)
def test_a_host_is_believed(authority: Authority, host: str) -> None:
    assert shaken(authority, host, host)


def test_it_is_believed_for_no_other(authority: Authority) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shaken(authority, "example.org", "www.example.org")


def test_a_context_is_made_once(authority: Authority) -> None:
    assert authority.context("example.org") is authority.context("example.org")


def test_what_cannot_be_named(authority: Authority) -> None:
    with pytest.raises(PinakesError, match="no certificate"):
        authority.context("b\xfccher.example")


def test_nothing_is_left(authority: Authority) -> None:
    """While it lives its certificate alone, never a key; then nothing."""
    other = Authority()
    other.context("example.org")
    folder = other.ca_file.parent
    assert [path.name for path in folder.iterdir()] == ["ca.pem"]
    assert b"PRIVATE" not in other.ca_file.read_bytes()
    assert folder.stat().st_mode & 0o077 == 0
    other.close()
    other.close()
    assert not folder.exists()
    assert authority.ca_file.exists()


def test_without_the_extra_it_is_named() -> None:
    code = (
        "import sys; sys.modules['cryptography'] = None\n"
        "from pinakes.qa.replay.proxy import ReplayProxy\n"
        "ReplayProxy(None, None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "MissingExtra" in done.stderr
    assert f"needs cryptography: {install_command('qa')}" in done.stderr
