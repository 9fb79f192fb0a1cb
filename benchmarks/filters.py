"""Compare the denoised ECG of the examples with plain filters.

``python -m kerncast.benchmarks.filters`` writes docs/measured/filters.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import savgol_filter

from ..lab.workflow import shipped_spec
from ..sim.data import load_dataset
from ..sim.diagnostics.simulate import simulate
from ..sim.planner import make_plan

PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured" / "filters.md"
COMMAND = "python -m kerncast.benchmarks.filters"
#: Window lengths and orders that are tried.
TAPS, ORDERS = range(5, 32, 2), range(2, 7)

TEXT = """# Filters on the ECG of the examples

The table lists RMS (root mean square) errors over {n} samples of an ECG with known noise. Errors are
differences from the clean signal, in the units of `examples/ecg.toml`. {verdict}

| method | RMS error | multiplications per sample |
|---|--:|--:|
{rows}

* For each tuned filter, the best of {tried} combinations of window and order was chosen by comparison with
  the clean signal. This favours the filters, because the clean signal is not available on a device.
* kerncast uses sigma = {sigma:g} and lambda = {lam:g} of the example. Away from the edges, its prediction is
  also a fixed linear combination of the samples. For a fixed sigma and lambda, this trainer is therefore a
  linear filter.
* For kerncast, the table lists the multiplications of one prediction from {n} coefficients, without training.

`{command}` writes this page.
"""


class Row(NamedTuple):
    """Method with its error, and its number of multiplications per sample."""

    method: str
    error: float
    cost: int


def rows(noisy: NDArray[np.float64], clean: NDArray[np.float64]) -> Iterator[Row]:
    """Yield a row for each filter.

    The filters are none, moving averages, and Savitzky-Golay filters with usual and tuned parameters.
    """
    def error(found: NDArray[np.float64]) -> float:
        return float(np.sqrt(np.mean((found - clean) ** 2)))

    yield Row("no filter", error(noisy), 0)
    averages = {taps: error(savgol_filter(noisy, taps, 0)) for taps in range(3, 16, 2)}
    best = min(averages, key=averages.__getitem__)
    yield Row(f"moving average, tuned: {best} taps", averages[best], best)
    yield Row("Savitzky-Golay, 9 taps, order 2", error(savgol_filter(noisy, 9, 2)), 9)
    tried = {(taps, order): error(savgol_filter(noisy, taps, order))
             for taps in TAPS for order in ORDERS if order < taps}
    taps, order = min(tried, key=tried.__getitem__)
    yield Row(f"Savitzky-Golay, tuned: {taps} taps, order {order}", tried[taps, order], taps)


def page() -> str:
    """Run all measurements, and return the page."""
    spec = shipped_spec("ecg")
    data, plan = load_dataset(spec), make_plan(spec)
    assert spec.toeplitz is not None and spec.kernel.sigma is not None and data.clean is not None
    found = simulate(plan, None, data.y_raw)
    noisy = spec.output.gain * (data.y_raw - spec.output.offset)
    every = [*rows(noisy, data.clean)]
    for name, f in ((f"kerncast, {plan.word}-bit integers", found.f), ("kerncast, float64", found.f_float)):
        every.append(Row(name, float(np.sqrt(np.mean((f - data.clean) ** 2))), spec.toeplitz.n))
    ours, best = every[-2], every[-3]
    loss = 100 * (best.error / ours.error - 1)
    verdict = ("The tuned Savitzky-Golay filter is at least as accurate as kerncast, and it needs no "
               "training." if loss <= 0 else "The error of the tuned Savitzky-Golay filter exceeds that of "
               f"kerncast by {loss:.1f} %, and the filter needs no training.")
    table = "\n".join(f"| {row.method} | {row.error:.3f} | {row.cost:,} |" for row in every)
    tried = sum(order < taps for taps in TAPS for order in ORDERS)
    return TEXT.format(n=spec.toeplitz.n, verdict=verdict, rows=table, tried=tried, sigma=spec.kernel.sigma,
                       lam=spec.toeplitz.lam, command=COMMAND)


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
