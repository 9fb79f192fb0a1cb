"""What a library takes: bytes as the plan states them, stack from frames and calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from kerncast.codegen.build.toolchains import Toolchain, choose_toolchain
from kerncast.codegen.firmware.call_graph import call_graph
from kerncast.codegen.firmware.image import FREESTANDING
from kerncast.codegen.firmware.targets import load_target, target_ids
from kerncast.codegen.generate import generate
from kerncast.sim.errors import KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

TOEPLITZ = Spec(model={"name": "ecg", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
                output={"word": "s12f0"}, kernel={"sigma": 3.0},
                toeplitz={"n": 33, "lambda": 0.1, "scheme": "uniform"})
ONLINE = Spec(model={"name": "online", "algorithm": "kernel_lms"}, input={"word": "s12f8", "columns": 3},
              output={"word": "s3f0"}, kernel={"sigma": 0.7}, online={"budget": 7, "eta": 0.5})


def toolchain(target: str) -> Toolchain:
    return choose_toolchain("auto", load_target(target))


@pytest.mark.parametrize("target", target_ids())
def test_model_and_table_bytes_equal_the_plan_s_on_every_target(
        target: str, tmp_path: Path) -> None:
    tools = toolchain(target)
    for spec in (TOEPLITZ, ONLINE):
        plan = make_plan(spec)
        generate(plan, tmp_path / plan.name)
        (tmp_path / plan.name / "held.c").write_text(f'#include "{plan.name}.h"\n{plan.name}_model_t held;\n')
        flags = ["-O1", *FREESTANDING, *tools.flags, "-I."]
        found = {}
        for name in tools.compile(["held.c", f"{plan.name}_tables.c"], flags, tmp_path / plan.name):
            with (tmp_path / plan.name / name).open("rb") as stream:
                symbols = ELFFile(stream).get_section_by_name(".symtab").iter_symbols()
                found |= {s.name: s["st_size"] for s in symbols if s["st_size"]}
        tables = {name: size for name, size in found.items() if "_table_" in name}
        assert found["held"] == plan.state_bytes == sum(field.bytes for field in plan.memory)
        assert sum(tables.values()) == plan.table_bytes


def built(source: str, folder: Path) -> list[Path]:
    tools = toolchain("cortex-m4")
    (folder / "calls.c").write_text(source)
    flags = ["-O1", *FREESTANDING, *tools.flags, "-fstack-usage", "-fno-inline",
             "-fno-optimize-sibling-calls"]
    return [folder / name for name in tools.compile(["calls.c"], flags, folder)]


def test_the_deepest_path_goes_through_tables_and_into_the_runtime(tmp_path: Path) -> None:
    source = ("long long inner(long long a, long long b) { return a / b; }\n"
              "long long outer(long long *v) { long long w[8]; for (int i = 0; i < 8; i++) w[i] = v[i];\n"
              "  v[8] = inner(w[v[0]], w[v[1]]); return v[8] + 1; }\n"
              "static long long (*const table[])(long long *) = { outer };\n"
              "long long through(int i, long long *v) { return table[i](v) + 1; }\n"
              "int leaf(int i) { return i + 1; }\n")
    objects = built(source, tmp_path)
    without, having = call_graph(objects, 0), call_graph(objects, 1000)
    assert without.max_stack("leaf") == having.max_stack("leaf") == 0
    assert having.max_stack("inner") == without.max_stack("inner") + 1000
    assert having.max_stack("through") > having.max_stack("outer") > having.max_stack("inner") + 64


@pytest.mark.parametrize(("source", "code", "named"), [
    ("int even(int n);\nint odd(int n) { return n ? even(n - 1) + 1 : 0; }\n"
     "int even(int n) { return n ? odd(n - 1) + 1 : 1; }\n", "E331", "odd -> even -> odd"),
    ("int odd(int n) { return n ? odd(n - 1) * odd(n - 2) : 1; }\n", "E331", "odd -> odd"),
    ("void use(int *v);\nint odd(int n) { int v[n]; use(v); return v[0]; }\n", "E332", "odd: dynamic"),
])
def test_a_circle_of_calls_and_a_frame_without_bound_are_refused(
        source: str, code: str, named: str, tmp_path: Path) -> None:
    with pytest.raises(KerncastError) as caught:
        call_graph(built(source, tmp_path), 0).max_stack("odd")
    problem = caught.value.problems[0]
    assert (problem.code, problem.value) == (code, named)
    assert problem.allowed and problem.remedy
