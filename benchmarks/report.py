"""Measure the report of a sweep with 5,000 points: size, and times in a browser.

    python -m kerncast.benchmarks.report > docs/measured/report.md

The page is printed, and docs/figures/report.png is written. This requires playwright and
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
from kerncast.lab.report import gather_page, write_report
from kerncast.lab.sweep import make_settings, run_sweep
from kerncast.lab.workflow import shipped_spec

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

These commands write `ecg.sweep/report.html`. Any browser can open this single file from disk, without a
network.

![The Pareto front of a sweep, and the list of designs](../figures/report.png)

The report shows the limits, the cheapest design that meets them, and the limit that excludes cheaper designs.
It also shows the Pareto front, and the error against the number of bits of each signal. For the chosen
design it shows:

* the plan with its hash, and the spec with the `kerncast gen` command
* the number of bits that each signal uses, with headroom and saturations
* the error budget, the reflection coefficients and the learning curve
* the resource use on each target
* the number of values compared on each back end, if there are results, and the commands that write the report
  again

To choose a design, click its point or use the arrow keys in the list. All charts then show this design. Every
chart has a text description, and you can also view it as a table. Colours follow the system setting (dark or
light) or the switch at the top. The contrast of the text meets level AA of the WCAG (Web Content
Accessibility Guidelines).

| command | result |
|---|---|
| `kerncast report RUN` | a sweep; of at most {closer} designs of the front also words and curves |
| `kerncast report SPEC` | one design, run on the data of its spec |
| `kerncast report OUT` | one design, of a generated folder, run on its vectors |

`--results FILE` reads the JSON of `kerncast test`, `verify` or `demo`, and adds the number of values that
agreed on each back end. The report also reads the comparisons that `kerncast sweep --confirm` has stored in
the folder of the run.

All values come from the integer model, and every signal of the plan is shown. The histograms count all values
in the samples, in the predictions (with distances, kernel values and sums), in the final model and in
Levinson's recursion. For other intermediate values, the report shows only the known range, as a hatched bar.
Reflection coefficients are computed by Levinson's recursion in float64 from the first row of the integer
model.

Reports of the same run are identical byte for byte, because the file contains no dates and no local paths.
Text from a spec is always escaped. A content security policy allows only the scripts of the page itself,
which it identifies by their hashes.

The page also contains the cheapest design as a program. Drop a CSV file on **Run it on your data** to run the
generated C code, which zig has compiled to WebAssembly. The program computes the same values as the integer
model. To vary a design with sliders, see [exploring](explore.md).

For a sweep of {points:,} points, the file has {size:.2f} MB, of which plotly.js takes {plotly:.2f} MB.
Chromium shows the text after {text:.2f} s and the Pareto front after {early:.2f} s. At this time, you can
already use the list of designs. plotly.js loads next, and the chart is interactive after {drawn:.2f} s. The
scripts of the page run for {computing:.2f} s, of which loading plotly.js takes {alone:.2f} s. Each figure is
the best of {opened} runs at a load of {load:.0f} on {cores} cores. `python -m kerncast.benchmarks.report`
writes this page.
"""


def measured(folder: Path) -> dict[str, Any]:
    """Run the sweep, write and open the report, and take the screenshot."""
    from kerncast.lab.report.render import check_plotly
    from kerncast.lab.report.sweep import CLOSER

    settings = make_settings(shipped_spec("ecg"), folder, grid=GRID)
    page = gather_page(run_sweep(settings, folder / "ecg.sweep").folder)
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
    """Open a page; return a function that reads the CPU time of its main thread."""
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
    """Run all measurements, write the screenshot, and print the page."""
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(PAGE.format(**measured(Path(folder))))


if __name__ == "__main__":
    main()
