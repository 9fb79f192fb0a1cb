"""What `kerncast gen --package` writes, what it removes again, and what it refuses."""

import re
from pathlib import Path

import numpy as np
import pytest

from kerncast.codegen.c.packages import PACKAGES, resolve_packages
from kerncast.codegen.c.vectors_c import room, truncate_calls, vectors_context
from kerncast.codegen.firmware.targets import load_target
from kerncast.codegen.generate import generate, load_manifest, stale_files
from kerncast.codegen.manifest import MANIFEST
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors, replay
from kerncast.sim.spec import Spec

TABLES = {"model": {"name": "probe", "algorithm": "kernel_lms"}, "input": {"word": "u8f0", "columns": 2},
          "output": {"word": "s8f0"}, "kernel": {"sigma": 20.0},
          "online": {"budget": 4, "eta": 0.5, "rho": 0.0, "reduction": "fklms"}}


@pytest.fixture(scope="module")
def plan():
    return make_plan(Spec(**TABLES))


@pytest.fixture(scope="module")
def vectors(plan):
    """Two passes over forty samples, and a hundred predictions."""
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 256, (40, 2)), rng.integers(-100, 100, 40)
    calls = [("update", x, y), ("update", x, y), ("predict", rng.integers(0, 256, (100, 2)), None)]
    return make_vectors(open_model(plan), calls)


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def refused(code, call, *arguments, **options) -> str:
    with pytest.raises(KerncastError) as caught:
        call(*arguments, **options)
    assert [p.code for p in caught.value.problems] == [code]
    return str(caught.value)


# ---- which ----
def test_packages_are_named_in_any_order_with_commas_or_all():
    assert resolve_packages(()) == ()
    assert resolve_packages(["make, cmake", "make"]) == ("cmake", "make")
    assert resolve_packages(["all"]) == tuple(PACKAGES) == resolve_packages(["arduino,all"])


@pytest.mark.parametrize("text", ["bazel", "", "cmake,", "CMake"])
def test_an_unknown_package_is_refused_with_the_known_ones(text):
    said = refused("E310", resolve_packages, [text])
    assert "cmake, make, zephyr, platformio, arduino, esp-idf, cmsis, cpp, all" in said


def test_generate_takes_the_same_names(plan, vectors, tmp_path):
    refused("E310", generate, plan, tmp_path / "out", vectors=vectors, packages=("bazel",))
    assert not (tmp_path / "out").exists()
    whole = generate(plan, tmp_path / "one", vectors=vectors, packages=("all",))
    assert whole == generate(plan, tmp_path / "two", vectors=vectors, packages=tuple(PACKAGES))


def test_a_package_without_vectors_is_refused_before_a_file_is_written(plan, tmp_path):
    assert "[data]" in refused("E308", generate, plan, tmp_path / "out", packages=("make",))
    assert not (tmp_path / "out").exists()


# ---- what is written ----
@pytest.mark.parametrize("kind", PACKAGES)
def test_a_package_is_in_the_manifest_until_a_run_without_it_removes_it(
        plan, vectors, tmp_path, kind):
    generate(plan, tmp_path / "plain", vectors=vectors)
    out = tmp_path / "out"
    manifest = generate(plan, out, vectors=vectors, packages=(kind,))
    assert set(files(out)) == {*manifest.files, MANIFEST}
    assert {name.format(p="probe") for name in PACKAGES[kind]} <= set(manifest.files)
    assert stale_files(plan, out, vectors=vectors, packages=(kind,)) == []
    assert "README.md" in stale_files(plan, out, vectors=vectors)
    (out / "examples").mkdir(exist_ok=True)
    (out / "examples" / "mine.txt").write_text("mine")
    generate(plan, out, vectors=vectors)
    found = files(out)
    assert found.pop("examples/mine.txt") == b"mine"
    assert found == files(tmp_path / "plain")


def test_the_library_s_own_files_are_those_of_a_run_without_packages(plan, vectors, tmp_path):
    plain = generate(plan, tmp_path / "plain", vectors=vectors)
    packed = generate(plan, tmp_path / "packed", vectors=vectors, packages=tuple(PACKAGES))
    assert plain.sources == packed.sources
    differ = {name for name in plain.files if plain.files[name] != packed.files[name]}
    assert differ == {"README.md", "sbom.spdx.json"}


