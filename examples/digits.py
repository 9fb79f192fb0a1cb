"""Classify the handwritten digits 3 and 8 with an online learner.

    python digits.py

It writes the C to build/digits.
"""

from pathlib import Path

import kerncast

HERE = Path(__file__).resolve().parent

spec = kerncast.Spec.load(HERE / "digits.toml")
data = kerncast.load_dataset(spec)
plan = kerncast.plan(spec, data.x_raw, data.y_raw)
result = kerncast.simulate(plan, data.x_raw, data.y_raw, data.x_test_raw)

for name, f in (("float64", result.f_float), (f"{plan.word}-bit integers", result.f)):
    right = int(((f > 0) == (data.y_test_raw > 0)).sum())
    print(f"{name:16} {right} of {len(f)} digits correct")
print(f"status {result.status}; {plan.state_bytes} bytes of RAM for {plan.sizes['N']} digits stored")

kerncast.generate(plan, "build/digits", spec.target.id, spec=spec)
