"""`kerncast verify`: what is derived anew, what is noticed, and what is refused."""

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kerncast.lab.compare.bit_flips import damage_states
from kerncast.lab.compare.verification import LARGEST_BYTES, verify
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan

Run = Callable[..., tuple[int, str, str]]


def rewritten(folder: Path, name: str, text: str) -> None:
    """A file of the folder changed as by somebody who mends the manifest too."""
    (folder / name).write_text(text)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = hashlib.sha256(text.encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


def test_verify_recomputes_every_byte_of_a_folder_and_of_its_bundle(
        run: Run, generated: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "small.zip"
    code, out, _ = run("verify", generated, "--flips", "20", "-o", bundle, "--json")
    told = json.loads(out)
    assert code == 0 and told["mismatches"] == 0 and told["out"] == str(bundle)
    by_name = {check["name"]: check for check in told["checks"]}
    held = sum(len((generated / name).read_bytes()) for name in (
        "manifest.json", *json.loads((generated / "manifest.json").read_text())["files"]))
    assert by_name["generated files"]["compared"] == held
    assert by_name["model"]["compared"] == told["backends"][0]["words"] > 12
    assert {d["noticed"] + d["harmless"] for d in told["damage"]} == {20}
    code, out, _ = run("verify", bundle, "--flips", "0", "--on", "model", "--json")
    again = json.loads(out)
    assert code == 0 and again["checks"] == told["checks"] and again["made_with"] == told["versions"]


def test_the_same_folder_makes_the_same_bundle_and_none_is_written_over(
        run: Run, generated: Path, tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        assert run("verify", generated, "--flips", "0", "--on", "model", "-o", tmp_path / name)[0] == 0
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert run("verify", generated, "-o", tmp_path / "one.zip")[0] == 2


@pytest.mark.parametrize(("name", "old", "new", "check"), [
    ("spec.toml", "lambda = 0.5", "lambda = 0.25", "plan"),
    ("small_levinson.c", "static", "static ", "generated files"),
    ("vectors.json", '"status": [0]', '"status": [1]', "model")])
def test_a_change_hidden_by_a_new_digest_is_found_by_recomputation(
        run: Run, generated: Path, tmp_path: Path, name: str, old: str, new: str, check: str) -> None:
    text = (generated / name).read_text()
    assert old in text
    rewritten(generated, name, text.replace(old, new, 1))
    code, out, _ = run("verify", generated, "--flips", "0", "--on", "model", "--json",
                       "-o", tmp_path / "wrong.zip")
    wrong = [found["name"] for found in json.loads(out)["checks"] if found["mismatches"]]
    assert code == 1 and check in wrong and not (tmp_path / "wrong.zip").exists()


def test_a_damaged_file_is_named_and_nothing_is_derived_from_it(run: Run, generated: Path) -> None:
    (generated / "vectors.json").write_text("{}")
    code, out, _ = run("verify", generated)
    assert code == 1 and "vectors.json" in out and "generated files" not in out


def test_a_manifest_that_omits_a_file_differs_and_nothing_runs(run: Run, generated: Path) -> None:
    manifest = json.loads((generated / "manifest.json").read_text())
    del manifest["files"]["small_levinson.c"]
    (generated / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    code, out, _ = run("verify", generated, "--json")
    found = json.loads(out)
    assert code == 1 and not found["trusted"] and not found["backends"]
    assert found["checks"][-1]["first"] == "small_levinson.c"
    # All bytes of the omitted file differ, and those of the manifest from its line on.
    assert found["checks"][-1]["mismatches"] > len((generated / "small_levinson.c").read_bytes())


def test_versions_other_than_text_are_a_damaged_bundle(run: Run, generated: Path, tmp_path: Path) -> None:
    assert run("verify", generated, "--flips", "0", "--on", "model", "-o", tmp_path / "good.zip")[0] == 0
    with zipfile.ZipFile(tmp_path / "good.zip") as good, zipfile.ZipFile(tmp_path / "bad.zip", "w") as bad:
        for name in good.namelist():
            text = good.read(name).decode()
            if name == "verified.json":
                text = json.dumps(json.loads(text) | {"versions": {"numpy": ["1"]}})
            bad.writestr(name, text)
    code, _, err = run("verify", tmp_path / "bad.zip", "--on", "model")
    assert code == 2 and "E336" in err


def test_an_error_in_a_bundle_names_the_bundle(run: Run, generated: Path, tmp_path: Path) -> None:
    assert run("verify", generated, "--flips", "0", "--on", "model", "-o", tmp_path / "good.zip")[0] == 0
    text = "[" * 100_000
    with zipfile.ZipFile(tmp_path / "good.zip") as good, zipfile.ZipFile(tmp_path / "bad.zip", "w") as bad:
        for name in good.namelist():
            held = good.read(name).decode()
            if name == "manifest.json":
                manifest = json.loads(held)
                manifest["files"]["vectors.json"] = hashlib.sha256(text.encode()).hexdigest()
                held = json.dumps(manifest, indent=1) + "\n"
            bad.writestr(name, text if name == "vectors.json" else held)
    code, _, err = run("verify", tmp_path / "bad.zip", "--on", "model")
    assert code == 2 and "E211" in err and str(tmp_path / "bad.zip") in err and "kerncast-" not in err


def test_a_restore_that_accepted_damage_would_be_counted(generated: Path) -> None:
    class Credulous:
        name = "credulous"

        def save(self) -> bytes:
            return bytes(100)

        def restore(self, image: bytes) -> None:
            pass

        def state(self) -> dict[str, np.ndarray]:
            return {}

    assert all(damage.missed == 5 for damage in damage_states(Credulous(), 5))
    model = open_model(make_plan(generated / "spec.toml"))
    assert not any(damage.missed for damage in damage_states(model, 5))


def test_an_invalid_bundle_is_refused_with_a_code(run: Run, generated: Path, tmp_path: Path) -> None:
    def code_of(given: Path) -> str:
        code, out, _ = run("verify", given, "--json")
        assert code == 2
        return json.loads(out)["errors"][0]["code"]

    (tmp_path / "text.zip").write_text("no archive")
    assert code_of(tmp_path / "text.zip") == "E336" == code_of(tmp_path / "absent.zip")
    assert "check the path" in run("verify", tmp_path / "absent.zip")[2]
    assert code_of(tmp_path) == "E305"
    with zipfile.ZipFile(tmp_path / "huge.zip", "w", zipfile.ZIP_DEFLATED) as file, \
            file.open("zeros", "w", force_zip64=True) as zeros:
        for _ in range(LARGEST_BYTES // (1 << 24) + 1):
            zeros.write(bytes(1 << 24))
    assert code_of(tmp_path / "huge.zip") == "E336"
    with zipfile.ZipFile(tmp_path / "outside.zip", "w") as file:
        file.writestr("manifest.json", json.dumps({"generator": "", "abi": 0, "name": "a", "plan": "b",
                                                   "spec": "c", "target": "", "files": {"../there": "0"}}))
    assert code_of(tmp_path / "outside.zip") == "E304" and not (tmp_path.parent / "there").exists()
    manifest = (generated / "manifest.json").read_text()
    (generated / "manifest.json").write_text(manifest.replace('"kerncast ', '"kerncast 9'))
    assert code_of(generated) == "E337"
    (generated / "manifest.json").write_text(manifest.replace('"spec.toml"', '"spec.tom"'))
    (generated / "spec.toml").rename(generated / "spec.tom")
    assert code_of(generated) == "E338"


def test_a_bundle_with_a_byte_changed_anywhere_is_refused_with_a_code(
        run: Run, generated: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "whole.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.write(generated / "manifest.json", "manifest.json")
    whole = (tmp_path / "whole.zip").read_bytes()
    for i in range(5, len(whole), len(whole) // 9):
        damaged = tmp_path / "damaged.zip"
        damaged.write_bytes(whole[:i] + bytes([whole[i] ^ 0x55]) + whole[i + 1:])
        code, out, _ = run("verify", damaged, "--json")
        assert (code, json.loads(out)["errors"][0]["code"][:2]) == (2, "E3")


def test_a_learner_with_ranges_from_samples_is_planned_again_from_them(tmp_path: Path) -> None:
    from kerncast.lab.workflow import prepare, shipped_spec

    folder = prepare(shipped_spec("digits"), tmp_path, tmp_path / "out").folder
    found = verify(folder, ["model"], 5, lambda text: None)
    assert found.mismatches == 0 and found.words > 7000
