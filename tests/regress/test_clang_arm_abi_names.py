"""clang calls __aeabi_memclr4 where C clears a structure; gcc's runtime, which it links with, has none."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kerncast.codegen.firmware.image import build_image
from kerncast.codegen.firmware.targets import load_board
from kerncast.sim.errors import KerncastError

_PORT = Path(__file__).parents[1] / "hil" / "fixtures" / "tiny_port.c"
_CLEARS = """
#include <stdint.h>
uint32_t cleared(void);
uint32_t cleared(void)
{
    volatile struct { uint32_t word[60]; } all = {{0}};
    return all.word[7];
}
"""


@pytest.fixture
def build(tmp_path: Path, require_tool: Callable[[str, str], str]) -> Callable[[str], object]:
    """``build(text)``: an image of the tiny port with this C, by clang without optimisation."""
    for tool in ("clang", "arm-none-eabi-gcc"):
        require_tool(tool, "make tools")
    port = _PORT.read_text(encoding="utf-8").replace(
        "static uint32_t predict(uint32_t count)\n{", "uint32_t cleared(void);\n"
        "static uint32_t predict(uint32_t count)\n{\n    count += cleared();")
    assert "cleared();" in port
    return lambda text: build_image({"tiny_port.c": port, "cleared.c": text}, [], [], load_board("microbit"),
                                    compiler="clang", optimise="-O0", build_dir=tmp_path)


def test_clang_finds_the_names_of_arms_abi(build: Callable[[str], object]) -> None:
    build(_CLEARS)


def test_undefined_symbols_are_reported_before_the_linker_s_warnings(build: Callable[[str], object]) -> None:
    with pytest.raises(KerncastError, match="undefined reference to `cleared'") as caught:
        build("typedef int none;\n")
    assert caught.value.problems[0].code == "E320"
