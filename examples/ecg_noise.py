"""Denoise heartbeats whose noise level changes: the device chooses lambda.

    python ecg_noise.py

Noise depends on the contact of the electrodes.  Each training compares three values of lambda; the table
compares it with trainers that have one of them.  It writes the C to build/ecg_noise.
"""

from pathlib import Path

import numpy as np

import kerncast

HERE, LAMBDAS, NOISE = Path(__file__).resolve().parent, (0.1, 0.01, 1.0), (2.5, 10.0, 40.0)

ecg = kerncast.Spec.load(HERE / "ecg.toml")
clean = kerncast.load_dataset(ecg).clean


def spec_of(lam, others=()):
    """Return the spec of the example with the banded solver, lambda, and others to choose from."""
    values = ecg.model_dump(mode="json", by_alias=True, exclude_none=True)
    values["model"]["name"] = "ecg_noise"
    values["toeplitz"] |= {"lambda": lam, "solver": "banded"}
    if others:
        values["toeplitz"]["candidates"] = [[ecg.kernel.sigma, other] for other in others]
    return kerncast.Spec(**values)


def error(result):
    """Return the RMS error of the fitted values against the clean signal."""
    return np.sqrt(np.mean((result.f - clean) ** 2))


spec = spec_of(LAMBDAS[0], LAMBDAS[1:])
tuned, fixed = kerncast.plan(spec), [kerncast.plan(spec_of(lam)) for lam in LAMBDAS]
random, errors = np.random.default_rng(0), []

print(f"{'noise':>12}", *(f"lambda {lam:<5g}" for lam in LAMBDAS), "chosen", sep="  ")
for level in NOISE:
    noisy = clean + level * random.standard_normal(len(clean))
    y_raw = np.rint(noisy / ecg.output.gain).astype(np.int64) + ecg.output.offset
    chosen = kerncast.simulate(tuned, None, y_raw)
    errors.append([*(error(kerncast.simulate(plan, None, y_raw)) for plan in fixed), error(chosen)])
    print(f"{level:12g}", *(f"{v:<12.2f}" for v in errors[-1][:-1]),
          f"{errors[-1][-1]:.2f} with lambda {LAMBDAS[chosen.tuned.chosen]:g}", sep="  ")
print(f"{'mean':>12}", *(f"{v:<12.2f}" for v in np.mean(errors, axis=0)), sep="  ")

kerncast.generate(tuned, "build/ecg_noise", spec.target.id, spec=spec)
