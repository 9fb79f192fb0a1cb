"""Recover symbols behind a nonlinear channel.

    python equaliser.py

It writes the C to build/equaliser.
"""

from pathlib import Path

import numpy as np

import kerncast

HERE = Path(__file__).resolve().parent

spec = kerncast.Spec.load(HERE / "equaliser.toml")
data = kerncast.load_dataset(spec)
plan = kerncast.plan(spec, data.x_raw, data.y_raw)
result = kerncast.simulate(plan, data.x_raw, data.y_raw, data.x_test_raw)

# The baseline is a linear filter of the same five samples, by least squares.
X, T = (np.column_stack([x, np.ones(len(x))]) for x in (data.x_raw, data.x_test_raw))
linear = T @ np.linalg.lstsq(X, data.y_raw, rcond=None)[0]

for name, f in (("linear filter", linear), ("float64", result.f_float),
                (f"{plan.word}-bit integers", result.f)):
    wrong = int(((f > 0) != (data.y_test_raw > 0)).sum())
    print(f"{name:16} {wrong} of {len(f)} symbols wrong")
print(f"status {result.status}; {plan.state_bytes} bytes of RAM for {plan.sizes['N']} windows stored")

kerncast.generate(plan, "build/equaliser", spec.target.id, spec=spec)
