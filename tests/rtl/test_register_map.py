"""One table of registers: SystemVerilog, C header, SystemRDL and IP-XACT agree with it."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

from kerncast.codegen.resources import resource
from kerncast.codegen.rtl import generate_rtl
from kerncast.codegen.rtl.axi import CORE_TYPES
from kerncast.codegen.rtl.registers import RegisterMap, register_map
from kerncast.sim.plan import ABI

from .conftest import make

MAP = register_map()
IPXACT = "{http://www.accellera.org/XMLSchema/IPXACT/1685-2014}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("map")
    generate_rtl(make("gains16"), path)
    return path / "rtl"


def test_the_addresses_of_the_systemverilog_are_those_of_the_table():
    text = resource("hw/rtl/kc_registers.sv").read_text()
    found = {name.lower(): int(value, 16) for name, value in re.findall(r"AT_(\w+) = 8'h(\w+)", text)}
    assert found == {register.name: register.offset for register in MAP.registers}
    assert f"MAP = 8'd{MAP.map};" in text


def test_the_c_header_holds_every_offset_and_mask_and_compiles(folder, tmp_path):
    wanted = {f"KC_CORE_{r.name}".upper(): r.offset for r in MAP.registers}
    wanted |= {f"KC_CORE_{r.name}_{f.name}_MASK".upper(): f.mask for r in MAP.registers for f in r.fields}
    wanted |= {f"KC_CORE_{name}".upper(): kind for name, kind in CORE_TYPES.items()}
    wanted |= {"GAINS_LEARNER_TYPE": 2, "GAINS_LEARNER_ERROR_STATE_MASK": 2, "GAINS_LEARNER_READ_MODEL": 2,
               "GAINS_LEARNER_READ_SLOTS": 4}
    lines = "".join(f'    if (({name}) != {value}u) return 1;\n' for name, value in wanted.items())
    (tmp_path / "t.c").write_text('#include "kc_core_regs.h"\n#include "gains_learner_regs.h"\n'
                                  f"int main(void)\n{{\n{lines}    return 0;\n}}\n")
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{folder}", "t.c",
                    "-o", "t"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "t"], check=True)


def test_the_ip_xact_holds_every_register_and_field(folder):
    root = ElementTree.parse(folder / "gains_learner.xml").getroot()
    found = {}
    for register in root.iter(f"{IPXACT}register"):
        at = int(register.findtext(f"{IPXACT}addressOffset").removeprefix("'h"), 16)
        fields = [(int(field.findtext(f"{IPXACT}bitOffset")), int(field.findtext(f"{IPXACT}bitWidth")))
                  for field in register.iter(f"{IPXACT}field")]
        found[register.findtext(f"{IPXACT}name")] = (at, fields)
    assert found == {r.name: (r.offset, [(f.low, f.bits) for f in r.whole]) for r in MAP.registers}


def test_the_systemrdl_compiles_to_the_registers_of_the_table(folder):
    systemrdl = pytest.importorskip("systemrdl", reason="skipped (systemrdl-compiler is not installed)")
    for core in ("learner", "predictor"):
        compiler = systemrdl.RDLCompiler()
        compiler.compile_file(str(folder / f"gains_{core}.rdl"))
        registers = list(compiler.elaborate().top.registers(unroll=False))
        found = {register.inst_name: (register.raw_address_offset,
                                      [(field.low, field.width) for field in register.fields()])
                 for register in registers}
        assert found == {r.name: (r.offset, [(f.low, f.bits) for f in r.parts]) for r in MAP.registers}
        assert all(field.get_property("singlepulse") for register in registers
                   for field in register.fields() if register.inst_name == "command")
        constants = {f"{register.inst_name}.{field.inst_name}": field.get_property("reset")
                     for register in registers for field in register.fields() if not field.is_hw_writable
                     and not field.is_sw_writable}
        assert constants == {"magic.value": 0x4B435354, "core.kind": CORE_TYPES[core], "core.map": MAP.map,
                             "core.abi": ABI, "size.value": 6, "shape.inputs": 3, "shape.outputs": 1,
                             "build.word": 16}


@pytest.mark.parametrize("wrong", [
    {"register": [{"name": "a", "offset": 0, "access": "r", "meaning": "a", "count": 2},
                  {"name": "b", "offset": 4, "access": "r", "meaning": "b"}]},
    {"register": [{"name": "a", "offset": 256, "access": "r", "meaning": "a"}]},
    {"register": [{"name": "a", "offset": 0, "access": "r", "meaning": "a", "fields": [
        {"name": "x", "low": 0, "bits": 2, "meaning": "x"},
        {"name": "y", "low": 1, "bits": 1, "meaning": "y"}]}]},
    {"register": [{"name": "a", "offset": 2, "access": "r", "meaning": "a"}]}],
    ids=["registers overlap", "beyond the space", "fields overlap", "not aligned"])
def test_a_table_that_contradicts_itself_is_refused(wrong):
    with pytest.raises(ValueError, match=r"overlaps|exceeds|multiple"):
        RegisterMap.model_validate({"map": 1, "bytes": 256, **wrong})
