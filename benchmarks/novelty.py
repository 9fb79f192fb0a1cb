"""Compare novelty by leverage with other detectors, and measure its cost.

``python -m kerncast.benchmarks.novelty`` writes docs/measured/novelty.md. It needs scikit-learn,
arm-none-eabi-gcc and unicorn.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..codegen.generate import generate
from ..hw.hil.board_backend import Tally, open_board
from ..sim._arrays import Array, Words
from ..sim.choices import LEVERAGE_FRAC
from ..sim.model.online.rls import RlsModel
from ..sim.plan import Plan
from ..sim.planner import make_plan
from ..sim.reference.online.kernel_rls import OnlineKernelRLS
from ..sim.spec import Spec

COMMAND = "python -m kerncast.benchmarks.novelty"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured" / "novelty.md"
FEATURES, RIDGE, FORGETTING = 100, 0.01, 0.9999
STEPS = (4, 8, 16, 32, 64)
#: ADC counts are 12 bits; the standardised columns of breast cancer are clipped to this range.
HALF, CLIP = 2047, 8.0
COSTS = ((36, 8), (100, 8))  # features and columns
SAMPLES = 24
VIBRATION, SEEDS = 36, 20
CHANGES = ("none", "frequency + 20 %", "amplitude + 50 %", "harmonic twice as strong")

TEXT = """# Novelty by leverage

`{command}` writes this page. Each detector learns samples of one class, without targets. It then scores other
samples, to decide whether they belong to this class. The area under the ROC curve (AUC) is 1 if every novel
sample has a higher score than every familiar sample, and 0.5 for random scores. The digits are `load_digits`
with 64 columns. Half of the samples of one digit are learned, and the figure is the mean over ten digits. The
breast cancer data are `load_breast_cancer` with 30 standardised columns. Half of the benign samples are
learned, and the figure is the mean over five draws. All detectors use the same samples in one run, with one
set of parameters: {features} random features, ridge {ridge}, forgetting {forgetting}, and the median distance
of the learned samples as sigma. The one-class SVM has the same kernel width. The integer model uses 16-bit
words and 12-bit samples. The generated C returns the same values.

{verdict}

| detector | digits | breast cancer |
|---|---:|---:|
{rows}

## A change of a machine

The signal is a vibration: a sine with one harmonic and noise. The detector learns windows of 8 samples
without targets ({vibration} features, forgetting 0.995, ridge {ridge}). The threshold is 1.5 times the
largest leverage of samples 500 to 1,000. The signal changes at sample 2,000. The delay is the number of
samples from the change to the first sample with the flag `novel`, and with the flag `drift`
(`drift_samples = 16`): the median and the maximum over {seeds} seeds. A false alarm is a run of samples
between 1,000 and 2,000 with the flag set.

| change | seen, of {seeds} | novel, median | largest | drift, median | false alarms, novel | drift |
|---|--:|--:|--:|--:|--:|--:|
{changes}

If only the relation between x and y changes, the leverage does not change. The prediction errors show such a
change.

## Cost

The table lists the instructions of one update on an emulated Cortex-M4 (mps2-an386), compiled by {compiler}.
The counts cover {samples} samples of 8 columns, with `novelty_steps = 16`. All values from the board equal
the values of the integer model. `library` is the flash size of the generated library, and `model` is the size
of its structure in RAM.

