"""lab.explore: serve the page on this machine only, protected by a token.

The server listens on 127.0.0.1 only, and does not write files. Every request must have this machine as its
host, and must contain the token: in its path for the page, and in a header for requests from the page. The
page moves the token from its address into the fragment, which browsers do not send. Pages of other sites do
not have the token, and cannot read a reply.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ...sim.errors import KerncastError, fail
from ..report.page import finite
from ..report.render import script_hash
from .session import Session, Superseded

ADDRESS = "127.0.0.1"
#: Limits of a request: its size, and the time to send it.
_MOST_BYTES, _SECONDS = 65_536, 60
#: Connections at once; above it, the oldest one that has not shown the token is closed.
_MOST_CONNECTIONS = 64
#: Policy of every response; the page itself lists the hashes of its scripts in its own policy.
_HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
            "Cross-Origin-Resource-Policy": "same-origin"}
_POLICY = "Content-Security-Policy"
_OF_PAGE = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'"
_OF_OTHERS = "default-src 'none'; frame-ancestors 'none'"
#: The first line of a request. A reply in HTTP/0.9 would have neither status nor headers.
_REQUEST_LINE = re.compile(rb"[A-Z]+ [!-~]+ HTTP/1\.[01]\r?\n")
#: The header that carries the token.
TOKEN = "X-Kerncast-Token"
# A page that is loaded again has its token in the fragment.
_RELOAD = 'location.replace("/" + location.hash.slice(1).replace(/[^\\w-]/g, "") + "/");'
_ENTRY = f"<!DOCTYPE html><title>kerncast explore</title><script>{_RELOAD}</script>\n".encode()
_OF_ENTRY = f"{_OF_OTHERS}; script-src '{script_hash(_RELOAD)}'"
Question = Callable[[dict[str, Any]], dict[str, Any]]


class Server(ThreadingHTTPServer):
    """HTTP server for one session.

    Parameters
    ----------
    session : Session
    html : str
        HTML of the page.
    port : int
        Port number, or 0 for any free port.

    Attributes
    ----------
    url : str
        The address of the page, including the token.

    Raises
    ------
    KerncastError
        E374 if the port is not available.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False
    # Beyond this queue the system drops a connection, and the browser repeats it after 1, 3, 7, ... seconds.
    request_queue_size = _MOST_CONNECTIONS

    def __init__(self, session: Session, html: str, port: int = 0) -> None:
        try:
            super().__init__((ADDRESS, port), _Handler)
        except (OSError, OverflowError) as error:
            raise fail("E374", "the port is not available", where="--port", value=f"{port} ({error})",
                       allowed="a free port, 1024 to 65535, or 0 for any",
                       remedy="omit --port, or name another port") from None
        self.html = html.encode()
        self.token = secrets.token_urlsafe(24)
        self.questions: dict[str, Question] = {
            "point": session.point, "design": session.design, "program": session.program}
        port = self.server_address[1]
        self.hosts = (f"{ADDRESS}:{port}", f"localhost:{port}")
        self.url = f"http://{ADDRESS}:{port}/{self.token}/"
        self._open: dict[socket.socket, bool] = {}  # oldest first; True once it has shown the token
        self._counting = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection.

        If there are too many connections, the oldest one that has not presented the token is closed.
        """
        with self._counting:
            self._open[request] = False
            if len(self._open) > _MOST_CONNECTIONS:
                oldest = next((line for line, known in self._open.items() if not known), request)
                del self._open[oldest]
                with suppress(OSError):  # its thread ends and closes it
                    oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def admit(self, request: Any) -> None:
        """Mark a connection as one that has presented the token."""
        with self._counting:
            if request in self._open:
                self._open[request] = True

    def close_request(self, request: Any) -> None:
        """Close a connection, and remove it from the list of open connections."""
        with self._counting:
            self._open.pop(request, None)
        super().close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore an error if the browser closed the connection; otherwise print it."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Handler of the HTTP requests on one connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "kerncast", ""
    timeout = _SECONDS
    policy = _OF_OTHERS
    raw_requestline: bytes

    def parse_request(self) -> bool:
        """Parse a request; refuse every version but HTTP/1.0 and HTTP/1.1."""
        if _REQUEST_LINE.fullmatch(self.raw_requestline):
            return super().parse_request()
        self.command, self.request_version, self.requestline = "", self.protocol_version, ""
        self._refuse(HTTPStatus.BAD_REQUEST)
        return False

    def do_GET(self) -> None:
        """Send the page if the path contains the token; otherwise send an error.

        The path ``/`` returns a small page that reloads the address with the token from its fragment.
        """
        token, slash, name = self.path.removeprefix("/").partition("/")
        if self.path == "/" and self._at_home():
            self._answer(HTTPStatus.OK, _ENTRY, "text/html; charset=utf-8", _OF_ENTRY)
        elif not (slash and self._allowed(token)):
            self._refuse(HTTPStatus.FORBIDDEN)
        elif name:
            self._refuse(HTTPStatus.NOT_FOUND)
        else:
            self._answer(HTTPStatus.OK, self.server.html, "text/html; charset=utf-8", _OF_PAGE)

    def do_POST(self) -> None:
        """Process a request from the page, and send the result as JSON."""
        if not self._allowed(self.headers.get(TOKEN, "")):
            self._refuse(HTTPStatus.FORBIDDEN)
            return
        question = self.server.questions.get(self.path.removeprefix("/"))
        asked = self._question()
        if question is None or asked is None:
            self._refuse(HTTPStatus.NOT_FOUND if question is None else HTTPStatus.BAD_REQUEST)
            return
        try:
            self._send_json(question(asked))
        except Superseded:
            self._send_json({"superseded": True})
        except KerncastError as error:
            self._send_json({"problems": [p.as_dict() for p in error.problems]})
        except Exception as error:  # the page continues with another request
            self._send_json({"problems": [{"code": "internal", "message": f"{type(error).__name__}: {error}",
                                           "remedy": "internal error: please report it"}]})

    def _at_home(self) -> bool:
        """Report whether the headers Host and Origin name this server."""
        origin = self.headers.get("Origin")
        return self.headers.get("Host") in self.server.hosts and (
            origin is None or origin.removeprefix("http://") in self.server.hosts)

    def _allowed(self, token: str) -> bool:
        """Report whether a token is valid and the request is from this server's page."""
        known = hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self.server.token.encode())
        if known and self._at_home():
            self.server.admit(self.request)
            return True
        return False

    def _question(self) -> dict[str, Any] | None:
        """Return the JSON object of the request; None if it is missing or invalid."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > len(str(_MOST_BYTES)) or int(length) > _MOST_BYTES \
                or self.headers.get_content_type() != "application/json":
            self.close_connection = True  # what may still come is not read
            return None
        try:
            asked = json.loads(self.rfile.read(int(length)))
            return {**asked, "number": int(asked.get("number", 0))}
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            return None

    def _refuse(self, status: HTTPStatus) -> None:
        self.close_connection = True
        self._answer(status, f"{status.value} {status.phrase}\n".encode(), "text/plain; charset=utf-8")

    def _send_json(self, values: dict[str, Any]) -> None:
        self._answer(HTTPStatus.OK, json.dumps(finite(values), allow_nan=False).encode(), "application/json")

    def _answer(self, status: HTTPStatus, body: bytes, kind: str, policy: str = _OF_OTHERS) -> None:
        self.policy = policy
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self) -> None:
        """Add the common headers to every reply, including error replies."""
        for name, value in {**_HEADERS, _POLICY: self.policy}.items():
            self.send_header(name, value)
        self.policy = _OF_OTHERS
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log, because addresses contain the token."""
