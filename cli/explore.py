"""cli: ``kerncast explore``: open the report of a spec in a browser, with sliders."""

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

from ._options import JsonFlag, SpecPath
from ._output import Answer, emit
from ._spec import load_spec

Port = Annotated[int, typer.Option(metavar="PORT", min=0, max=65535,
                                   help="TCP port of this machine; 0 for any free one.")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address only.")]


def explore(path: SpecPath, port: Port = 0, no_browser: NoBrowser = False, as_json: JsonFlag = False) -> None:
    """Open the report in a browser, with sliders.

    The integer model runs again while you drag a slider. Every design that you try stays in the plot of the
    Pareto front. In the browser, you can run the generated C of a design on your own data. The server is
    accessible from this machine only, at the printed address, and does not write files. To end it, press
    Ctrl-C.

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
                emit(Answer({"url": server.url, "port": server.server_address[1], "spec": str(path)},
                            f"{server.url}\nCtrl-C ends it"), as_json)
                sys.stdout.flush()  # the reader of a pipe waits for it
                if not no_browser:
                    threading.Thread(target=_open_browser, args=(server.url,), daemon=True).start()
                server.serve_forever()
            except KeyboardInterrupt:
                typer.echo("ended", err=True)


@contextmanager
def _terminable() -> Iterator[None]:
    """Convert SIGTERM and SIGHUP to an exception, to remove the temporary folder."""
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
    """Open a browser; print a hint if that fails.

    This runs in a separate thread, because a text browser runs until the user ends it.
    """
    import webbrowser

    try:
        opened = webbrowser.open(url)
    except (webbrowser.Error, OSError):
        opened = False
    if not opened:
        typer.echo("no browser could be started: open the address above on this machine", err=True)
