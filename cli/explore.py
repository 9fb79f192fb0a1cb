"""cli: ``kerncast explore``: the report of a spec live in a browser, with sliders."""

from __future__ import annotations

import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from .shell import JsonFlag, SpecPath, load_spec, show

Port = Annotated[int, typer.Option(min=0, max=65535, help="Port of this machine; 0 for any that is free.")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address, and open nothing.")]


def explore(path: SpecPath, port: Port = 0, no_browser: NoBrowser = False, as_json: JsonFlag = False) -> None:
    """Open the views of the report in a browser, with sliders for formats and parameters.

    The integer model runs again while one drags, and every design that was met stays in the picture of the
    front. The chosen one runs on one's own data, by the generated C itself, in the browser. Only this machine
    is listened on, whoever asks must know the address, and no file is written. Ctrl-C ends it.

    Examples
    --------
    kerncast explore ecg.toml
    kerncast explore ecg.toml --no-browser --port 8123
    kerncast explore ecg.toml --no-browser --json
    """
    from ..lab.explore import Server, Session
    from ..lab.report import check_plotly
    from ..lab.report.render import render_page

    check_plotly()  # before anything is computed
    spec = load_spec(path)
    with _terminable(), tempfile.TemporaryDirectory(prefix="kerncast-", ignore_cleanup_errors=True) as work:
        session = Session(spec, path.parent, Path(work))
        with Server(session, render_page(session.page()), port) as server:
            try:
                show({"url": server.url, "port": server.server_address[1], "spec": str(path)}, as_json,
                     f"{server.url}\nCtrl-C ends it")
                sys.stdout.flush()  # a pipe's reader waits for it
                if not no_browser:
                    threading.Thread(target=_open_browser, args=(server.url,), daemon=True).start()
                server.serve_forever()
            except KeyboardInterrupt:
                typer.echo("ended", err=True)


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM and a closed terminal end the command as an exception does: its temporary folder goes too."""
    def ended(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {number: signal.signal(number, ended) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _open_browser(url: str) -> None:
    """Start a browser, in a thread of its own: one of text runs until it is left."""
    import webbrowser

    try:
        opened = webbrowser.open(url)
    except (webbrowser.Error, OSError):
        opened = False
    if not opened:
        typer.echo("no browser could be started: open the address above yourself, on this machine", err=True)
