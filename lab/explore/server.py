"""lab.explore: serve the page to this machine only, behind a token; write no file.

The server listens on 127.0.0.1 only. A request must contain the token, which is part of the address, and the
name of this machine. A page of another site has neither, and cannot read a reply.
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ...sim.errors import KerncastError, fail
from .session import Session, Superseded

ADDRESS = "127.0.0.1"
#: A question is small, and whoever begins one ends it.
_MOST_BYTES, _SECONDS = 65_536, 60
_HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
            "Cross-Origin-Resource-Policy": "same-origin"}
Question = Callable[[dict[str, Any]], dict[str, Any]]


class Server(ThreadingHTTPServer):
    """HTTP server of one session.

    Parameters
    ----------
    session : Session
    html : str
        The page.
    port : int
        0 for any that is free.

    Attributes
    ----------
    url : str
        The address of the page, token included.

    Raises
    ------
    KerncastError
        E374 if the port is not available.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False

    def __init__(self, session: Session, html: str, port: int = 0) -> None:
        try:
            super().__init__((ADDRESS, port), _Handler)
        except (OSError, OverflowError) as error:
            raise fail("E374", "the port is not available", where="--port", value=port,
                       allowed="a free port, 1024 to 65535, or 0 for any",
                       remedy=f"omit --port, or name another ({error})") from None
        self.html = html.encode()
        self.token = secrets.token_urlsafe(24)
        self.questions: dict[str, Question] = {
            "point": session.point, "design": session.design, "program": session.program}
        port = self.server_address[1]
        self.hosts = (f"{ADDRESS}:{port}", f"localhost:{port}")
        self.url = f"http://{ADDRESS}:{port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a closed page; report any other exception as an internal error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Request handler of one connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = _SECONDS

    def do_GET(self) -> None:
        """Send the page."""
        name = self._asked()
        if name == "":
            self._answer(HTTPStatus.OK, self.server.html, "text/html; charset=utf-8")
        elif name is not None:
            self._refuse(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Answer a request from the page."""
        name = self._asked()
        if name is None:
            return
        question = self.server.questions.get(name)
        asked = self._question()
        if question is None or asked is None:
            self._refuse(HTTPStatus.NOT_FOUND if question is None else HTTPStatus.BAD_REQUEST)
            return
        try:
            self._tell(question(asked))
        except Superseded:
            self._tell({"overtaken": True})
        except KerncastError as error:
            self._tell({"problems": [p.as_dict() for p in error.problems]})
        except Exception as error:  # the page goes on with another question
            self._tell({"problems": [{"code": "internal", "message": f"{type(error).__name__}: {error}",
                                      "remedy": "internal error: please report it"}]})

    def _asked(self) -> str | None:
        """Return the part of the path after the token.

        None, with 403, for a wrong host, origin or token.
        """
        _, _, rest = self.path.partition("/")
        token, slash, name = rest.partition("/")
        origin = self.headers.get("Origin")
        known = hmac.compare_digest(token.encode(), self.server.token.encode())
        ours = self.headers.get("Host") in self.server.hosts and (
            origin is None or origin.removeprefix("http://") in self.server.hosts)
        if not (known and slash and ours):
            self._refuse(HTTPStatus.FORBIDDEN)
            return None
        return name

    def _question(self) -> dict[str, Any] | None:
        """Read the JSON object of the request, or None if there is none."""
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

    def _tell(self, values: dict[str, Any]) -> None:
        self._answer(HTTPStatus.OK, json.dumps(_finite(values), allow_nan=False).encode(), "application/json")

    def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, because an address contains the token."""


def _finite(values: Any) -> Any:
    """Replace NaN and infinity, which JSON does not support, by None."""
    if isinstance(values, dict):
        return {key: _finite(value) for key, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [_finite(value) for value in values]
    return None if isinstance(values, float) and values - values != 0 else values
