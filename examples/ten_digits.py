"""Export a scikit-learn classifier of ten digits as C for a Cortex-M4.

    python ten_digits.py

It writes the spec ten_digits.toml, ten_digits.json and ten_digits.csv, and the C to build/ten_digits.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

import kerncast

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
X, y = X[order], y[order]
svc = SVC().fit(X[:1000], y[:1000])

spec = kerncast.export(svc, X[1000:], "ten_digits.toml", y[1000:], overwrite=True)
plan = kerncast.plan(spec)
result = kerncast.simulate(plan, kerncast.raw_inputs(plan, X[1000:]))

same = int((result.labels == svc.predict(X[1000:])).sum())
print(f"{plan.sizes['N']} centers, {plan.outputs} outputs, {plan.table_bytes} bytes of constants")
print(f"same label as scikit-learn on {same} of {len(result.labels)} digits, in {plan.word} bits")
print(f"correct: {int((result.labels == y[1000:]).sum())} of {len(result.labels)}")

kerncast.generate(plan, "build/ten_digits", spec.target.id, spec=spec)
