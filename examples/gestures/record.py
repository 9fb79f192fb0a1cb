"""Write recordings of three gestures, as a reader of this tutorial would record them.

    pip install --no-deps aeon==1.6.0
    python record.py

The recordings are the data set PickupGestureWiimoteZ of the package aeon: readings of one axis of an
accelerometer. The script writes gestures.toml, gestures.csv and gestures_test.csv to the current folder.
"""

import shutil
from importlib import util
from pathlib import Path

import numpy as np

from kerncast.sim.data.windows import tapped

HERE = Path(__file__).resolve().parent
INSTALL = "pip install --no-deps aeon==1.6.0"
NAME = "PickupGestureWiimoteZ"
CLASSES = ("pick up", "shake", "move right")  # the first three of its ten
STEP = 26  # ADC counts per g
DELAY = 16  # samples of the delay line
READINGS = 16  # readings per sample


def recordings(part: str) -> tuple[list[np.ndarray], list[int]]:
    """Return the readings of each gesture as ADC counts, and its label.

    `part` is TRAIN or TEST, as the authors of the data set split it.
    """
    package = util.find_spec("aeon")
    if package is None or package.origin is None:
        raise SystemExit(f"{NAME} is in the package aeon, which is not installed: {INSTALL}")
    file = Path(package.origin).parent / "datasets" / "data" / NAME / f"{NAME}_{part}.ts"
    rows = file.read_text(encoding="utf-8").partition("@data\n")[2].split()
    chosen = [row.split(":") for row in rows if int(row.split(":")[1]) <= len(CLASSES)]
    readings = [np.rint(STEP * np.array(cells.split(","), dtype=float)).astype(int) for cells, _ in chosen]
    return readings, [int(label) - 1 for _, label in chosen]


def window(readings: np.ndarray) -> np.ndarray:
    """Return what the delay line holds after a gesture, the latest sample first, as main.c fills it."""
    since_rest = np.concatenate([np.full(DELAY * READINGS, STEP), readings])
    return tapped(since_rest[:, None], DELAY, READINGS)[-1]


def main() -> None:
    """Write the spec and both tables."""
    shutil.copyfile(HERE / "gestures.toml", "gestures.toml")
    for file, part in (("gestures.csv", "TRAIN"), ("gestures_test.csv", "TEST")):
        rows = [[f"x{i}" for i in range(DELAY)] + ["y"]]
        rows += [[*map(str, window(readings)), CLASSES[label]]
                 for readings, label in zip(*recordings(part), strict=True)]
        Path(file).write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
        print(f"{file}: {len(rows) - 1} gestures of {len(CLASSES)} classes")


if __name__ == "__main__":
    main()
