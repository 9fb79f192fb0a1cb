"""Replay generated folders on the host in a process of its own, where an abort is only a failure.

    python replay_program.py COMPILER FLAGS FOLDER...

Prints words and mismatches by name, as JSON.  Afterwards all words of each model structure but its
input vectors are overwritten by chance, and it is used.
"""

import json
import sys
from pathlib import Path

import numpy as np

from kerncast.codegen.build.host import HostBackend
from kerncast.codegen.generate import load_plan, load_vectors
from kerncast.sim.replay.vectors import Vectors, replay


def use_junk(backend: HostBackend, vectors: Vectors, rng: np.random.Generator) -> None:
    """Learn and predict with a structure of random words; statuses do not matter here."""
    structure = backend.ffi.buffer(backend.model)
    samples = backend.state().get("centers")
    for _ in range(10):
        structure[:] = rng.integers(0, 256, len(structure), dtype=np.uint8).tobytes()
        if samples is not None:  # an x word outside its range would break the bound of distances
            backend.model.centers = samples.tolist()
        if backend.plan.algorithm == "kernel_lms":
            backend.model.count = int(rng.integers(0, backend.plan.sizes["N"] + 1))
        elif "alpha_exp_min" in backend.plan.constants:
            backend.model.trained = 1
            least, most = (backend.plan.integer(f"alpha_exp_{end}") for end in ("min", "max"))
            backend.model.alpha_exp = int(rng.integers(least - 1, most + 2))
        for call in vectors.calls:
            if call.name == "update":
                backend.update(call.x_raw[:20], call.y_raw[:20])
            elif call.name == "predict":
                backend.predict(call.x_raw[:4])


def main(compiler: str, flags: str, folders: list[str]) -> None:
    """Build, replay, print."""
    rng = np.random.default_rng(3)
    found = {}
    for folder in map(Path, folders):
        plan, vectors = load_plan(folder)[0], load_vectors(folder)
        assert vectors is not None
        print(plan.name, file=sys.stderr, flush=True)  # the last one named is the one that stopped
        backend = HostBackend(plan, folder, compiler=compiler, flags=tuple(flags.split()))
        result = replay(backend, vectors)
        found[plan.name] = (result.words, result.mismatches)
        use_junk(backend, vectors, rng)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
