"""Select sigma and eta of examples/digits.toml on the training samples only.

Each candidate learns the 250 training digits in order. It is evaluated by its predictions before each update,
from the 51st digit on. The candidate with the fewest errors is selected and, among equal ones, that with the
smallest squared error. The test samples are not used for the selection; their error is only printed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kerncast.sim.data import load_dataset
from kerncast.sim.kernels import Gaussian
from kerncast.sim.reference import KernelLMS
from kerncast.sim.spec import Spec

SIGMAS = (6, 8, 10, 12, 14, 16, 18)
ETAS = (0.1, 0.2, 0.35, 0.5, 0.8)
WARM_UP = 50


def main() -> None:
    """Print a table of the candidates, sorted from best to worst."""
    spec = Spec.load(Path(__file__).resolve().parent.parent / "examples" / "digits.toml")
    assert spec.online is not None
    data = load_dataset(spec)
    assert data.x_test_raw is not None
    rows = []
    for sigma in SIGMAS:
        for eta in ETAS:
            learner = KernelLMS(64, Gaussian(float(sigma)), eta, 0.0, "fklms", spec.online.budget)
            f = learner.learn(data.x_raw, data.y_raw)[WARM_UP:]
            y = data.y_raw[WARM_UP:]
            wrong = int(np.sum(np.sign(f) != y))
            test = int(np.sum(np.sign(learner.predict(data.x_test_raw)) != data.y_test_raw))
            rows.append((wrong, float(np.mean((f - y) ** 2)), sigma, eta, test))
    print("mistakes  squared error  sigma  eta   test mistakes (of 107)")
    for wrong, error, sigma, eta, test in sorted(rows):
        print(f"{wrong:8}  {error:13.3f}  {sigma:5}  {eta:4}  {test}")


if __name__ == "__main__":
    main()
