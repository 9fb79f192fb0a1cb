"""Denoise a heartbeat with a model that trains on the device.

    python ecg.py

It writes the C to build/ecg.
"""

from pathlib import Path

import numpy as np

import kerncast

HERE = Path(__file__).resolve().parent

spec = kerncast.Spec.load(HERE / "ecg.toml")
data = kerncast.load_dataset(spec)
plan = kerncast.plan(spec)
result = kerncast.simulate(plan, None, data.y_raw)
noisy = spec.output.gain * (data.y_raw - spec.output.offset)

for name, signal in (("samples", noisy), ("float64", result.f_float),
                     (f"{plan.word}-bit integers", result.f)):
    print(f"{name:16} {np.sqrt(np.mean((signal - data.clean) ** 2)):.3f} RMS error against the clean signal")
print(f"status {result.status}; {plan.state_bytes} bytes of RAM for {plan.sizes['n']} samples")

kerncast.generate(plan, "build/ecg", spec.target.id, spec=spec)
