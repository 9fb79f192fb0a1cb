"""Export a support vector classifier of scikit-learn as C for a Cortex-M4.

    python export_svc.py

It writes the spec digits_svc.toml, digits_svc.json and digits_svc.csv, and the C to build/digits_svc.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

import kerncast

X, y = load_digits(return_X_y=True)
chosen = np.isin(y, (3, 8))
X, y = X[chosen], y[chosen]
svc = SVC().fit(X[:250], y[:250])

# The test digits define the input format, 0 to 16, and the range of predictions.
spec = kerncast.export(svc, X[250:], "digits_svc.toml", y[250:], overwrite=True)
plan = kerncast.plan(spec)
result = kerncast.simulate(plan, kerncast.raw_inputs(plan, X[250:]))
same = int((result.labels == svc.predict(X[250:])).sum())

print(f"{plan.sizes['N']} vectors, {plan.table_bytes} bytes of constants, {plan.state_bytes} bytes of state")
print(f"same label as scikit-learn on {same} of {len(result.labels)} digits, in {plan.word} bits")
print(f"error of the decision function: {result.f_error:.1e} of its norm")
for name in result.budget.terms:
    print(f"    {name}: {result.budget.part(name):.0%} of it")

kerncast.generate(plan, "build/digits_svc", spec.target.id, spec=spec)
