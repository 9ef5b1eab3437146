"""Real web servers on loopback over a folder: nginx, and Python's own, which has no ranges."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

_NGINX = """
daemon off; master_process off; pid {state}/pid; error_log {state}/errors;
events {{}}
http {{
  access_log {state}/requests; client_body_temp_path {state}; proxy_temp_path {state};
  fastcgi_temp_path {state}; uwsgi_temp_path {state}; scgi_temp_path {state};
  server {{ listen 127.0.0.1:{port}{tls}; root {folder}; }}
}}
"""
_TLS = " ssl; ssl_certificate {0}; ssl_certificate_key {0}"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server that was started listens."""
    while True:
        assert server.poll() is None, log.read_text()
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.02)


@contextmanager
def nginx(folder: Path, state: Path, certificate: Path | None = None) -> Iterator[str]:
    """nginx over `folder`; its URL.  `certificate`: PEM of a key and a certificate, for TLS."""
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("nginx is not installed: .ci/system-packages does it")
    state.mkdir()
    port = free_port()
    tls = _TLS.format(certificate) if certificate else ""
    settings = state / "nginx.conf"
    settings.write_text(_NGINX.format(state=state, port=port, folder=folder, tls=tls))
    with (state / "log").open("wb") as log:
        server = subprocess.Popen([program, "-c", settings, "-e", state / "errors"], stderr=log)
        try:
            wait_for(port, server, state / "log")
            yield f"http{'s' if certificate else ''}://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def without_ranges(folder: Path, state: Path) -> Iterator[str]:
    """`python -m http.server` over `folder`; its URL."""
    handler = partial(_Silent, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


Serve = Callable[[Path, Path], AbstractContextManager[str]]
SERVERS: dict[str, Serve] = {"nginx": nginx, "without ranges": without_ranges}


def make_certificate(folder: Path) -> Path:
    """The key and the certificate of 127.0.0.1, signed by itself."""
    key, signed, both = folder / "key.pem", folder / "signed.pem", folder / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-keyout", str(key), "-out", str(signed)]
    subprocess.run(command, check=True, capture_output=True)
    both.write_bytes(key.read_bytes() + signed.read_bytes())
    return both
