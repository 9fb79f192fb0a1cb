"""Handwritten digits, 3 or 8, told apart by a learner that sees one at a time.

    python digits.py

writes build/digits, the C.
"""

from pathlib import Path

import numpy as np

import kerncast

HERE = Path(__file__).resolve().parent

spec = kerncast.Spec.load(HERE / "digits.toml")
data = kerncast.load_dataset(spec)
plan = kerncast.plan(spec, data.x_raw, data.y_raw)
result = kerncast.simulate(plan, data.x_raw, data.y_raw, data.x_test_raw)

for what, f in (("float64", result.f_float), (f"{plan.word}-bit integers", result.f)):
    right = int((np.sign(f) == data.y_test_raw).sum())
    print(f"{what:16} {right} of {len(f)} digits right")
print(f"status {result.status}; {plan.state_bytes} bytes of RAM for {plan.sizes['N']} digits held")

kerncast.generate(plan, "build/digits", spec.target.id, spec=spec)
