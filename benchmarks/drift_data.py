"""Write drift.csv and gas.csv: samples of a simulated ageing gas sensor.

``python -m kerncast.benchmarks.drift_data`` writes both files to examples. They contain the same samples:
drift.csv in ADC counts, gas.csv in physical units. The concentrations of successive samples are independent,
so that the previous sample contains no information. From the first to the last sample, the sensor loses 40 %
of its gain, and its zero point rises by 200 LSB of the 12-bit ADC. The gain rises by 0.6 % per degree. The
noise is 8 LSB.
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
    """Return the samples in ADC counts.

    The columns are the reading of the sensor (x0), the temperature in 1/40 degree (x1), and the concentration
    in 1/10 ppm (y).
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
    """Return the text of the CSV file in ADC counts."""
    return "x0,x1,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in words())


def text_in_units() -> str:
    """Return the text of the CSV file in physical units, as from a data logger."""
    return "reading_mV,temperature_C,reference_ppm\n" + "".join(
        f"{a},{b / 40:.1f},{y / 10:.1f}\n" for a, b, y in words())


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    IN_UNITS.write_text(text_in_units(), encoding="utf-8")
    sys.exit(0)
