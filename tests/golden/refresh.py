"""Write the golden samples again: ``python tests/golden/refresh.py``; read the difference before a commit."""

from pathlib import Path

from kerncast.codegen.generate import render_c
from kerncast.codegen.hls import render_hls
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

HERE = Path(__file__).resolve().parent
SPECS = {
    "tiny": """
        [model]
        name = "tiny"
        algorithm = "toeplitz_rls"
        [input]
        word = "u8f0"
        [output]
        word = "s12f0"
        gain = 0.5
        [kernel]
        sigma = 1.5
        [toeplitz]
        n = 4
        lambda = 0.25
        scheme = "uniform"
        """,
    "tiny_cg": """
        [model]
        name = "tiny_cg"
        algorithm = "kernel_cg"
        [input]
        word = "s12f0"
        columns = 2
        [output]
        word = "s12f0"
        [kernel]
        sigma = 500.0
        [cg]
        n = 5
        lambda = 0.25
        steps = 4
        [numbers]
        word = 24
        """,
    "tiny_lms": """
        [model]
        name = "tiny_lms"
        algorithm = "kernel_lms"
        [input]
        word = "u10f0"
        columns = 2
        offset = [512, 100]
        gain = [0.01, 0.25]
        [output]
        word = "s2f0"
        [kernel]
        sigma = 3.0
        [online]
        budget = 3
        eta = 0.5
        rho = 0.01
        """,
    "tiny_rls": """
        [model]
        name = "tiny_rls"
        algorithm = "online_kernel_rls"
        [input]
        word = "s12f0"
        columns = 2
        [output]
        word = "s12f0"
        [kernel]
        sigma = 800.0
        [rls]
        features = 4
        steps = 3
        """,
    "tiny_act": """
        [model]
        name = "tiny_act"
        algorithm = "kernel_lms"
        [input]
        word = "u8f0"
        columns = 2
        [output]
        classes = ["idle", "walk", "run"]
        [kernel]
        sigma = 9.0
        [online]
        budget = 3
        eta = 0.5
        quantise = 0.5
        """,
}
#: Files that differ from those of "tiny" by more than names and sizes.
OF_BAND = ("_plan.hpp", "_banded.hpp", "_solver.cpp", "_trainer.cpp")
#: Generated as HLS C++ only.
TINY_BAND = """
    [model]
    name = "tiny_band"
    algorithm = "toeplitz_rls"
    [input]
    word = "u8f0"
    [output]
    word = "s12f0"
    [kernel]
    sigma = 0.6
    [toeplitz]
    n = 9
    lambda = 0.25
    scheme = "uniform"
    solver = "banded"
    bias = true
    """


def samples() -> dict[str, str]:
    """The C of each spec, by path below ``tests/golden/c``; the runtime is a copy of ``firmware/rt``."""
    found = {}
    for name, text in SPECS.items():
        plan = make_plan(Spec.from_text(text, f"{name}.toml"))
        found |= {f"{name}/{file}": content for file, content in render_c(plan).items()
                  if not file.startswith("rt/")}
    return found


def hls_samples() -> dict[str, str]:
    """HLS C++ by path below ``tests/golden/hls``: trainers for Vitis HLS, a learner for Catapult."""
    found = {}
    specs = SPECS | {"tiny_band": TINY_BAND}
    for name, dialect in (("tiny", "vitis"), ("tiny_band", "vitis"), ("tiny_lms", "catapult")):
        plan = make_plan(Spec.from_text(f"{specs[name]}\n[hls]\nlanes = 2\n", f"{name}.toml"))
        found |= {f"{name}/{file.removeprefix('hls/')}": content
                  for file, content in render_hls(plan, dialect).items()
                  if not file.endswith(("/prim.hpp", "/dialect.hpp"))
                  and (name != "tiny_band" or file.endswith(OF_BAND))}
    return found


def refresh() -> None:
    """Write what changed, and remove what is no longer generated."""
    for folder, wanted in ((HERE / "c", samples()), (HERE / "hls", hls_samples())):
        _written(folder, wanted)


def _written(folder: Path, wanted: dict[str, str]) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    refresh()
