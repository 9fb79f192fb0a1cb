"""The commands from a spec to a compared word, as a user types them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Run = Callable[..., tuple[int, str, str]]


def test_gen_then_test_compares_every_value_and_exits_with_0(run: Run, generated: Path) -> None:
    code, out, _ = run("test", generated, "--on", "model", "--on", "host", "--json")
    found = json.loads(out)
    assert (code, found["mismatches"]) == (0, 0)
    assert [row["words"] for row in found["backends"]] == [found["words"] // 2] * 2
    assert found["words"] > 80


@pytest.mark.parametrize("name", ["equaliser", "ecg_stream"])
def test_a_stream_s_example_is_generated_without_changes(run: Run, tmp_path: Path, name: str) -> None:
    code, out, err = run("gen", EXAMPLES / f"{name}.toml", "-o", tmp_path / name)
    assert (code, err) == (0, "") and "model" in out
    assert run("gen", EXAMPLES / f"{name}.toml", "-o", tmp_path / name, "--check")[0] == 0


def test_gen_names_the_cores_that_it_wrote(run: Run, spec: Path, tmp_path: Path) -> None:
    code, out, _ = run("gen", spec, "-o", tmp_path / "some", "--json")
    cores = json.loads(out)["cores"]
    assert (code, sorted(cores)) == (0, sorted(path.stem.partition("_")[2] for path in
                                               (tmp_path / "some" / "rtl").glob("*.f")))
    assert f"cores in {tmp_path}/some/rtl: {', '.join(cores)}" in run("gen", spec, "-o", tmp_path / "some")[1]
    tuned = '[toeplitz]\nsolver = "banded"\ncandidates = [[3.0, 0.5]]'
    spec.write_text(spec.read_text().partition("[data]")[0].replace("n = 12", "n = 64").replace(
        "[toeplitz]", tuned))
    code, out, _ = run("gen", spec, "-o", tmp_path / "none")
    assert f"cores in {tmp_path}/none/rtl: none; its README.md explains why" in out
    assert (tmp_path / "none" / "rtl" / "README.md").is_file()


def test_gen_check_reports_a_stale_folder_by_exit_code_1_without_writing(
        run: Run, spec: Path, generated: Path) -> None:
    assert run("gen", spec, "-o", generated, "--check")[0] == 0
    spec.write_text(spec.read_text().replace("sigma = 2.0", "sigma = 2.5"))
    before = {p: p.read_bytes() for p in generated.rglob("*") if p.is_file()}
    code, out, _ = run("gen", spec, "-o", generated, "--check", "--json")
    assert code == 1
    assert "small_internal.h" in json.loads(out)["stale"]
    assert before == {p: p.read_bytes() for p in generated.rglob("*") if p.is_file()}


def test_one_command_generates_checks_and_removes_a_package(
        run: Run, spec: Path, generated: Path) -> None:
    plain = {p: p.read_bytes() for p in generated.rglob("*") if p.is_file()}
    code, out, _ = run("gen", spec, "-o", generated, "--package", "make,cmake", "--package", "arduino",
                       "--json")
    assert (code, json.loads(out)["packages"]) == (0, ["cmake", "make", "arduino"])
    assert (generated / "examples" / "vectors" / "small_vectors.c").is_file()
    assert run("gen", spec, "-o", generated, "--package", "cmake,make,arduino", "--check")[0] == 0
    assert run("gen", spec, "-o", generated, "--check")[0] == 1
    assert run("gen", spec, "-o", generated)[0] == 0
    assert plain == {p: p.read_bytes() for p in generated.rglob("*") if p.is_file()}


def test_an_unknown_package_is_refused_before_anything_is_written(
        run: Run, spec: Path, tmp_path: Path) -> None:
    code, _, err = run("gen", spec, "-o", tmp_path / "new", "--package", "bazel")
    assert (code, "E310" in err, "zephyr" in err) == (2, True, True)
    assert not (tmp_path / "new").exists()


def test_a_mismatch_is_named_with_exit_code_1(run: Run, generated: Path) -> None:
    constants = generated / "small_internal.h"
    text = constants.read_text()
    assert "#define SMALL_F_SHIFT 16" in text
    constants.write_text(text.replace("#define SMALL_F_SHIFT 16", "#define SMALL_F_SHIFT 15"))
    code, out, _ = run("test", generated, "--on", "host", "--json")
    row = json.loads(out)["backends"][0]
    assert code == 1
    assert row["mismatches"] > 0
    assert row["first"].startswith("call 1 predict f[")


@pytest.mark.parametrize(("arguments", "exit_code", "error"), [
    (("--on", "modell"), 2, "E420"), (("--on", "emu:"), 2, "E420"), (("--on", "rtl"), 2, "E420"),
    (("--on", "host:tcc"), 2, "E420")])
def test_an_unknown_back_end_is_refused_with_the_names_there_are(
        run: Run, generated: Path, arguments: tuple[str, ...], exit_code: int, error: str) -> None:
    code, _, err = run("test", generated, *arguments)
    assert code == exit_code
    assert error in err
    assert "emu:ID" in err


def test_a_missing_compiler_is_exit_code_3_with_the_command_that_installs_it(
        run: Run, generated: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, err = run("test", generated, "--on", "host:gcc")
    assert code == 3
    assert "E511" in err
    assert "apt-get install" in err


def test_a_missing_emulator_is_exit_code_3_with_the_command_that_installs_it(
        run: Run, generated: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    only_compiler = tmp_path / "bin"
    only_compiler.mkdir()
    monkeypatch.setenv("PATH", str(only_compiler))
    code, _, err = run("test", generated, "--on", "emu:mps2-an386:qemu")
    assert code == 3
    assert "E512" in err
    assert "install" in err


def test_gen_refuses_n_too_large_for_the_target_with_both_byte_counts(
        run: Run, spec: Path) -> None:
    big = spec.read_text().replace("n = 12", "n = 60000").replace("u8f0", "u16f0")
    big = big.replace("lambda = 0.5", "lambda = 9.0")
    spec.write_text(big.replace('[data]\nfile = "small.csv"\n', "[numbers]\nword = 32\n"))
    code, _, err = run("gen", spec, "-o", spec.parent / "big")
    assert code == 2
    assert "E301" in err
    assert "bytes needed" in err
    assert "bytes available" in err
    assert not (spec.parent / "big").exists()


def test_a_foreign_folder_is_refused_and_left_unchanged(
        run: Run, spec: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("all I have")
    code, _, err = run("gen", spec, "-o", theirs)
    assert code == 2
    assert "E302" in err
    assert [p.name for p in theirs.iterdir()] == ["thesis.txt"]


def test_a_folder_without_vectors_or_with_foreign_ones_is_refused(run: Run, generated: Path) -> None:
    text = (generated / "vectors.json").read_text()
    (generated / "vectors.json").write_text(text.replace('{"plan": "', '{"plan": "0'))
    code, _, err = run("test", generated, "--on", "model")
    assert (code, "E309" in err) == (2, True)
    (generated / "vectors.json").unlink()
    code, _, err = run("test", generated, "--on", "model")
    assert (code, "E308" in err) == (2, True)
    shutil.rmtree(generated)
    code, _, err = run("test", generated, "--on", "model")
    assert (code, "E305" in err) == (2, True)


@pytest.mark.parametrize("command", ["plan", "sim"])
@pytest.mark.parametrize("name", ["ecg", "digits"])
def test_plan_and_sim_print_one_json_object(run: Run, command: str, name: str) -> None:
    code, out, _ = run(command, EXAMPLES / f"{name}.toml", "--json")
    assert code == 0
    assert json.loads(out)
