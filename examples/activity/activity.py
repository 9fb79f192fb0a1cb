"""Learn four activities from the accelerometer and the gyroscope of a smart watch.

    pip install --no-deps aeon==1.6.0
    python activity.py

The recordings are the data set BasicMotions of the package aeon. The script writes the spec activity.toml
and the features activity.csv and activity_test.csv to the current folder, and the C to build/activity.
window.c computes the same features on the device.
"""

from importlib import util
from math import isqrt
from pathlib import Path

import numpy as np

import kerncast

INSTALL = "pip install --no-deps aeon==1.6.0"
CLASSES = ("Standing", "Walking", "Running", "Badminton")
COUNTS = 50  # ADC counts per unit of the recordings, which fills 12 bits
STEP = 8  # ADC counts per step of a feature, which then fits one byte

SPEC = """\
# Four activities, learned on the device from windows of ten seconds; activity.py writes this file.

[model]
name = "activity"
algorithm = "kernel_lms"

[input]                       # mean, deviation and mean absolute difference of six channels
word = "s8f0"
columns = 18

[output]
classes = ["Standing", "Walking", "Running", "Badminton"]

[kernel]
sigma = 16.0                  # in steps of a feature

[online]
budget = 16                   # dictionary size
eta = 0.8                     # learning rate
quantise = 0.5                # update the nearest center if its kernel value is at least this
reduction = "nt"              # evicts the center with the smallest coefficients

[numbers]
word = 16

[target]
id = "cortex-m4"

[data]
file = "activity.csv"
test = "activity_test.csv"
"""


def series(name: str, part: str) -> tuple[list[list[np.ndarray]], list[str]]:
    """Return the channels of each recording of a data set in aeon, and its class.

    `part` is TRAIN or TEST, as the authors of the data set split it.
    """
    package = util.find_spec("aeon")
    if package is None or package.origin is None:
        raise SystemExit(f"{name} is in the package aeon, which is not installed: {INSTALL}")
    file = Path(package.origin).parent / "datasets" / "data" / name / f"{name}_{part}.ts"
    _, _, rows = file.read_text(encoding="utf-8").partition("@data\n")
    cells = [row.split(":") for row in rows.splitlines() if row]
    return ([[np.array(channel.split(","), dtype=float) for channel in row[:-1]] for row in cells],
            [row[-1] for row in cells])


def readings(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the readings of each window as ADC counts, shape (40, 6, 100), and its label."""
    recordings, names = series("BasicMotions", part)
    counts = np.clip(np.rint(COUNTS * np.array(recordings)), -2048, 2047).astype(np.int64)
    labels = np.array([CLASSES.index(name) for name in names])
    in_turn = np.argsort(np.arange(len(labels)) % 10, kind="stable")  # a window of each class in turn
    return counts[in_turn], labels[in_turn]


def features(window: np.ndarray) -> np.ndarray:
    """Return the 18 features of a window, computed with integers as window.c does."""
    n = window.shape[1]
    found = []
    for channel in window:
        total, changes = int(channel.sum()), int(np.abs(np.diff(channel)).sum())
        deviation = isqrt(n * int((channel**2).sum()) - total**2)
        mean = abs(total) // (n * STEP) * (1 if total >= 0 else -1)
        found += [mean, deviation // (n * STEP), changes // ((n - 1) * STEP)]
    return np.clip(found, -128, 127)


def samples(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of each window, shape (40, 18), and its label."""
    windows, labels = readings(part)
    return np.array([features(window) for window in windows]), labels


def main() -> None:
    """Write the spec and its data, learn, and print the accuracy."""
    for file, part in (("activity.csv", "TRAIN"), ("activity_test.csv", "TEST")):
        rows = [[f"x{i}" for i in range(18)] + ["y"]]
        rows += [[*map(str, x), CLASSES[label]] for x, label in zip(*samples(part), strict=True)]
        Path(file).write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    Path("activity.toml").write_text(SPEC, encoding="utf-8")

    spec = kerncast.Spec.load("activity.toml")
    data = kerncast.load_dataset(spec, ".")
    plan = kerncast.plan(spec, data.x_raw, data.y_raw)
    learner, compiled = kerncast.open_backend(plan, "model"), kerncast.open_backend(plan, "host")
    for backend in (learner, compiled):
        backend.update(data.x_raw, data.y_raw)
    labels = learner.predict(data.x_test_raw)["label"]
    same = int((compiled.predict(data.x_test_raw)["label"] == labels).sum())
    compiled.close()

    print(f"{len(data.y_raw)} windows learned, {plan.sizes['N']} stored, {plan.state_bytes} bytes of RAM")
    print(f"correct: {int((labels == data.y_test_raw).sum())} of {len(labels)} other windows")
    print(f"same label in the generated C: {same} of {len(labels)}")
    kerncast.generate(plan, "build/activity", spec.target.id, spec=spec)


if __name__ == "__main__":
    main()
