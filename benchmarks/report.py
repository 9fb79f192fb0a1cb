"""Measure size and loading time of the report of a large sweep, and take its picture.

    python benchmarks/report.py > docs/measured/report.md

Prints docs/measured/report.md and writes docs/figures/report.png. It needs playwright and
chromium-headless-shell.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kerncast.benchmarks.browser import chromium, shrink
from kerncast.lab.example import shipped_spec
from kerncast.lab.report import gathered, write_report
from kerncast.lab.sweep import make_settings, run_sweep

PICTURE = Path(__file__).parent.parent / "docs" / "figures" / "report.png"
GRID = ["numbers.word=16,24,32", "toeplitz.refine=0,1", "toeplitz.n=96..256/14", "kernel.sigma=1.5..6/6",
        "toeplitz.lambda=0.003..1/10"]
OPENED = 5
_WAIT = 300_000  # ms
_DRAWN = "#front.js-plotly-plot .main-svg .points path"
#: Notes when the first picture of the front, which does not wait for plotly.js, has been painted.
_NOTE_EARLY = """new MutationObserver((_, seen) => {
  if (!document.querySelector("#front canvas")) return;
  seen.disconnect();
  requestAnimationFrame(() => setTimeout(() => { globalThis.early = performance.now(); }));
}).observe(document, { childList: true, subtree: true })"""

PAGE = """# The report of a sweep

    kerncast sweep ecg.toml --grid numbers.word=16,24,32 --grid kernel.sigma=1..6/6 -o ecg.sweep
    kerncast report ecg.sweep

writes `ecg.sweep/report.html`: one file that any browser opens from disk, with no network and nothing else.

![The Pareto front of {points:,} designs, and the list to choose from](../figures/report.png)

It shows the limits, the cheapest design within them and what binds it; the Pareto front; the error against
the bits of each signal; and of the chosen design its plan and hash, its spec with the `kerncast gen` line,
how many bits the words of each signal take, with headroom and saturations, the error budget, reflection
coefficients, the learning curve, and what it takes of each target. Below stand the words compared on back
ends, where there are results, and the commands that make it again.

A design is chosen by a click on its point, or in the list with the arrow keys, and all views follow. Every
picture says in words what it shows, and opens as a table. Colours follow the system, dark or light, or the
switch at the top; texts have the contrast of WCAG AA.

| asked of it | it shows |
|---|---|
| `kerncast report RUN` | a sweep; of at most {closer} designs of the front also words and curves |
| `kerncast report SPEC` | one design, run on the data of its spec |
| `kerncast report OUT` | one design, of a generated folder, run on its vectors |

`--results FILE` takes the JSON of `kerncast test`, `verify` or `demo`: the words that back ends agreed on.
What `kerncast sweep --confirm` compared is found in the run's folder.

Words are those of the integer model, and every signal of the plan is shown. All words are counted of samples,
of predictions with the distances, kernels and sums that make them, of the structure at the end and of
Levinson's recursion; of what else is computed in passing the range is known, and drawn hatched. Reflection
coefficients are those of the row's words, by Levinson's recursion in float64.

The same run gives the same bytes: there is no date in the file, and no place of the machine. What comes from
a spec is text and never markup, and the browser is told to run the page's own scripts alone, by their hashes.

The cheapest design stands in the page as a program too: **Run it on your data** runs the generated C itself,
compiled to WebAssembly by zig, on a CSV that is dropped there, and its words are the model's
([exploring](explore.md) says more, and varies a design with sliders).

A sweep of {points:,} points makes a file of {size:.2f} MB, {plotly:.2f} MB of them plotly.js. Chromium shows
its text after {text:.2f} s and the front after {early:.2f} s, when list and choice work too. plotly.js is
read behind them, and from {drawn:.2f} s on the front answers to the mouse. The page computes
{computing:.2f} s for it, and to read plotly.js alone {alone:.2f} s: each the best of {opened} at a load of
{load:.0f} on {cores} cores, by `python benchmarks/report.py`, not by hand.
"""


def measured(folder: Path) -> dict[str, Any]:
    """Sweep, report and open; the picture is written."""
    from kerncast.lab.report.render import check_plotly
    from kerncast.lab.report.sweep import CLOSER

    settings = make_settings(shipped_spec("ecg"), folder, grid=GRID)
    page = gathered(run_sweep(settings, folder / "ecg.sweep").folder)
    size = write_report(page, folder / "report.html")
    alone = folder / "alone.html"
    alone.write_text(f"<!DOCTYPE html><script>{check_plotly().read_text(encoding='utf-8')}</script>")
    times, base = [], []
    with chromium() as browser:
        for _ in range(OPENED):
            tab, computed = _opened(browser, alone)
            base.append(computed())
            tab.close()
            tab, computed = _opened(browser, folder / "report.html")
            tab.wait_for_selector(_DRAWN, state="attached", timeout=_WAIT)
            drawn, early = (tab.evaluate(time) / 1000 for time in ("performance.now()", "early"))
            text = tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1000
            times.append((drawn, text, early, computed()))
            if len(times) < OPENED:
                tab.close()
        tab.locator("section[aria-labelledby=h-front]").screenshot(path=PICTURE)
    shrink(PICTURE)
    drawn, text, early, computing = map(min, zip(*times, strict=True))
    return {"points": page["points"]["count"], "size": size / 1e6,
            "plotly": check_plotly().stat().st_size / 1e6, "text": text, "early": early, "drawn": drawn,
            "computing": computing, "alone": min(base), "opened": OPENED, "closer": CLOSER,
            "load": os.getloadavg()[0], "cores": os.cpu_count()}


def _opened(browser: Any, path: Path) -> tuple[Any, Callable[[], float]]:
    """A tab with a page, and what asks for the seconds that its main thread has computed."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    inside = tab.context.new_cdp_session(tab)
    inside.send("Performance.enable", {"timeDomain": "threadTicks"})
    tab.add_init_script(_NOTE_EARLY)
    tab.goto(path.as_uri(), timeout=_WAIT)

    def computed() -> float:
        told = {m["name"]: m["value"] for m in inside.send("Performance.getMetrics")["metrics"]}
        return float(told["TaskDuration"])

    return tab, computed


def main() -> None:
    """Measure, draw and print."""
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(PAGE.format(**measured(Path(folder))))


if __name__ == "__main__":
    main()
