"""The reader of C knows C: types, conversions, and what is undefined, for an `int` of 32 and of 16 bits."""

from random import Random

import pytest
import z3

from kerncast.benchmarks.proofs.arithmetic import Bits, Integers, numeral
from kerncast.benchmarks.proofs.c_source import Refused, header_texts, parse
from kerncast.benchmarks.proofs.c_terms import Execution
from kerncast.benchmarks.proofs.c_types import CPointer, CType
from kerncast.benchmarks.proofs.c_values import Variable
from kerncast.sim import primitives

BOTH = pytest.mark.parametrize("arithmetic", [Bits(), Integers()], ids=["bits", "integers"])


def run(body, arguments, arithmetic, int_bits=32, types=None):
    """Value of `int64_t f(...) { body }`, and what was at fault on these arguments."""
    kinds = types or dict.fromkeys(arguments, "int64_t")
    text = ", ".join(f"{kinds[name]} {name}" for name in arguments)
    program = parse({"f.h": f"static inline int64_t f({text}) {{ {body} }}"})
    execution = Execution(program, arithmetic, int_bits)
    given = {name: Variable(arithmetic.literal(value, execution.parameters("f")[name]),
                            execution.parameters("f")[name], z3.BoolVal(True))
             for name, value in arguments.items()}
    result, _ = execution.body("f", given, z3.BoolVal(True))
    found = z3.simplify(result.term)
    value = found.as_signed_long() if z3.is_bv_value(found) else numeral(found)
    return value, [fault.what for fault in execution.faults if z3.is_true(z3.simplify(fault.condition))]


@BOTH
@pytest.mark.parametrize(("body", "arguments", "value"), [
    ("return a + b * 3;", {"a": 5, "b": -7}, -16),
    ("return a / b;", {"a": -7, "b": 2}, -3),
    ("return a % b;", {"a": -7, "b": 2}, -1),
    ("return a / b;", {"a": -7, "b": -2}, 3),
    ("return ~a;", {"a": 4}, -5),
    ("return a >> 3;", {"a": 100}, 12),
    ("return a < 0 ? -a : a;", {"a": -9}, 9),
    ("int64_t n = 0; int32_t i; for (i = 0; i < 5; i++) { n += a; } return n;", {"a": 3}, 15),
    ("if (a > 3) { return 1; } return 2;", {"a": 3}, 2),
    ("return (a != 0 && 6 / a == 2) || a == 0;", {"a": 0}, 1),
    ("return (int64_t)((uint64_t)a >> 60);", {"a": -1}, 15),
    ("return (int64_t)((uint64_t)a & 7U);", {"a": -3}, 5),
    ("return 1U - 2U > 0U;", {}, 1),
    ("return -1 < 1U;", {}, 0),
])
def test_value_is_c_s(arithmetic, body, arguments, value):
    assert run(body, arguments, arithmetic) == (value, [])


@BOTH
@pytest.mark.parametrize(("body", "arguments", "fault"), [
    ("return a + 1;", {"a": 2**63 - 1}, "signed overflow"),
    ("return a - 1;", {"a": -(2**63)}, "signed overflow"),
    ("return -a;", {"a": -(2**63)}, "signed overflow"),
    ("return a * a;", {"a": 2**32}, "signed overflow"),
    ("return a << 1;", {"a": 2**62}, "signed overflow"),
    ("return a << 64;", {"a": 0}, "shift by an amount out of range"),
    ("return a >> -1;", {"a": 0}, "shift by an amount out of range"),
    ("return a >> 1;", {"a": -1}, "shift of a negative number"),
    ("return a / 0;", {"a": 1}, "division by zero, or without a quotient"),
    ("return a % -1;", {"a": -(2**63)}, "division by zero, or without a quotient"),
    ("return (int32_t)a;", {"a": 2**31}, "conversion to a signed type that cannot hold the value"),
    ("int64_t b; return a + b;", {"a": 1}, "read before it is written"),
    ("int64_t b; if (a > 1) { b = 2; } return b;", {"a": 1}, "read before it is written"),
    ("if (a > 1) { return 1; }", {"a": 1}, "end of a function that owes a value"),
])
def test_what_c_does_not_define_is_noticed(arithmetic, body, arguments, fault):
    assert fault in run(body, arguments, arithmetic)[1]


