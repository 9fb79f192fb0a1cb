"""The output folder: what is refused, what is never touched, and what an interrupted run leaves behind."""

import json
import shutil
from pathlib import Path

import pytest

from kerncast.codegen import generate as generation
from kerncast.codegen import manifest as manifests
from kerncast.codegen.firmware.targets import load_target
from kerncast.codegen.generate import generate, load_manifest, load_plan, load_vectors, stale_files
from kerncast.sim._output_files import partial_path
from kerncast.sim.errors import KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

TABLES = {"model": {"name": "probe", "algorithm": "toeplitz_rls"}, "input": {"word": "u16f0"},
          "output": {"word": "s8f0"}, "kernel": {"sigma": 2.0},
          "toeplitz": {"n": 8, "lam": 0.5, "scheme": "uniform"}}


def plan(**changes):
    """The plan of the probe, with keys of [toeplitz], or the model's name, changed."""
    name = changes.pop("name", "probe")
    return make_plan(Spec(**TABLES | {"model": TABLES["model"] | {"name": name},
                                      "toeplitz": TABLES["toeplitz"] | changes}))


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def refused(code: str, *arguments, **options) -> str:
    with pytest.raises(KerncastError) as caught:
        generate(*arguments, **options)
    assert [p.code for p in caught.value.problems] == [code]
    return str(caught.value)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder with the generated probe."""
    generate(plan(), tmp_path / "out")
    return tmp_path / "out"


# ---- what it holds ----
def test_a_folder_has_the_files_of_its_manifest_and_no_other(out):
    manifest = load_manifest(out)
    assert set(files(out)) == {*manifest.files, "manifest.json"}
    assert {"probe.h", "probe_tables.c", "probe_kernel.c", "probe_model.c", "probe_toeplitz.c", "rt/kc_rt.h",
            "plan.json", "README.md"} <= set(manifest.files)
    assert manifest.plan == plan().hash
    assert all(manifest.wrote(name, text.decode()) for name, text in files(out).items()
               if name != "manifest.json")


def test_generating_again_changes_nothing(out):
    before = files(out)
    generate(plan(), out)
    assert files(out) == before
    assert stale_files(plan(), out) == []


def test_a_new_plan_replaces_generated_files_and_keeps_the_user_s(out):
    (out / "notes.txt").write_text("mine")
    (out / "rtl" / "waves.txt").write_text("mine too")
    (out / "build").mkdir()
    (out / "build" / "image.elf").write_bytes(b"\x7f")
    generate(plan(name="other"), out)
    found = files(out)
    assert found["notes.txt"] == b"mine"
    assert found["rtl/waves.txt"] == b"mine too"
    assert found["build/image.elf"] == b"\x7f"
    assert not [name for name in found if "probe" in name]
    assert set(found) == {*load_manifest(out).files, "manifest.json", "notes.txt", "rtl/waves.txt",
                          "build/image.elf"}


def test_folders_that_become_empty_go_with_their_files(out):
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "old" / "deep").mkdir(parents=True)
    (out / "old" / "deep" / "file.c").write_text("/* ours */\n")
    manifest["files"]["old/deep/file.c"] = manifests.digest("/* ours */\n")
    (out / "manifest.json").write_text(json.dumps(manifest))
    generate(plan(), out)
    assert not (out / "old").exists()


# ---- what is refused ----
def test_a_file_or_a_folder_with_other_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "file").write_text("x")
    assert "a file" in refused("E302", plan(), tmp_path / "file")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "thesis.tex").write_text("x")
    assert "thesis.tex" in refused("E302", plan(), theirs)
    assert files(theirs) == {"thesis.tex": b"x"}


def test_a_folder_of_kerncast_0_1_is_not_read_and_can_be_generated_again(out):
    path = out / "manifest.json"
    old = json.loads(path.read_text())
    del old["plan_version"], old["runtime"]
    path.write_text(json.dumps(old))
    for read in (load_manifest, load_plan):
        with pytest.raises(KerncastError, match=r"E213[\s\S]*kerncast gen"):
            read(out)
    generate(plan(), out)
    assert load_plan(out)[0].hash == plan().hash


def test_the_manifest_has_the_hash_of_the_runtime(out):
    before = load_manifest(out)
    generate(plan(lam=0.25), out)
    after = load_manifest(out)
    assert after.plan != before.plan and after.runtime == before.runtime and len(after.runtime) == 64


@pytest.mark.parametrize("name", ["probe_model.c", "rt/kc_cast.h", "README.md"])
def test_a_file_edited_by_hand_is_never_overwritten(out, name):
    (out / name).write_text("edited\n")
    before = files(out)
    assert name in refused("E303", plan(lam=0.25), out)
    assert files(out) == before


def test_a_stale_file_edited_by_hand_is_never_deleted(out):
    (out / "probe_model.c").write_text("edited\n")
    before = files(out)
    assert "probe_model.c" in refused("E303", plan(name="other"), out)
    assert files(out) == before


def test_a_user_s_file_with_the_name_of_a_new_one_is_never_overwritten(out):
    (out / "other.h").write_text("theirs\n")
    before = files(out)
    assert "other.h" in refused("E303", plan(name="other"), out)
    assert files(out) == before


@pytest.mark.parametrize("kind", ["folder", "link", "dangling link"])
def test_anything_but_a_file_is_never_replaced(out, tmp_path, kind):
    target = tmp_path / "elsewhere"
    if kind == "link":
        target.write_text("theirs")
    (out / "probe.h").unlink()
    if kind == "folder":
        (out / "probe.h").mkdir()
    else:
        (out / "probe.h").symlink_to(target)
    assert "probe.h" in refused("E303", plan(), out)
    assert (out / "probe.h").is_dir() or (out / "probe.h").is_symlink()
    assert not target.exists() or target.read_text() == "theirs"


def test_a_generated_folder_replaced_by_a_link_is_refused_untouched(out, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    shutil.move(out / "rt", elsewhere)
    (out / "rt").symlink_to(elsewhere)
    before = files(elsewhere)
    assert "rt" in refused("E302", plan(name="other"), out)
    assert files(elsewhere) == before
    (out / "rt").unlink()
    (out / "rt").write_text("a file")
    refused("E302", plan(), out)


@pytest.mark.parametrize("name", ["../outside.txt", "/outside.txt", "rt/../../outside.txt", "a//b", "./a", "",
                                  ".", "..", "C:outside.txt", "rt\\kc_rt.h"])
def test_a_manifest_with_paths_outside_is_refused_with_them_untouched(out, tmp_path, name):
    outside = tmp_path / "outside.txt"
    outside.write_text("theirs")
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["files"][name] = manifests.digest("theirs")
    (out / "manifest.json").write_text(json.dumps(manifest))
    refused("E304", plan(), out)
    assert outside.read_text() == "theirs"


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"name": "probe"}', '{"files": {}}', "\x00\xff"])
def test_a_damaged_manifest_is_refused(out, text):
    (out / "manifest.json").write_text(text, encoding="latin-1")
    before = files(out)
    refused("E304", plan(), out)
    assert files(out) == before
    with pytest.raises(KerncastError, match="E304"):
        load_plan(out)


@pytest.mark.parametrize("key", ["name", "plan", "spec", "target"])
def test_a_manifest_with_another_type_of_value_is_refused(out, key):
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps(manifest | {key: 3}))
    refused("E304", plan(), out)
    (out / "manifest.json").write_text(json.dumps(manifest | {"files": {"probe.h": None}}))
    refused("E304", plan(), out)


def test_a_plan_too_large_for_the_target_is_refused_with_both_byte_counts(tmp_path):
    target = load_target("cortex-m4").model_copy(update={"stack_bytes": 1024})
    made = plan()
    assert made.ram_bytes == 176
    text = refused("E301", made, tmp_path / "out", target.model_copy(update={"ram_bytes": 1024 + 177}))
    assert "178 bytes needed" in text  # 176 of model and trainer, 2 of a sample
    assert "177 bytes available" in text
    assert not (tmp_path / "out").exists()
    generate(made, tmp_path / "out", target.model_copy(update={"ram_bytes": 1024 + 178}))
    small = target.model_copy(update={"flash_bytes": made.table_bytes - 1})
    text = refused("E301", made, tmp_path / "two", small)
    assert f"{made.table_bytes} bytes" in text and "levinson" not in text


def test_a_factor_too_large_for_the_flash_is_refused_with_a_remedy(tmp_path):
    made = make_plan(Spec(model={"name": "wide", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
                          output={"word": "s12f0"}, kernel={"sigma": 60.0}, numbers={"word": 32},
                          toeplitz={"n": 1024, "lambda": 0.001, "scheme": "uniform", "solver": "banded"}))
    text = refused("E301", made, tmp_path / "out", load_target("cortex-m0"))
    assert f"{made.table_bytes} bytes" in text and 'solver = "levinson"' in text
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["kc_rt", "kc_cast", "kc_model"])
def test_a_model_may_not_use_the_names_of_the_runtime(name):
    """Its header would have the include guard of one of ours."""
    with pytest.raises(KerncastError, match="E110"):
        plan(name=name)


# ---- interrupted runs ----
def interrupt_at(monkeypatch, count: int) -> None:
    """Let `count` files be written, then pull the plug."""
    left = [count]
    real = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if left[0] == 0:
            raise KeyboardInterrupt
        left[0] -= 1
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)


@pytest.mark.parametrize("written", [0, 1, 2, 5, 20])
def test_an_interrupted_first_run_leaves_whole_files_that_a_rerun_completes(
        tmp_path, monkeypatch, written):
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt_at(patch, written)
        generate(plan(), tmp_path / "out")
    whole, _ = generation.render_all(plan(), None, None)
    left = files(tmp_path / "out")
    assert len(left) == written
    assert all(text == whole[name].encode() for name, text in left.items() if name != "manifest.json")
    with pytest.raises(KerncastError, match="E305"):
        load_plan(tmp_path / "out")
    generate(plan(), tmp_path / "out")
    assert stale_files(plan(), tmp_path / "out") == []


@pytest.mark.parametrize("written", [1, 4, 12, 30])
def test_an_interrupted_change_of_plan_is_reported_and_recovers_either_way(
        out, tmp_path, monkeypatch, written):
    for name, other in (("to", plan(lam=0.25)), ("back", plan())):
        folder = Path(shutil.copytree(out, tmp_path / name))
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            interrupt_at(patch, written)
            generate(plan(lam=0.25), folder)
        with pytest.raises(KerncastError, match="generation was interrupted"):
            load_plan(folder)
        generate(other, folder)
        assert stale_files(other, folder) == []
        assert load_plan(folder)[0].hash == other.hash


def test_an_edit_after_an_interrupted_run_is_still_never_overwritten(out, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt_at(patch, 3)
        generate(plan(lam=0.25), out)
    (out / "probe_model.c").write_text("edited\n")
    assert "probe_model.c" in refused("E303", plan(lam=0.25), out)


def test_a_partial_first_file_of_a_killed_run_does_not_block_the_next(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    partial_path(out / "manifest.json").write_text("{")
    generate(plan(), out)
    assert set(files(out)) == {*load_manifest(out).files, "manifest.json"}


# ---- reading a folder ----
def test_a_foreign_folder_has_no_plan(tmp_path, out):
    for folder in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(KerncastError, match="E305"):
            load_plan(folder)
    (out / "plan.json").unlink()
    with pytest.raises(KerncastError, match=r"no plan\.json"):
        load_plan(out)


def test_plan_and_vectors_are_read_back_unchanged(out, tmp_path):
    found, manifest = load_plan(out)
    assert (found, found.hash, manifest.plan) == (plan(), plan().hash, plan().hash)
    assert load_vectors(out) is None
