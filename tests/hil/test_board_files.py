"""The files of boards and targets: what is refused in them, and a user's own beside the package's."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kerncast.cli.main import app
from kerncast.codegen.firmware import targets
from kerncast.codegen.firmware.targets import load_board
from kerncast.codegen.resources import OWN_FIRMWARE, read_text
from kerncast.sim.errors import EXIT_BAD_INPUT, KerncastError
from kerncast.sim.plan import Plan

File = Callable[..., Path]


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[File]:
    """Writes a file of the package's firmware with some of its text changed, into a folder of the user's."""
    def write(path: str, to: str, changes: dict[str, str]) -> Path:
        text = read_text(f"firmware/{path}")
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new, 1)
        written = tmp_path / "own" / to
        written.parent.mkdir(exist_ok=True, parents=True)
        written.write_text(text, encoding="utf-8")
        return written

    monkeypatch.setenv(OWN_FIRMWARE, str(tmp_path / "own"))
    for load in (targets.load_target, targets.load_board):
        load.cache_clear()
    yield write
    for load in (targets.load_target, targets.load_board):
        load.cache_clear()


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(a) for a in arguments], prog_name="kerncast")
    assert "Traceback" not in result.output
    return result.exit_code, result.stdout


@pytest.mark.parametrize(("old", "new", "code", "where", "remedy"), [
    ('id = "mine"', 'id = "yours"', "E324", " id", 'write id = "mine", or rename the file'),
    ('kind = "nrf51"', 'kind = "nrf52"', "E324", "[uart] kind", "did you mean nrf51?"),
    ('kind = "systick"', 'kind = "rtc"', "E324", "[counter] kind", "choose one of the allowed values, or "
                                                                   "add its file"),
    ("baud = 115200", "bauds = 115200", "E106", "[uart] baud", "add baud"),
    ("baud = 115200", 'baud = "115200"', "E107", "[uart] baud", "write one of the values allowed"),
    ("stack_bytes = 3072", "stack_bytes = 3071", "E108", "[memory] stack_bytes",
     "write one of the values allowed"),
    ("stack_bytes = 3072", "stack_bytes = 16384", "E324", "[memory]",
     "lower stack_bytes, or correct ram_bytes"),
    ("ram_origin = 0x20000000", "ram_origin = 0x1000", "E324", "[memory]",
     "correct flash_origin, flash_bytes, ram_origin or ram_bytes"),
    ("ticks = 256", "ticks = 128", "E324", "[counter]", "choose a faster counter"),
    ('unit = "instructions"', 'unit = "instruction"', "E109", "[counter] unit", "did you mean instructions?"),
    ('link = "module"', 'link = "modul"', "E109", "[emulators.unicorn] link", "did you mean module?"),
    ('args = ["unicorn_board"]', 'args = ["unicorn_board", 7]', "E107", "[emulators.unicorn] args",
     "write one of the values allowed"),
    ('"program {{elf}} verify', '"program {elff} verify', "E324", "[flashers.openocd] command",
     "write {elf}"),
    ("[memory]", "[memory", "E102", "", "correct this line; text is quoted, numbers are not")])
def test_an_error_in_a_boards_file_is_named(file: Callable[..., Path], old: str, new: str, code: str,
                                             where: str, remedy: str) -> None:
    file("boards/microbit.toml", "boards/mine.toml", {'id = "microbit"': 'id = "mine"', old: new})
    with pytest.raises(KerncastError) as caught:
        load_board("mine")
    found = {problem.code: problem for problem in caught.value.problems}[code]
    assert "/boards/mine.toml:" in found.where and found.where.endswith(where)
    assert found.remedy == remedy and found.allowed and "pydantic" not in str(caught.value)
    assert found.value or code == "E106"


def test_all_errors_of_a_file_are_reported_at_once_in_its_order(file: Callable[..., Path]) -> None:
    written = file("boards/nucleo-f446re.toml", "boards/mine.toml", {
        'target = "cortex-m4"': 'target = "cortex-m99"', "guard_log2": "gaurd_log2", '"stm32"': '"uart9"',
        "baud = 115200": 'baud = "x"', "clear = 0xF0": 'clear = "F0"', "{{elf}}": "{elf"})
    with pytest.raises(KerncastError) as caught:
        load_board("mine")
    lines = written.read_text(encoding="utf-8").splitlines()
    told = [(p.code, p.where.partition(" ")[2], lines[int(p.where.partition(" ")[0].rpartition(":")[2]) - 1])
            for p in caught.value.problems]
    assert [(code, where) for code, where, _ in told] == [
        ("E324", "id"), ("E324", "target"), ("E103", "[memory] gaurd_log2"), ("E324", "[uart] kind"),
        ("E107", "[uart] baud"), ("E107", "[setup] clear"), ("E324", "[flashers.openocd] command")]
    assert all(line.startswith(where.rpartition(" ")[2]) for _, where, line in told)
    _, core, guard, *_ = caught.value.problems
    assert core.value == '"cortex-m99"' and "cortex-m4" in core.allowed
    assert guard.remedy == "did you mean guard_log2?"
    assert told[5][2] == 'clear = "F0"'


def test_an_error_in_a_targets_file_is_named(file: Callable[..., Path]) -> None:
    file("targets/cortex-m4.toml", "targets/mine.toml", {"\ngcc =": "\ngc =", "ram_bytes": "ram_byte"})
    with pytest.raises(KerncastError) as caught:
        targets.load_target("mine")
    assert [(p.code, p.where.partition(" ")[2], p.remedy) for p in caught.value.problems] == [
        ("E324", "id", 'write id = "mine", or rename the file'),
        ("E103", "ram_byte", "did you mean ram_bytes?"),
        ("E324", "[flags] gc", "did you mean gcc?"), ("E106", "ram_bytes", "add ram_bytes")]


def test_a_wrong_file_hides_no_other_board_or_target(file: Callable[..., Path]) -> None:
    file("boards/microbit.toml", "boards/mine.toml", {"baud = 115200": 'baud = "x"'})
    file("targets/cortex-m4.toml", "targets/ours.toml", {"ram_bytes": "ram_byte"})
    for command, wrong in ((["targets"], {"mine", "ours"}), (["hil", "list"], {"mine"})):
        result = CliRunner().invoke(app, command, prog_name="kerncast")
        assert result.exit_code == EXIT_BAD_INPUT and "microbit" in result.stdout
        assert {name for name in ("mine", "ours") if f"/{name}.toml:" in result.stderr} == wrong
        code, text = run(*command, "--json")
        told = json.loads(text)
        assert code == EXIT_BAD_INPUT and "microbit" in {b["id"] for b in told["boards"]}
        assert {Path(e["where"].partition(":")[0]).stem for e in told["errors"]} == wrong
    assert run("targets", "cortex-m0")[0] == 0
    assert run("targets", "mine")[0] == EXIT_BAD_INPUT


# ---- files of the user -------------------------------------------------------------------------------------


def test_a_user_s_board_core_and_uart_give_the_model_s_values(
        file: File, folder: tuple[Plan, Path], require_tool: Callable[[str, str], str]) -> None:
    require_tool("qemu-system-arm", "make tools")
    file("targets/cortex-m4.toml", "targets/my-core.toml", {'id = "cortex-m4"': 'id = "my-core"'})
    file("uart/kc_uart_cmsdk.c", "uart/kc_uart_mine.c", {})
    file("boards/mps2-an386.toml", "boards/mine.toml", {
        'id = "mps2-an386"': 'id = "mine"', 'target = "cortex-m4"': 'target = "my-core"',
        'kind = "cmsdk"': 'kind = "mine"', 'kind = "cmsdk_timer"': 'kind = "none"'})
    code, out = run("hil", "run", folder[1], "--board", "mine", "--emulator", "qemu", "--json")
    told = json.loads(out)
    assert (code, told["mismatches"]) == (0, 0) and told["words"] > 8
    assert (told["costs"]["unit"], told["costs"]["counts"]) == (None, {})
    assert list((folder[1] / "build").rglob("kc_uart_mine.c"))
    listed = json.loads(run("targets", "--json")[1])
    assert {"mine", "mps2-an386"} <= {b["id"] for b in listed["boards"]}
    assert {"my-core", "cortex-m4"} <= {t["id"] for t in listed["targets"]}


def test_a_user_s_file_replaces_no_shipped_one(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    own = file("boards/microbit.toml", "boards/microbit.toml", {"baud = 115200": "baud = 9600"})
    code, out = run("targets", "microbit", "--json")
    (problem,) = json.loads(out)["errors"]
    assert (code, problem["code"], problem["where"]) == (EXIT_BAD_INPUT, "E324", str(own))
    monkeypatch.setenv(OWN_FIRMWARE, str(own.parent / "nowhere"))
    code, out = run("targets", "--json")
    (problem,) = json.loads(out)["errors"]
    assert (code, problem["code"], problem["where"]) == (EXIT_BAD_INPUT, "E324", OWN_FIRMWARE)
