"""`kerncast verify` compares foreign bytes; it never compiles, loads or runs them."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from .forging import forged

Run = Callable[..., tuple[int, str, str]]


def sources(folder: Path) -> list[str]:
    files = json.loads((folder / "manifest.json").read_text())["files"]
    return [name for name in files if name.endswith((".c", ".h"))]


def test_a_bundle_whose_every_file_tries_runs_nothing(run: Run, generated: Path, tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    attack = (f'\nextern int system(const char *);\n__attribute__((constructor)) static void attack(void)'
              f'{{ (void)system("touch {mark}"); }}\n').encode()
    for name in sources(generated):
        forged(generated, name, lambda data: data + attack)
    bundle = tmp_path / "evil.zip"
    with zipfile.ZipFile(bundle, "w") as file:
        for name in ("manifest.json", *json.loads((generated / "manifest.json").read_text())["files"]):
            file.write(generated / name, name)
        file.writestr("verified.json", '{"versions": {}}')
    for given in (generated, bundle):
        code, out, _ = run("verify", given, "--on", "host", "--flips", "5")
        assert code == 1 and out.startswith("NOT TRUSTED")
        assert not mark.exists()
    code, out, _ = run("verify", bundle, "--on", "host", "--json")
    found = json.loads(out)
    assert code == 1 and not found["trusted"] and not found["backends"] and not found["damage"]


@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
def test_changed_line_ends_differ(run: Run, generated: Path, end: bytes) -> None:
    forged(generated, "small_levinson.c", lambda data: data.replace(b"\n", end))
    code, out, _ = run("verify", generated, "--on", "model", "--flips", "0")
    assert code == 1 and "small_levinson.c" in out.splitlines()[0]


@pytest.mark.parametrize(("key", "value"), [("name", "../x"), ("abi", 99), ("spec", "x")])
def test_a_forged_manifest_differs(run: Run, generated: Path, key: str, value: object) -> None:
    manifest = json.loads((generated / "manifest.json").read_text())
    (generated / "manifest.json").write_text(json.dumps(manifest | {key: value}, indent=1) + "\n")
    code, out, _ = run("verify", generated, "--on", "model", "--flips", "0", "--json")
    assert code == 1 and json.loads(out)["checks"][-1]["first"] == "manifest.json"


def test_a_member_not_in_the_manifest_is_refused(run: Run, generated: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "more.zip"
    assert run("verify", generated, "--flips", "0", "--on", "model", "-o", bundle)[0] == 0
    with zipfile.ZipFile(bundle, "a") as file:
        file.writestr("small_extra.c", "int x;\n")
    code, _, err = run("verify", bundle, "--on", "model")
    assert code == 2 and "E336" in err and "small_extra.c" in err


@pytest.mark.covering
@pytest.mark.parametrize("name", ["manifest.json", "plan.json", "vectors.json", "verified.json"])
@pytest.mark.parametrize("text", ["[" * 100_000, '{"files": {"\\ud800": "x"}, "versions": {"\\ud800": "x"}}'],
                         ids=["deep", "surrogate"])
def test_hostile_json_is_refused_or_differs(run: Run, generated: Path, tmp_path: Path, name: str,
                                            text: str) -> None:
    bundle = tmp_path / "good.zip"
    assert run("verify", generated, "--flips", "0", "--on", "model", "-o", bundle)[0] == 0
    with zipfile.ZipFile(bundle) as good, zipfile.ZipFile(tmp_path / "bad.zip", "w") as bad:
        for member in good.namelist():
            bad.writestr(member, text if member == name else good.read(member))
    code, _, err = run("verify", tmp_path / "bad.zip", "--on", "model")
    assert code in (1, 2) and "Traceback" not in err
