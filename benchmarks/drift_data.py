"""Write drift.csv and gas.csv: a synthetic ageing gas sensor with a reference.

``python -m kerncast.benchmarks.drift_data`` writes both into examples. They have the same samples: drift.csv
in ADC counts, gas.csv in units. The concentration of each sample is independent, so that the previous sample
contains no information. From the first to the last sample, the sensor loses 40 % of its gain, and its zero
rises by 200 LSB of its 12-bit converter. The gain rises by 0.6 % per degree; the noise is 8 LSB.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).resolve().parent.parent / "examples" / "drift.csv"
IN_UNITS = FILE.with_name("gas.csv")
SAMPLES, DAY = 4000, 1440


def words(seed: int = 1) -> NDArray[np.int64]:
    """Return three ADC counts: the reading, the temperature, and the concentration.

    x0 is the reading, x1 the temperature in 1/40 degree, y the concentration in 1/10 ppm.
    """
    random = np.random.default_rng(seed)
    aged = np.arange(SAMPLES) / SAMPLES
    ppm = random.uniform(5, 95, SAMPLES)
    degrees = 25 + 10 * np.sin(2 * np.pi * np.arange(SAMPLES) / DAY) + random.normal(0, 0.3, SAMPLES)
    reading = (300 + 200 * aged + 2800 * (1 - 0.4 * aged) * (ppm / 100) ** 0.8 * (1 + 0.006 * (degrees - 25))
               + random.normal(0, 8, SAMPLES))
    columns = np.column_stack([np.clip(reading, 0, 4095), 40 * degrees, 10 * ppm])
    return np.rint(columns).astype(np.int64)


def text() -> str:
    """Return the CSV file's text, in ADC counts."""
    return "x0,x1,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in words())


def text_in_units() -> str:
    """Return the same samples in units, as a data logger writes them."""
    return "reading_mV,temperature_C,reference_ppm\n" + "".join(
        f"{a},{b / 40:.1f},{y / 10:.1f}\n" for a, b, y in words())


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    IN_UNITS.write_text(text_in_units(), encoding="utf-8")
    sys.exit(0)