| features | novelty | update, mean | worst seen | library, bytes | model, bytes |
|--:|---|--:|--:|--:|--:|
{costs}
"""


class Task(NamedTuple):
    """Training samples, samples to score, and a mask of the novel ones."""

    name: str
    learned: Array
    scored: Array
    novel: Array


def tasks() -> Iterator[Task]:
    """Yield the tasks; all columns are in units of ADC counts."""
    from sklearn.datasets import load_breast_cancer, load_digits

    digits, cancer = load_digits(), load_breast_cancer()
    pixels = np.rint((digits.data - 8) * 200)
    for digit in range(10):
        learned = _half(digits.target == digit, digit)
        yield Task("digits", pixels[learned], pixels[~learned], digits.target[~learned] != digit)
    for draw in range(5):
        learned = _half(cancer.target == 1, draw)
        spread = (cancer.data - cancer.data[learned].mean(0)) / cancer.data[learned].std(0)
        counts = np.rint(np.clip(spread, -CLIP, CLIP) * (HALF / CLIP))
        yield Task("cancer", counts[learned], counts[~learned], cancer.target[~learned] == 0)


def _half(members: Array, seed: int) -> Array:
    """Return a mask of a random half of the members."""
    chosen = np.random.default_rng(seed).permutation(np.flatnonzero(members))[:members.sum() // 2]
    mask = np.zeros(len(members), dtype=bool)
    mask[chosen] = True
    return mask


def plan_of(columns: int, sigma: float, features: int = FEATURES, **rls: Any) -> Plan:
    """Return the plan of a detector with 12-bit inputs."""
    return make_plan(Spec(
        model={"name": "novelty", "algorithm": "online_kernel_rls"}, kernel={"sigma": sigma},
        input={"word": "s12f0", "columns": columns}, output={"word": "s12f0"},
        rls={"features": features, "novelty": 1.0} | rls))


def spread_of(x: Array) -> float:
    """Return the median distance of the samples."""
    squares = (x * x).sum(1)
    d2 = squares[:, None] + squares - 2 * x @ x.T
    return float(np.median(np.sqrt(np.maximum(d2[np.triu_indices(len(x), 1)], 0))))


def scores(task: Task) -> dict[str, Array]:
    """Return the score of each detector for the samples to score."""
    from sklearn.covariance import LedoitWolf
    from sklearn.ensemble import IsolationForest
    from sklearn.svm import OneClassSVM

    sigma, columns = spread_of(task.learned), task.learned.shape[1]
    svm = OneClassSVM(gamma=1 / (2 * sigma**2), nu=0.1).fit(task.learned)
    found = {"OneClassSVM, nu = 0.1": -svm.decision_function(task.scored),
             "Mahalanobis distance, LedoitWolf": LedoitWolf().fit(task.learned).mahalanobis(task.scored),
             "IsolationForest": -IsolationForest(random_state=0).fit(task.learned).score_samples(task.scored)}
    x, z = (part.astype(np.int64) for part in (task.learned, task.scored))
    for linear in (True, False):
        name = "leverage" if linear else "leverage, linear = false"
        exact = OnlineKernelRLS(columns, sigma, FEATURES, FORGETTING, RIDGE, linear, steps=1)
        exact.learn(task.learned, np.zeros(len(x)))
        found[f"{name}, float64, exact"] = exact.leverage(task.scored)
        for steps in STEPS:
            model = RlsModel(plan_of(columns, sigma, ridge=RIDGE, forgetting=FORGETTING, linear=linear,
                                     novelty_steps=steps))
            model.update(x, np.zeros(len(x), dtype=np.int64))
            found[f"{name}, words, novelty_steps = {steps}"] = model.leverage(z)["leverage"]
    return found


def areas() -> dict[str, dict[str, float]]:
    """Return the mean AUC by detector and data."""
    from sklearn.metrics import roc_auc_score

    found: dict[str, dict[str, list[float]]] = {}
    for task in tasks():
        for name, score in scores(task).items():
            found.setdefault(name, {}).setdefault(task.name, []).append(roc_auc_score(task.novel, score))
    return {name: {data: float(np.mean(each)) for data, each in of.items()} for name, of in found.items()}


def vibration(change: str, seed: int) -> Words:
    """Return windows of a vibration that changes at sample 2,000."""
    rng, t = np.random.default_rng(seed), np.arange(2500)
    after = t >= 2000
    frequency = np.where(after & (change == "frequency + 20 %"), 0.06, 0.05)
    phase = 2 * np.pi * np.cumsum(frequency) + rng.uniform(0, 6)
    harmonic = np.where(after & (change == "harmonic twice as strong"), 0.8, 0.4)
    signal = np.sin(phase) + harmonic * np.sin(2 * phase + 1) + rng.normal(0, 0.05, len(t))
    signal *= np.where(after & (change == "amplitude + 50 %"), 1.5, 1.0)
    return np.lib.stride_tricks.sliding_window_view(np.rint(500 * signal).astype(np.int64), 8)


def flags(change: str, seed: int) -> Words:
    """Return leverage, novel and drift of the samples of a vibration, shape (m, 3)."""
    x, threshold = vibration(change, seed), 1.0
    for _ in range(2):  # the first run finds the threshold
        model = RlsModel(plan_of(8, spread_of(x[:1000].astype(float)), VIBRATION, forgetting=0.995,
                                 ridge=RIDGE, novelty=threshold))
        model.update(x, np.zeros(len(x), dtype=np.int64))
        threshold = 1.5 * float(model.novelty[500:1000, 0].max()) / 2**LEVERAGE_FRAC
    return model.novelty


def changes() -> str:
    """Return the rows of the table of changes."""
    rows = []
    for change in CHANGES:
        runs = [flags(change, seed) for seed in range(SEEDS)]
        at = 2000 - 7  # the first window with a new value
        delays = [[np.argmax(run[at:, k]) if run[at:, k].any() else np.inf for run in runs] for k in (1, 2)]
        alarms = [sum(int((np.diff(run[1000:at, k]) > 0).sum()) for run in runs) for k in (1, 2)]
        novel, drift = np.array(delays)
        rows.append(f"| {change} | {np.isfinite(novel).sum()} | {_delay(np.median(novel))} | "
                    f"{_delay(novel.max())} | {_delay(np.median(drift))} | {alarms[0]} | {alarms[1]} |")
    return "\n".join(rows)


def _delay(samples: float) -> str:
    """Return a delay as text."""
    return f"{samples:.0f}" if np.isfinite(samples) else "not seen"


def costs(features: int, columns: int, steps: int) -> tuple[str, object]:
    """Return the row of the cost of an update, and the compiler; check all values."""
    rls: dict[str, Any] = {"novelty_steps": steps} if steps else {"novelty": None}
    plan = plan_of(columns, 2000.0, features, **rls)
    x = np.random.default_rng(1).integers(-1500, 1500, (4 * features + SAMPLES, columns))
    y = np.clip(np.sin(x / 600).sum(1) * 500, -2048, 2047).astype(np.int64)
    model, counts = RlsModel(plan), []
    with tempfile.TemporaryDirectory() as folder:
        generate(plan, Path(folder) / "c", "cortex-m4")
        board = open_board(Path(folder) / "c", "emu:mps2-an386:unicorn:gcc", plan=plan,
                           build_dir=Path(folder) / "b")
        try:
            for m in (slice(0, 4 * features), *(slice(i, i + 1) for i in range(4 * features, len(x)))):
                board.tallies["update"] = Tally()
                _same(model.update(x[m], y[m]), board.update(x[m], y[m]))
                _same(model.state(), board.state())
                counts.append(board.tallies["update"].units)
            measured = board.costs()
        finally:
            board.close()
    each: Words = np.array(counts[1:])
    return (f"| {features} | {'yes' if steps else 'no'} | {each.mean():,.0f} | {each.max():,} | "
            f"{measured['library']:,} | {plan.state_bytes:,} |"), measured["compiler"]


def _same(expected: dict[str, Words], found: dict[str, Words]) -> None:
    for name, words in expected.items():
        if not np.array_equal(found[name], words):
            raise SystemExit(f"the board and the model differ in {name}")


def verdict(found: dict[str, dict[str, float]]) -> str:
    """Return a sentence of conclusion."""
    ours, svm = found["leverage, words, novelty_steps = 16"], found["OneClassSVM, nu = 0.1"]
    words = [f"{'above' if ours[data] > svm[data] else 'below'} the one-class SVM on {text}"
             for data, text in (("digits", "the digits"), ("cancer", "breast cancer"))]
    return f"With the default of 16 steps, the AUC of the leverage in integers is {words[0]} and {words[1]}."


def main() -> None:
    """Measure everything and write the page."""
    found = areas()
    rows = [f"| {name} | {of['digits']:.3f} | {of['cancer']:.3f} |" for name, of in found.items()]
    print("\n".join(rows), flush=True)
    change = changes()
    print(change, flush=True)
    cost = [costs(features, columns, steps) for features, columns in COSTS for steps in (0, 16)]
    PAGE.write_text(TEXT.format(command=COMMAND, features=FEATURES, ridge=RIDGE, forgetting=FORGETTING,
                                verdict=verdict(found), vibration=VIBRATION, seeds=SEEDS,
                                rows="\n".join(rows), changes=change, compiler=cost[0][1], samples=SAMPLES,
                                costs="\n".join(row for row, _ in cost)), encoding="utf-8")
    print("\n".join(row for row, _ in cost))


if __name__ == "__main__":
    main()
