"""Building images: what is refused, what is measured, and that the same plan gives the same bytes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kerncast.codegen.build.toolchains import compilers
from kerncast.codegen.firmware.image import (
    OPTIMISATIONS,
    FirmwareImage,
    buffer_samples,
    build_firmware,
    build_image,
    render_board_files,
    render_port,
)
from kerncast.codegen.firmware.targets import board_ids, load_board, load_target, target_ids
from kerncast.codegen.generate import generate
from kerncast.sim.errors import EXIT_TOOL_MISSING, KerncastError
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

BOARD = load_board("mps2-an386")


def a_plan(columns: int = 64) -> Plan:
    return make_plan(Spec(
        model={"name": "tiny", "algorithm": "kernel_lms"}, input={"word": "u5f0", "columns": columns},
        output={"word": "s2f0"}, kernel={"sigma": 20.0}, online={"budget": 5, "eta": 0.1}))


def refused(code: str, **choices: object) -> KerncastError:
    files = choices.pop("files", {})
    with pytest.raises(KerncastError) as caught:
        build_image(files, [], [], choices.pop("board", BOARD), **choices)  # type: ignore[arg-type]
    assert caught.value.problems[0].code == code
    return caught.value


def test_every_board_names_a_target_that_there_is() -> None:
    for name in board_ids():
        board = load_board(name)
        assert board.id == name and board.target in target_ids()
        assert set(compilers(load_target(board.target))) == set(load_target(board.target).flags) != set()
        assert all(e.install for e in board.emulators.values())


def test_an_unknown_board_or_target_is_refused_with_a_list() -> None:
    for load, code, known in ((load_board, "E322", "mps2-an386"), (load_target, "E323", "cortex-m4")):
        for name in ("arduino", "../targets/cortex-m4", ""):
            with pytest.raises(KerncastError, match=known) as caught:
                load(name)
            assert caught.value.problems[0].code == code


def test_an_unknown_compiler_or_optimisation_is_refused(tmp_path: Path) -> None:
    assert "-Os" in str(refused("E325", build_dir=tmp_path, optimise="-Ofast"))
    assert "zig" in str(refused("E325", build_dir=tmp_path, compiler="armcc"))
    assert list(tmp_path.iterdir()) == []
    assert "-ffast-math" not in OPTIMISATIONS


def test_a_missing_compiler_is_named_with_the_command_that_installs_it(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    apt, pip = "apt-get install", "pip install"
    for compiler, command in (("gcc", apt), ("clang", apt), ("zig", pip), ("auto", pip)):
        error = refused("E511", build_dir=tmp_path, compiler=compiler)
        assert error.exit_code == EXIT_TOOL_MISSING and command in error.problems[0].remedy
    assert list(tmp_path.iterdir()) == []


def test_c_that_does_not_compile_is_refused_with_the_compiler_s_message(tmp_path: Path) -> None:
    error = refused("E320", build_dir=tmp_path, files={"tiny_port.c": "int broken(void) { return; }\n"})
    assert "tiny_port.c" in str(error) and str(tmp_path) not in str(error)


def test_an_image_too_large_for_the_board_is_refused_with_the_bytes(tmp_path: Path, tiny_port: str) -> None:
    small = BOARD.model_copy(update={"memory": BOARD.memory.model_copy(update={"ram_bytes": 16900})})
    error = refused("E326", build_dir=tmp_path, board=small, files={"tiny_port.c": tiny_port})
    assert "16900 of RAM" in str(error) and "overflow" in error.problems[0].value


def test_a_folder_without_a_library_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KerncastError) as caught:
        build_firmware(tmp_path, a_plan())
    assert caught.value.problems[0].code == "E305"
    assert list(tmp_path.iterdir()) == []


def test_flash_and_ram_are_those_of_the_image(tiny_image: FirmwareImage) -> None:
    buffers = 300 * (4 + 2 + 2 + 1)
    assert buffers < tiny_image.ram_bytes < buffers + 2048
    assert 1024 < tiny_image.flash_bytes < 16384
    assert tiny_image.stack_bytes == BOARD.memory.stack_bytes


def test_the_same_plan_renders_the_same_bytes_without_a_path() -> None:
    texts = [render_port(a_plan()), *render_board_files(BOARD).values()]
    assert texts == [render_port(a_plan()), *render_board_files(BOARD).values()]
    assert not any(str(Path.home()) in text or str(Path.cwd()) in text for text in texts)


@pytest.mark.usefixtures("compile_anew")
def test_the_same_sources_give_the_same_image(tmp_path: Path, tiny_port: str) -> None:
    images = [build_image({"tiny_port.c": tiny_port}, [], [], BOARD, build_dir=tmp_path / name)
              for name in ("one", "another")]
    assert images[0].elf.read_bytes() == images[1].elf.read_bytes()


@pytest.mark.parametrize("columns", [1, 64, 4096, 5000])
def test_the_buffers_hold_one_sample_at_least_and_a_batch_at_most(columns: int) -> None:
    plan = a_plan(64)
    sizes = {**plan.sizes, "D": columns}
    object.__setattr__(plan, "sizes", sizes)
    assert 1 <= buffer_samples(plan) <= 128
    assert buffer_samples(plan) == 1 or buffer_samples(plan) * columns <= 4096


def test_a_count_is_exact_whatever_its_reading() -> None:
    counter = BOARD.counter
    counts = [*range(5000), *range((1 << 31) - 50, (1 << 31) + 50)]
    assert [counter.units(counter.reading(count)) for count in counts] == counts


def test_an_image_whose_calls_may_outgrow_the_stack_of_the_board_is_refused(
        tmp_path: Path, require_tool: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    plan = a_plan()
    generate(plan, tmp_path)
    needed = build_firmware(tmp_path, plan, "mps2-an386", compiler="gcc").deepest_stack
    assert needed is not None and 256 < needed < 1024
    shallow = BOARD.model_copy(update={"memory": BOARD.memory.model_copy(update={"stack_bytes": 256})})
    monkeypatch.setattr("kerncast.codegen.firmware.image.load_board", lambda name: shallow)
    with pytest.raises(KerncastError, match=f"{needed} bytes at -O2 of gcc") as caught:
        build_firmware(tmp_path, plan, "mps2-an386", compiler="gcc")
    assert caught.value.problems[0].code == "E328"
    assert "256 bytes" in str(caught.value)


def test_the_deepest_stack_of_an_image_is_known_at_every_level_of_gcc(
        tmp_path: Path, require_tool: Callable[[str, str], str]) -> None:
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    plan = a_plan()
    generate(plan, tmp_path)
    for optimise in ("-O0", "-Os"):
        image = build_firmware(tmp_path, plan, "microbit", compiler="gcc", optimise=optimise)
        assert image.worst_stack is not None and image.deepest_stack is not None
        assert max(image.worst_stack.values()) < image.deepest_stack < image.stack_bytes
