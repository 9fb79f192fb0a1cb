"""Compare continuous learning on a drifting sensor with a one-time calibration.

    python drift.py

Both use the integer model, which computes exactly what the device computes. The generated C learns the same
samples here, and every value is compared.
"""

from pathlib import Path

import numpy as np

import kerncast
from kerncast.sim.diagnostics.simulate import y_values

HERE = Path(__file__).resolve().parent
ONCE = 1000  # samples of the one-time calibration
PPM = 0.1  # per step of y

spec = kerncast.Spec.load(HERE / "drift.toml")
data = kerncast.load_dataset(spec, HERE)
plan = kerncast.plan(spec, data.x_raw, data.y_raw)


def error(f: np.ndarray, at: slice) -> float:
    """Return the root mean square error in ppm of predicted values."""
    y = spec.output.gain * (data.y_raw[at] - spec.output.offset)
    return PPM / spec.output.gain * float(np.sqrt(np.mean((y_values(plan, f[at]) - y) ** 2)))


learner, calibrated = kerncast.open_backend(plan, "model"), kerncast.open_backend(plan, "model")
learned = learner.update(data.x_raw, data.y_raw)  # f is the prediction before the sample is learned
calibrated.update(data.x_raw[:ONCE], data.y_raw[:ONCE])
fixed = calibrated.predict(data.x_raw)

print("samples      learning   one-time calibration")
for first in range(ONCE, len(data.y_raw), 1000):
    at = slice(first, first + 1000)
    print(f"{first}-{at.stop}  {error(learned['f'], at):5.1f} ppm  {error(fixed['f'], at):5.1f} ppm")

compiled = kerncast.open_backend(plan, "host")
same = compiled.update(data.x_raw, data.y_raw)
print(f"{len(same['f'])} predictions of the generated C, {int((same['f'] != learned['f']).sum())} mismatches")
compiled.close()
