"""Measure the accuracy gain and the cost of self-tuning on noisy ECGs.

``python -m kerncast.benchmarks.tuning`` writes docs/measured/tuning.md. All trainings run in the generated C
on the host, which is bit-exact with the integer model. Instructions are counted on an emulated Cortex-M4.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kerncast.benchmarks.instructions import LEVELS
from kerncast.benchmarks.trainer_counts import count
from kerncast.hw.backends import open_backend
from kerncast.lab.workflow import shipped_spec
from kerncast.sim._arrays import Array, Words
from kerncast.sim.candidates import candidate_pairs
from kerncast.sim.data import load_dataset
from kerncast.sim.diagnostics.simulate import y_values
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "measured" / "tuning.md"
Pairs = list[tuple[float, float]]
#: Values of sigma and of lambda of each list of pairs: every sigma with every lambda.
LISTS = (((3.0,), (0.01, 0.1, 1.0)), ((2.0, 3.0, 5.0), (0.01, 0.1, 1.0)))
#: Standard deviations of the noise, in units of the recording, and realisations at each.
NOISE, REALISATIONS = (2.5, 5.0, 10.0, 20.0, 40.0), 100

HEAD = """# Self-tuning

`python -m kerncast.benchmarks.tuning` writes this page.

`[toeplitz] candidates` lists pairs of sigma and lambda, and each training run chooses one pair by its
evidence. This page uses two lists: three values of lambda with one sigma, for a signal whose noise level
changes, and the same values with three values of sigma, if its bandwidth may change, too.

## What it gains

The signal is the ECG of `examples/ecg.toml`. Noise is added at five levels (standard deviations), with
{realisations} realisations of each. Each figure is the mean RMS error of the fitted values relative to the
clean signal, in the units of the recording. All training runs use 16-bit integers in the generated C.

A fixed pair has the smallest mean error over all five levels, on {realisations} other realisations of
each. To find the best pair for a noise level, you need the clean signal, which is not available on a device.
The evidence does not know it either. With more pairs, it therefore sometimes chooses a pair that is not the
best one.
"""

GAINS = """
The {count} pairs with sigma = {sigmas} and lambda = {lambdas}.
The fixed pair is sigma = {sigma:g} and lambda = {lam:g}:

| noise | fixed pair | chosen by evidence | difference | best pair of the level | chosen most often |
| --: | --: | --: | --: | --: | --- |
"""

COST = """
## What it costs

The counts cover one call of `bench_train`, including the certified bound on the error of alpha, for n = 256
and 16 bits on a Cortex-M4 (-O2, in the Unicorn emulator). To compute the evidence of all pairs, only the
forward recursion of each pair is needed. In the worst case, no pair meets the tolerance, and every pair is
trained. The columns `relative` compare the tuned run and this worst case with training runs of one pair each,
whose sum is in the column `trainings`. The results equal the results of the integer model. `tables` is the
size of the tables in flash, in bytes.