def test_the_same_plan_gives_the_same_package_and_no_place_is_in_it(plan, vectors, tmp_path):
    folders = [tmp_path / "one", tmp_path / "two" / "deeper"]
    for folder in folders:
        generate(plan, folder, vectors=vectors, packages=tuple(PACKAGES))
    first, second = map(files, folders)
    assert first == second
    assert not [name for name, text in first.items() if str(tmp_path).encode() in text]


def test_an_edited_file_of_a_package_is_never_overwritten_or_removed(plan, vectors, tmp_path):
    generate(plan, tmp_path, vectors=vectors, packages=("cmake",))
    (tmp_path / "CMakeLists.txt").write_text("edited\n")
    for packages in ((), ("cmake",)):
        said = refused("E303", generate, plan, tmp_path, vectors=vectors, packages=packages)
        assert "CMakeLists.txt" in said
    assert (tmp_path / "CMakeLists.txt").read_text() == "edited\n"


def test_a_user_s_file_is_never_overwritten_by_a_package(plan, vectors, tmp_path):
    generate(plan, tmp_path, vectors=vectors)
    (tmp_path / "Makefile").write_text("theirs\n")
    assert "Makefile" in refused("E303", generate, plan, tmp_path, vectors=vectors, packages=("make",))
    assert load_manifest(tmp_path).is_complete


def test_two_models_define_no_common_build_or_configuration_name(plan, vectors, tmp_path):
    other = make_plan(Spec(**TABLES | {"model": TABLES["model"] | {"name": "other"}}))
    calls = [(call.name, call.x_raw, call.y_raw) for call in vectors.calls]
    generate(plan, tmp_path / "a", vectors=vectors, packages=tuple(PACKAGES))
    generate(other, tmp_path / "b", vectors=make_vectors(open_model(other), calls), packages=tuple(PACKAGES))
    defined = []
    for folder in ("a", "b"):
        text = "".join((tmp_path / folder / name).read_text() for name in ("CMakeLists.txt", "zephyr/Kconfig",
                                                                           "zephyr/CMakeLists.txt"))
        defined.append(set(re.findall(r"(?:add_library|add_executable|option|config|_named)[ (](\S+)", text)))
    assert defined[0] and not defined[0] & defined[1]


# ---- the vectors ----
def test_a_subset_holds_the_model_s_answers_to_the_first_samples_of_a_call(plan, vectors):
    assert truncate_calls(plan, vectors, 1 << 20) is vectors
    short = truncate_calls(plan, vectors, 200)
    assert [len(call.x_raw) for call in short.calls] == [8, 8, 10]
    result = replay(open_model(plan), short)
    assert (result.mismatches, result.first) == (0, "")
    assert np.array_equal(short.calls[0].expected["f"], vectors.calls[0].expected["f"][:8])
    assert not np.array_equal(short.state["alpha"], vectors.state["alpha"])  # those of sixteen updates


@pytest.mark.parametrize("most", [1, 200, 1 << 14])
def test_the_constants_fit_their_space_or_hold_one_sample_each(plan, vectors, most):
    target = replace_flash(most)
    found = vectors_context(plan, vectors, target)
    assert all(1 <= part["kept"] <= part["all"] for part in (*found["calls"], *found["state"]))
    assert found["vector_bytes"] <= max(most, 120)
    assert found["vector_bytes"] == sum(
        array["count"] * bytes_of(array["ctype"]) for array in found["arrays"])


def replace_flash(most: int):
    return load_target("cortex-m4").model_copy(update={"flash_bytes": 8 * most})


def bytes_of(ctype: str) -> int:
    known = {"probe_in_t": 1, "probe_target_t": 1, "probe_out_t": 2}
    return known.get(ctype) or int(re.search(r"\d+", ctype).group()) // 8


def test_a_small_flash_gets_fewer_vectors_than_a_large_one():
    assert room(load_target("atmega328p")) == 4096 < room(load_target("cortex-m4")) == room(None)


def test_the_readme_states_the_subset_of_the_vectors(plan, vectors, tmp_path):
    generate(plan, tmp_path, replace_flash(200), vectors=vectors, packages=("make",))
    said = (tmp_path / "README.md").read_text()
    assert "| call 0 update, samples | 8 | 40 |" in said
    assert "| call 2 predict, samples | 10 | 100 |" in said
    assert "make check" in said and "Zephyr" not in said
