"""proofs: define each primitive with exact integers, for comparison with the C.

A definition states which result is correct, not how to compute it. For example, the floor of x / 2^s is *the*
q with q 2^s <= x < (q + 1) 2^s. In such a definition, q is a `free` variable, and the proof holds for all of
its values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

import z3

from .arithmetic import Bits, Integers, Term
from .c_terms import Turn
from .exact import Exact, absolute


@dataclass(frozen=True)
class Run:
    """Symbolic execution with exact values: arguments, result, and final variables."""

    m: Exact
    a: SimpleNamespace
    r: Term
    end: SimpleNamespace
    turns: list[Turn]
    call: Callable[..., Term]


@dataclass(frozen=True)
class Fact:
    """Lemma about integers that supports a proof.

    Products of two unknowns are difficult for z3. Lemmas state bounds on such products, or that equal factors
    have equal products. A lemma is proved for arbitrary integers, and is used for the given `arguments`.
    """

    scheme: Callable[..., Term]
    arguments: tuple[Term, ...]

    @property
    def instance(self) -> Term:
        """Return the lemma as a z3 term, for the given arguments."""
        return self.scheme(*self.arguments)

    @property
    def general(self) -> Term:
        """Return the lemma as a z3 term, for arbitrary integers."""
        return self.scheme(*(z3.Int(f"any_{i}") for i in range(len(self.arguments))))


def congruent(a: Term, b: Term, x: Term, y: Term) -> Term:
    """Return the lemma that a b = x y follows from a = x and b = y."""
    return z3.Implies(z3.And(a == x, b == y), a * b == x * y)


def bounded(a: Term, b: Term, most: int) -> Term:
    """Return the lemma that 0 <= a b <= most * b if 0 <= a <= most and b >= 0."""
    return z3.Implies(z3.And(a >= 0, a <= most, b >= 0), z3.And(a * b >= 0, a * b <= most * b))


def no_steps(run: Run) -> list[Term | Fact]:
    """Return no steps, for claims that z3 proves directly."""
    return []


@dataclass(frozen=True)
class Claim:
    """Claim that a C function is equal to its definition, under a precondition.

    `split` contains arguments for which each value is proved separately. For the arguments in `parts`, this
    applies to the high bits; the entry also states the number of low bits. `arrays` contains the lengths of
    array parameters, and `contracts` the called functions that are replaced by their definitions, which are
    proved elsewhere. The `steps` are proved in order, each with the help of the previous ones; the definition
    is proved with the help of all of them.
    """

    primitive: str
    prototype: str
    operands: str
    given: str
    says: str
    arithmetic: type[Bits] | type[Integers]
    requires: Callable[[Run], Term]
    ensures: Callable[[Run], Term]
    split: Mapping[str, Sequence[int]] = field(default_factory=dict)
    parts: Mapping[str, tuple[range, int]] = field(default_factory=dict)
    arrays: Mapping[str, int | str] = field(default_factory=dict)
    contracts: tuple[str, ...] = ()
    steps: Callable[[Run], list[Term | Fact]] = no_steps

    @property
    def function(self) -> str:
        """Return the name of the C function."""
        return self.prototype.partition("(")[0].split()[-1]

    @property
    def key(self) -> str:
        """Return the unique name of the claim."""
        return f"{self.primitive}, {self.operands}"


# ---- casts ----
def _rounding(run: Run) -> Term:
    return z3.And(run.m.between(0, run.a.s, 62), run.m.between(0, run.a.rounding, 2))


def _aligned(run: Run, q: Term) -> Term:
    """Return the condition that q is ``floor(v / 2**s)``, or ``v * 2**-s`` if s < 0."""
    m, a = run.m, run.a
    return z3.If(a.s >= 0, m.is_floor(q, a.v, a.s), q == m.times_power(a.v, -a.s))


def _align_given(run: Run) -> Term:
    m, a = run.m, run.a
    return z3.And(m.between(-62, a.s, 62), z3.Implies(a.s < 0, m.fits(m.times_power(a.v, -a.s))))


def _nearest(run: Run) -> Term:
    m, a = run.m, run.a
    w = m.free("w")
    return z3.And(m.between(a.lo, run.r, a.hi),
                  z3.Implies(m.between(a.lo, w, a.hi), absolute(run.r - a.v) <= absolute(w - a.v)))


def _narrowed(run: Run) -> Term:
    m, a = run.m, run.a
    q = m.free("q")
    rounded = z3.If(a.s >= 0, m.is_rounded(q, a.v, a.s, a.rounding), q == m.times_power(a.v, -a.s))
    return z3.Implies(rounded, run.r == z3.If(q < a.lo, a.lo, z3.If(q > a.hi, a.hi, q)))


SHIFT_FLOOR = Claim(
    "shift_round (floor)", "int64_t kc_shift_floor(int64_t v, int32_t s)",
    "v: 64 bits", "0 <= s <= 62",
    "q with q 2^s <= v < (q + 1) 2^s", Bits,
    lambda run: run.m.between(0, run.a.s, 62),
    lambda run: run.m.is_floor(run.r, run.a.v, run.a.s))
SHIFT_ROUND = Claim(
    "shift_round", "int64_t kc_shift_round(int64_t v, int32_t s, int32_t rounding)",
    "v: 64 bits", "0 <= s <= 62",
    "floor(v / 2^s), floor(v / 2^s + 1/2), or the integer nearest to v / 2^s and even at a tie", Integers,
    _rounding, lambda run: run.m.is_rounded(run.r, run.a.v, run.a.s, run.a.rounding),
    split={"rounding": range(3), "s": range(63)})
ALIGN = Claim(
    "arithmetic_shift", "int64_t kc_arithmetic_shift(int64_t v, int32_t s)",
    "v: 64 bits", "-62 <= s <= 62; v 2^-s fits 64 bits where s < 0",
    "floor(v / 2^s); v 2^-s for s < 0", Bits,
    _align_given, lambda run: _aligned(run, run.r), split={"s": range(-62, 63)})
SATURATE = Claim(
    "saturate", "int64_t kc_saturate(int64_t v, int64_t lo, int64_t hi)",
    "v, lo, hi: 64 bits", "lo <= hi",
    "the word w of [lo, hi] with the least |w - v|", Integers,
    lambda run: run.a.lo <= run.a.hi, _nearest)
WRAP = Claim(
    "wrap", "int64_t kc_wrap(int64_t v, int32_t bits)",
    "v: 64 bits", "1 <= bits <= 63",
    "the r of [-2^(bits-1), 2^(bits-1)) for which 2^bits divides v - r", Bits,
    lambda run: run.m.between(1, run.a.bits, 63),
    lambda run: z3.And(
        run.m.is_multiple(run.a.v - run.r, run.a.bits),
        run.m.between(-run.m.times_power(run.m.one, run.a.bits - 1), run.r,
                      run.m.times_power(run.m.one, run.a.bits - 1) - 1)))
NARROW = Claim(
    "requantise", "int64_t kc_requantise(int64_t v, int32_t s, int32_t rounding, int64_t lo, int64_t hi)",
    "v, lo, hi: 64 bits", "lo <= hi; -62 <= s <= 62; v 2^-s fits 64 bits where s < 0",
    "q = v / 2^s rounded as by shift_round, or v 2^-s; lo if q < lo, hi if q > hi, else q", Integers,
    lambda run: z3.And(_align_given(run), run.m.between(0, run.a.rounding, 2), run.a.lo <= run.a.hi),
    _narrowed, split={"rounding": range(3), "s": range(-62, 63)},
    contracts=("kc_arithmetic_shift", "kc_shift_round"))


# ---- products ----
def _mac(operands: str, given: str, requires: Callable[[Run], Term]) -> Claim:
    def result_fits(run: Run) -> Term:
        q = run.m.free("q")
        return z3.And(run.m.is_floor(q, run.a.a * run.a.b, run.a.s), run.m.fits(run.a.acc + q))

    return Claim(
        "mac", "int64_t kc_mac(int64_t acc, int64_t a, int64_t b, int32_t s)",
    operands, f"0 <= s <= 62; {given}the result fits 64 bits",
        "acc + floor(a b / 2^s)", Integers,
        lambda run: z3.And(requires(run), result_fits(run)),
        lambda run: z3.And(run.r == run.a.acc + run.m.free("q")), split={"s": range(63)})


def _words(run: Run, bits: int, *names: str) -> Term:
    """Return the condition that arguments are at most ``2**(bits - 1)`` in magnitude.

    The limit itself is included, because a fraction may be 1.0.
    """
    most = 1 << (bits - 1)
    return z3.And(*(run.m.between(-most, getattr(run.a, name), most) for name in names))


MAC_16 = _mac("a, b: 16 bits, acc: 64 bits", "|a|, |b| <= 2^15; ", lambda run: _words(run, 16, "a", "b"))
MAC_32 = _mac("a, b: 32 bits, acc: 64 bits", "|a|, |b| <= 2^31; ", lambda run: _words(run, 32, "a", "b"))
MAC_64 = _mac("a, b, acc: 64 bits", "a b fits 64 bits; ", lambda run: run.m.fits(run.a.a * run.a.b))


def _square(run: Run) -> Term:
    return run.a.acc + (run.a.u - run.a.v) * (run.a.u - run.a.v)


def _square_diff(operands: str, given: str, requires: Callable[[Run], Term]) -> Claim:
    return Claim(
        "square_diff", "int64_t kc_square_diff(int64_t acc, int64_t u, int64_t v)",
    operands, f"{given}0 <= acc; the result fits 64 bits",
        "acc + (u - v)^2", Integers,
        lambda run: z3.And(requires(run), run.a.acc >= 0, run.m.fits(_square(run))),
        lambda run: run.r == _square(run))


SQUARE_16 = _square_diff("u, v: 16 bits, acc: 64 bits", "|u|, |v| <= 2^16; ",
                         lambda run: _words(run, 17, "u", "v"))
SQUARE_32 = _square_diff("u, v: 32 bits, acc: 64 bits", "|u|, |v| <= 2^31; ",
                         lambda run: _words(run, 32, "u", "v"))
SQUARE_64 = _square_diff("u, v, acc: 64 bits", "u - v fits 64 bits; ",
                         lambda run: run.m.fits(run.a.u - run.a.v))


def _abs_diff_given(run: Run) -> Term:
    m, a = run.m, run.a
    return z3.And(a.acc >= 0, m.fits(a.u - a.v), m.fits(a.v - a.u), m.fits(a.acc + absolute(a.u - a.v)))


ABS_DIFF = Claim(
    "abs_diff", "int64_t kc_abs_diff(int64_t acc, int64_t u, int64_t v)",
    "acc, u, v: 64 bits", "0 <= acc; u - v, v - u and the result fit 64 bits",
    "acc + |u - v|", Integers,
    _abs_diff_given, lambda run: run.r == run.a.acc + absolute(run.a.u - run.a.v))


def _mul_shift_given(run: Run) -> Term:
    m, a = run.m, run.a
    q = m.free("q")
    return z3.And(a.a >= 0, m.between(0, a.c, (1 << 31) - 1), m.is_floor(q, a.a * a.c, a.s), m.fits(q))


MUL_SHIFT = Claim(
    "mul_shift", "int64_t kc_mul_shift(int64_t a, int64_t c, int32_t s)",
    "a: 63 bits, c: 31 bits",
    "0 <= a; 0 <= c < 2^31; 0 <= s <= 62; the result is below 2^63", "floor(a c / 2^s)", Integers,
    _mul_shift_given, lambda run: run.r == run.m.free("q"), split={"s": range(63)})

# ---- lengths ----
MAGNITUDE = Claim(
    "magnitude", "int64_t kc_magnitude(int64_t v)",
    "v: 64 bits", "", "v, or -v - 1 for v < 0", Bits,
    lambda run: z3.BoolVal(True),
    lambda run: run.r == z3.If(run.a.v < 0, -run.a.v - 1, run.a.v))
BIT_LENGTH = Claim(
    "bit_length", "int32_t kc_bit_length(int64_t v)",
    "v: 63 bits", "0 <= v",
    "the r with 2^(r-1) <= v < 2^r; 0 for v = 0", Bits,
    lambda run: run.a.v >= 0,
    lambda run: z3.If(run.a.v == 0, run.r == 0, z3.And(
        run.m.between(1, run.r, 63), run.a.v < run.m.times_power(run.m.one, run.r),
        run.m.times_power(run.m.one, run.r) <= 2 * run.a.v)))
NORMALISE = Claim(
    "normalisation_shift", "int32_t kc_normalisation_shift(int64_t v)",
    "v: 62 bits", "0 < v < 2^62",
    "the e with 0 <= e <= 61 and 2^61 <= v 2^e < 2^62", Bits,
    lambda run: z3.And(run.a.v > 0, run.a.v < 1 << 62),
    lambda run: z3.And(run.m.between(0, run.r, 61), run.m.times_power(run.a.v, run.r) >= 1 << 61,
                       run.m.times_power(run.a.v, run.r) < 1 << 62))

# ---- quotients ----
FLOOR_DIV = Claim(
    "divide (floor)", "int64_t kc_floor_div(int64_t num, int64_t den)",
    "num, den: 64 bits", "0 < den",
    "the q with q den <= num < (q + 1) den", Integers,
    lambda run: run.a.den > 0,
    lambda run: z3.And(run.r * run.a.den <= run.a.num, run.a.num < (run.r + 1) * run.a.den))


def _divided(run: Run) -> Term:
    """Return the condition that the result is the quotient of the normalised operands.

    The divisor consists of the 31 most significant bits of the normalised denominator. The quotient is
    rounded down.
    """
    m, a = run.m, run.a
    size = absolute(a.num)
    up, up_den = run.call("kc_normalisation_shift", size), run.call("kc_normalisation_shift", a.den)
    n, d = m.times_power(size, up), m.free("d")
    signed = z3.If(a.num < 0, -n, n)
    is_d = m.is_floor(d, m.times_power(a.den, up_den), 31)
    below = n < m.times_power(d, 31)
    over = z3.If(below, d, 2 * d)
    right = z3.And(run.r * over <= signed, signed < (run.r + 1) * over,
                   m.between(1 << 30, absolute(run.r), 1 << 31),
                   run.end.exponent[0] == up_den - up + z3.If(below, m.one - 1, m.one))
    return z3.If(a.num == 0, z3.And(run.r == 0, run.end.exponent[0] == 0), z3.Implies(is_d, right))


DIVIDE = Claim(
    "divide", "int64_t kc_divide(int64_t num, int64_t den, int32_t *exponent)",
    "num: 63 bits signed, den: 62 bits", "|num| < 2^62; 0 < den < 2^62",
    "up, up_den normalise |num|, den; d = floor(den 2^up_den / 2^31); h = 0 where |num| 2^up < d 2^31, "
    "else 1; q = floor(num 2^up / (d 2^h)), e = up_den - up + h, 2^30 <= |q| <= 2^31; q = e = 0 for num = 0",
    Integers,
    lambda run: z3.And(absolute(run.a.num) < 1 << 62, run.a.den > 0, run.a.den < 1 << 62),
    _divided, arrays={"exponent": 1}, contracts=("kc_normalisation_shift",))
DIVIDE_ROUND = Claim(
    "divide_round", "int64_t kc_divide_round(int64_t num, int64_t den)",
    "num, den: 61 bits", "0 <= num < 2^61; 0 < den < 2^61",
    "the q with q 2 den <= 2 num + den < (q + 1) 2 den", Integers,
    lambda run: z3.And(run.m.between(0, run.a.num, (1 << 61) - 1),
                       run.m.between(1, run.a.den, (1 << 61) - 1)),
    lambda run: z3.And(run.r * (2 * run.a.den) <= 2 * run.a.num + run.a.den,
                       2 * run.a.num + run.a.den < (run.r + 1) * (2 * run.a.den)))