| pairs | level | one pair, mean | trainings | tuned | relative | none certified | relative | tables |
| --: | --- | --: | --: | --: | --: | --: | --: | --: |
"""


def spec_of(pairs: Pairs, more: dict[str, object] | None = None) -> Spec:
    """Return the spec of the example with hyperparameter pairs and the banded solver."""
    spec = shipped_spec("ecg")
    values = spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    (sigma, lam), rest = pairs[0], [list(pair) for pair in pairs[1:]]
    values["model"]["name"] = "bench"
    values["kernel"]["sigma"] = sigma
    values["toeplitz"] |= {"lambda": lam, "solver": "banded", **(more or {})}
    values["toeplitz"] |= {"candidates": rest} if rest else {}
    return Spec(**values)


def noisy(clean: Array, plan: Plan, seed: int) -> Words:
    """Return the noisy signal in ADC counts, shape (levels, realisations, n)."""
    rng, lsb = np.random.default_rng(seed), 0.2
    y = clean + np.array(NOISE)[:, None, None] * rng.standard_normal((len(NOISE), REALISATIONS, len(clean)))
    raw = plan.signals["y_raw"].format
    counts = np.rint(y / lsb) + plan.integer("y_offset")
    return np.clip(counts, raw.lo, raw.hi).astype(np.int64)


def errors(plan: Plan, clean: Array, y_raw: Words) -> tuple[Array, Words]:
    """Return RMS errors and indices of the selected pairs, (levels, realisations)."""
    backend = open_backend(plan, "host")
    found, chosen = np.zeros(y_raw.shape[:2]), np.zeros(y_raw.shape[:2], dtype=np.int64)
    for place in np.ndindex(found.shape):
        assert backend.train(None, y_raw[place])["status"][0] == DeviceStatus.OK
        f = y_values(plan, backend.fitted()["f"])  # type: ignore[attr-defined]
        found[place] = np.sqrt(np.mean((f - clean) ** 2))
        chosen[place] = backend.state()["candidate"][0] if plan.tunes else 0
    backend.close()
    return found, chosen


def gains(clean: Array, pairs: Pairs) -> tuple[list[str], tuple[float, float]]:
    """Return the rows on accuracy, and the best fixed pair."""
    tuned = make_plan(spec_of(pairs))
    alone = [make_plan(spec_of([pair])) for pair in pairs]
    others, data = noisy(clean, tuned, 1), noisy(clean, tuned, 2)
    fixed = int(np.argmin([errors(plan, clean, others)[0].mean() for plan in alone]))
    each = np.stack([errors(plan, clean, data)[0].mean(axis=1) for plan in alone])
    found, chosen = errors(tuned, clean, data)
    rows = []
    for level, sd in enumerate(NOISE):
        most = int(np.bincount(chosen[level], minlength=len(pairs)).argmax())
        best = int(each[:, level].argmin())
        rows.append(_row(f"{sd:g}", each[fixed, level], found[level].mean(), each[best, level], pairs[most]))
    mean = each[fixed].mean(), found.mean(), each.min(axis=0).mean()
    return [*rows, _row("mean", *mean, None)], pairs[fixed]


def _row(noise: str, fixed: float, chosen: float, best: float, most: tuple[float, float] | None) -> str:
    pair = "" if most is None else f"sigma {most[0]:g}, lambda {most[1]:g}"
    change = f"{100 * (chosen / fixed - 1) + 0.0:.1f} %"
    return f"| {noise} | {fixed:.3f} | {chosen:.3f} | {change} | {best:.3f} | {pair} |"


def costs(pairs: Pairs) -> list[str]:
    """Return the rows on costs."""
    def planned(given: Pairs, **more: object) -> Plan:
        values = spec_of(given, more).model_dump(mode="json", by_alias=True, exclude_none=True)
        return make_plan(Spec(**values | {"output": {"word": "s16f0"}, "data": None}))

    tuned, strict = planned(pairs), planned(pairs, tolerance=1e-6)
    assert len(candidate_pairs(tuned)) == len(pairs)
    tables = sum(t.bytes for name, t in tuned.tables.items() if not name.startswith("exp2"))
    rows = []
    for name, level in LEVELS:
        single = sum(count(planned([pair]), level) for pair in pairs)
        one, none = count(tuned, level), count(strict, level)
        rows.append(f"| {len(pairs)} | {name} | {single / len(pairs):,.0f} | {single:,} | {one:,} | "
                    f"{one / single:.2f} | {none:,} | {none / single:.2f} | {tables:,} |")
    return rows


def main() -> None:
    """Run all measurements, and write the page."""
    clean = load_dataset(shipped_spec("ecg"), ROOT / "examples").clean
    assert clean is not None
    text, rows = HEAD.format(realisations=REALISATIONS), []
    for sigmas, lambdas in LISTS:
        pairs = [(sigma, lam) for sigma in sigmas for lam in lambdas]
        found, (sigma, lam) = gains(clean, pairs)
        names = {name: ", ".join(f"{value:g}" for value in values)
                 for name, values in (("sigmas", sigmas), ("lambdas", lambdas))}
        text += GAINS.format(count=len(pairs), sigma=sigma, lam=lam, **names) + "\n".join(found) + "\n"
        rows += costs(pairs)
    PAGE.write_text(text + COST + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
