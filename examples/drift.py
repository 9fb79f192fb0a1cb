"""A sensor that drifts: learning goes on beside a calibration that was made once and left.

    python drift.py

Both are the integer model, which is the device word for word; generated C learns the same here, and every
word of it is compared.
"""

from pathlib import Path

import numpy as np

import kerncast
from kerncast.sim.diagnostics.simulate import y_values

HERE = Path(__file__).resolve().parent
ONCE = 1000  # samples of the calibration that is made once
PPM = 0.1  # of a step of y

spec = kerncast.Spec.load(HERE / "drift.toml")
data = kerncast.load_dataset(spec, HERE)
plan = kerncast.plan(spec, data.x_raw, data.y_raw)


def error(f: np.ndarray, at: slice) -> float:
    """Root mean square error in ppm of predicted words of the plan."""
    y = spec.output.gain * (data.y_raw[at] - spec.output.offset)
    return PPM / spec.output.gain * float(np.sqrt(np.mean((y_values(plan, f[at]) - y) ** 2)))


going_on, made_once = kerncast.open_backend(plan, "model"), kerncast.open_backend(plan, "model")
learned = going_on.update(data.x_raw, data.y_raw)  # f is the prediction before the sample is learned
made_once.update(data.x_raw[:ONCE], data.y_raw[:ONCE])
left = made_once.predict(data.x_raw)

print("samples      going on   calibrated once")
for first in range(ONCE, len(data.y_raw), 1000):
    at = slice(first, first + 1000)
    print(f"{first}-{at.stop}  {error(learned['f'], at):5.1f} ppm  {error(left['f'], at):5.1f} ppm")

compiled = kerncast.open_backend(plan, "host")
same = compiled.update(data.x_raw, data.y_raw)
print(f"{len(same['f'])} predictions of the generated C, {int((same['f'] != learned['f']).sum())} unequal")
compiled.close()
