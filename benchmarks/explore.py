"""Measure the latency of ``kerncast explore`` in a browser.

    python -m kerncast.benchmarks.explore > docs/measured/explore.md

This requires playwright and chromium-headless-shell.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kerncast.benchmarks.browser import chromium, shrink
from kerncast.codegen.resources import read_text
from kerncast.lab.explore import Server, Session
from kerncast.lab.report.render import render_page
from kerncast.lab.workflow import shipped_spec

PICTURE = Path(__file__).parent.parent / "docs" / "figures" / "explore.png"
#: Specs, and the sliders that are moved through a limited number of positions, one after the other.
MOVED = {"ecg": ("kernel.sigma", "toeplitz.n", "numbers.word"),
         "digits": ("kernel.sigma", "online.eta", "numbers.word"),
         "equaliser": ("kernel.sigma", "online.eta", "numbers.word")}
PLACES = 40
_WAIT = 300_000  # ms
#: Moves a slider to each place; milliseconds from the event until the new design has been painted.
_MOVE = """async ([id, places]) => {
  const field = document.getElementById(id), shown = document.getElementById("chosen"), times = [];
  for (const place of places) {
    const painted = new Promise((done) => {
      new MutationObserver((_, seen) => {
        seen.disconnect();
        requestAnimationFrame(() => setTimeout(() => done(performance.now())));
      }).observe(shown, { childList: true });
    });
    const begun = performance.now();
    field.value = place;
    field.dispatchEvent(new Event("input"));
    times.push(await painted - begun);
  }
  return times;
}"""


class Told(NamedTuple):
    """Durations of slider moves and of the server's replies in ms."""

    moves: list[float]
    answers: list[float]


@contextmanager
def served(name: str) -> Iterator[tuple[Server, Session, list[float]]]:
    """Serve the page of an example, and record the duration of each reply in ms."""
    answers: list[float] = []
    with tempfile.TemporaryDirectory() as work:
        session = Session(shipped_spec(name), Path(work), Path(work))
        with Server(session, render_page(session.page())) as server:
            server.questions["point"] = timed(session.point, answers)
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            yield server, session, answers
            server.shutdown()
            thread.join()


def timed(question: Callable[[Any], Any], answers: list[float]) -> Callable[[Any], Any]:
    """Wrap a request handler of the server, so that it records its durations."""
    def asked(inputs: Any) -> Any:
        begun = time.perf_counter()
        answer = question(inputs)
        answers.append(1e3 * (time.perf_counter() - begun))
        return answer

    return asked


def moved(browser: Any, name: str, picture: Path | None) -> Told:
    """Move each slider of a page from its initial position to several others."""
    with served(name) as (server, session, answers):
        tab = browser.new_page(viewport={"width": 1280, "height": 1000})
        tab.set_default_timeout(_WAIT)
        tab.goto(server.url)
        tab.wait_for_selector("#front.js-plotly-plot .main-svg")
        moves: list[float] = []
        for control in session.controls:
            if control.key in MOVED[name]:
                places = [at for at, value in enumerate(control.values) if value != control.value]
                chosen = np.linspace(0, len(places) - 1, min(PLACES, len(places))).astype(int)
                moves += tab.evaluate(_MOVE, [f"c-{control.key}", [places[at] for at in chosen]])
                tab.click("#reset")
        if picture is not None:
            tab.mouse.move(0, 0)
            tab.evaluate("scrollTo(0, document.querySelector('[aria-labelledby=h-explore]').offsetTop - 8)")
            tab.wait_for_timeout(2000)
            tab.screenshot(path=picture)
        tab.close()
        return Told(moves, list(answers))


def row(name: str, told: Told) -> str:
    """Return the row of a spec."""
    half, most = np.percentile(told.moves, [50, 95])
    return (f"| {name} | {', '.join(MOVED[name])} | {len(told.moves)} | {half:.0f} | "
            f"{most:.0f} | {np.median(told.answers):.0f} |")


def main() -> None:
    """Run all measurements, write the screenshot, and print the page."""
    with chromium() as browser:
        for name in MOVED:
            moved(browser, name, None)  # what numba compiles, it keeps
        found = {name: moved(browser, name, PICTURE if name == "ecg" else None) for name in MOVED}
    shrink(PICTURE)
    every = re.search(r"EVERY = (\d+)", read_text("templates/report/explore.js"))
    assert every
    template = (Path(__file__).parent / "explore.md.in").read_text(encoding="utf-8")
    sys.stdout.write(template.format(
        rows="\n".join(row(name, told) for name, told in found.items()), every=every[1],
        load=os.getloadavg()[0], cores=os.cpu_count()))


if __name__ == "__main__":
    main()
