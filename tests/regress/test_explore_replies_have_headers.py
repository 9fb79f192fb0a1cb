"""Every reply of `kerncast explore` has a status and its protective headers, in every version of HTTP."""

import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from kerncast.lab.explore.server import Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    nothing = SimpleNamespace(point=dict, design=dict, program=dict)
    with Server(nothing, "<p>the page</p>") as made:  # type: ignore[arg-type]
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


def reply(server: Server, line: str) -> bytes:
    """Send a request line with the host's header; return the whole reply."""
    line = line.replace("TOKEN", server.token)
    with socket.create_connection(server.server_address[:2]) as client:  # type: ignore[arg-type]
        client.sendall(f"{line}\nHost: {server.hosts[0]}\r\n\r\n".encode("latin-1"))
        client.shutdown(socket.SHUT_WR)
        with client.makefile("rb") as whole:
            return whole.read()


@pytest.mark.parametrize("line", [
    "GET /TOKEN/", "GET /TOKEN/=0", "GET /TOKEN/ HTTP/0.9",
    "GET /TOKEN/ HTTP/0.9\r", "GET /", "GET / HTTP/00.09",
    "PUT /", "", "\r", "\xff", "GET", "GET  /TOKEN/ HTTP/1.1",
    "GET /TOKEN/\x1b HTTP/1.1", "get /TOKEN/ HTTP/1.1",
    "GET /TOKEN/ HTTP/2.0", "GET /TOKEN/ HTTP/1.1 HTTP/0.9", "GET /TOKEN/ \xa0HTTP/0.9", "PUT / HTTP/1.1"])
def test_other_requests_get_an_error_with_headers(server: Server, line: str) -> None:
    head, _, body = reply(server, line).partition(b"\r\n\r\n")
    assert head.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")) and b"the page" not in body
    for part in (b"X-Content-Type-Options: nosniff", b"X-Frame-Options: DENY", b"frame-ancestors 'none'"):
        assert part in head


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_the_page_has_its_headers(server: Server, version: str) -> None:
    head, _, body = reply(server, f"GET /TOKEN/ HTTP/{version}").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200") and b"frame-ancestors" in head and body == b"<p>the page</p>"
