"""A support-vector classifier of scikit-learn as C for a Cortex-M4: handwritten digits, 3 or 8.

    python export_svc.py

writes digits_svc.toml, the spec, digits_svc.json and digits_svc.csv beside it, and build/digits_svc, the C.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

import kerncast

X, y = load_digits(return_X_y=True)
chosen = np.isin(y, (3, 8))
X, y = X[chosen], y[chosen]
svc = SVC().fit(X[:250], y[:250])

# The test digits decide the words of the sensor, 0 to 16, and how far predictions reach.
spec = kerncast.export(svc, X[250:], "digits_svc.toml", y[250:], overwrite=True)
plan = kerncast.plan(spec)
result = kerncast.simulate(plan, kerncast.raw_inputs(plan, X[250:]))
same = int((result.labels == svc.predict(X[250:])).sum())

print(f"{plan.sizes['N']} vectors, {plan.table_bytes} bytes of constants, {plan.state_bytes} bytes of state")
print(f"scikit-learn's label on {same} of {len(result.labels)} digits, in {plan.word} bits")
print(f"error of the decision function: {result.f_error:.1e} of its size")
for name in result.budget.terms:
    print(f"    {name}: {result.budget.part(name):.0%} of it")

kerncast.generate(plan, "build/digits_svc", spec.target.id, spec=spec)