@BOTH
def test_unreachable_code_is_not_at_fault(arithmetic):
    assert run("return a == 0 ? 0 : 6 / a;", {"a": 0}, arithmetic) == (0, [])
    assert run("if (a == 0) { return 1; } return 6 / a;", {"a": 0}, arithmetic) == (1, [])


@BOTH
@pytest.mark.parametrize(("body", "wide", "narrow"), [
    ("return a * a;", [], ["signed overflow"]),
    ("return 1 << 15;", [], ["signed overflow"]),
    ("return 1 << 16;", [], ["shift by an amount out of range"]),
    ("return 40000 + 1;", [], []),  # a constant takes the type that holds it
])
def test_an_int_of_sixteen_bits_differs_from_one_of_thirty_two(arithmetic, body, wide, narrow):
    types = {"a": "int16_t"}
    assert run(body, {"a": 200}, arithmetic, 32, types)[1] == wide
    assert set(narrow) <= set(run(body, {"a": 200}, arithmetic, 16, types)[1])
    assert bool(narrow) == bool(run(body, {"a": 200}, arithmetic, 16, types)[1])


@pytest.mark.parametrize("text", [
    "#if 1\n#endif", "static int64_t g;", "static inline long f(void) { return 1; }",
    "static inline int64_t f(int64_t a) { while (a) { a = 0; } return a; }",
    "static inline int64_t f(int64_t a) { return f(a = 1); }",
    "static inline int64_t f(int64_t a) { return 1L; }",
])
def test_c_that_the_reader_does_not_know_is_refused(text):
    with pytest.raises(Refused):
        program = parse({"f.h": text})
        for arithmetic in (Bits(), Integers()):
            execution = Execution(program, arithmetic, 32)
            a = Variable(arithmetic.literal(1, CType(64, True)), CType(64, True), z3.BoolVal(True))
            execution.body("f", {"a": a}, z3.BoolVal(True))


def test_every_header_that_ships_is_read():
    assert set(header_texts()) == {f"kc_{name}.h"
                                   for name in ("arith", "bits", "block", "cast", "exp2", "abs_sinpi")}
    assert {f"kc_{name}" for name in primitives.PRIMITIVES} - set(parse().functions) == {"kc_block_scale"}


RANGES = {"s": (0, 62), "rounding": (0, 2), "bits": (1, 63), "v": (1, 2**61), "den": (1, 2**60),
          "num": (0, 2**60), "c": (0, 2**20), "a": (0, 2**40), "b": (-(2**20), 2**20),
          "lo": (-(2**40), 0), "hi": (0, 2**40), "acc": (0, 2**60), "u": (-(2**20), 2**20)}
POINTERS = ("divide", "block_scale", "exp2_16", "exp2_32", "abs_sinpi")
SCALAR = [name for name in primitives.PRIMITIVES if name not in POINTERS]


@pytest.mark.covering
@BOTH
@pytest.mark.parametrize("name", SCALAR)
def test_terms_of_the_c_evaluate_to_the_values_of_the_model(arithmetic, name, ledger):
    program, chance, wrong = parse(), Random(7), 0
    for _ in range(25):
        execution = Execution(program, arithmetic, 16)
        kinds = execution.parameters(f"kc_{name}")
        assert not any(isinstance(kind, CPointer) for kind in kinds.values())
        bounds = {**RANGES, "v": (0, 2**20)} if name == "square_diff" else RANGES
        values = {key: chance.randint(*bounds[key]) for key in kinds}
        if name == "mul_shift":
            values["c"] >>= 0 if values["s"] > 1 else 1
        given = {key: Variable(arithmetic.literal(values[key], kind), kind, z3.BoolVal(True))
                 for key, kind in kinds.items()}
        result, _ = execution.body(f"kc_{name}", given, z3.BoolVal(True))
        found = z3.simplify(result.term)
        word = found.as_signed_long() if isinstance(arithmetic, Bits) else found.as_long()
        wrong += word != int(getattr(primitives, name)(*values.values()))
        assert not any(z3.is_true(z3.simplify(fault.condition)) for fault in execution.faults)
    ledger.record(backend="z3 terms of the C", words=25, mismatches=wrong, case=name)
