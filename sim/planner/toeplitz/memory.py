"""sim.planner.toeplitz: model and trainer structures of the Toeplitz trainer."""

from __future__ import annotations

from collections.abc import Mapping

from ...choices import LOOKAHEADS
from ...plan import SIZE_KEYS, Field
from ...spec import Spec
from ..certify import BOUND_FIELD, NORM_FIELDS
from ..counts import TRAINER_FIELDS, memory
from .geometric import BLOCK_ROWS, has_geometric_factor
from .lookahead import lookahead_fields
from .schur import schur_fields

#: A member of a structure: name, C type, count formula and meaning.
_Row = tuple[str, str, str, str]


def corrected(spec: Spec) -> bool:
    """Return whether alpha is built from corrections: refinement, or a bias.

    The banded solver subtracts its intercept from the targets instead.
    """
    assert spec.toeplitz is not None
    return spec.toeplitz.refine > 0 or (spec.toeplitz.bias and spec.toeplitz.solver != "banded")


def _solution(spec: Spec, long: str, x_word: str, exponent: str) -> list[_Row]:
    """Return the members that prediction reads and training computes."""
    assert spec.toeplitz is not None
    several = spec.output.targets > 1
    fields = [BOUND_FIELD, ("alpha", long, "C*n", "expansion coefficients, by output") if several else
              ("alpha", long, "n", "expansion coefficients")]
    if spec.toeplitz.scheme != "uniform":
        fields.append(("centers", x_word, "n*D", "training inputs"))
    if spec.toeplitz.bias:
        fields.append(("bias", long, "C", "intercept of each output, in LSB of y") if several else
                      ("bias", long, "1", "intercept, in LSB of y"))
    if spec.toeplitz.candidates is not None:
        fields.append(("candidate", "int16_t", "1", "index of the pair of sigma and lambda, from 0"))
    return [*fields, ("alpha_exp", exponent, "1", "block exponent of alpha")]


def model_memory(spec: Spec, word: int, x_word: str, sizes: dict[str, int]) -> tuple[Field, ...]:
    """Return the members of the model structure, which prediction reads."""
    long = "int16_t" if word == 16 else "int32_t"
    return memory([*_solution(spec, long, x_word, "int16_t"),
                   ("trained", "uint16_t", "1", "1 after a training")], sizes, SIZE_KEYS["toeplitz_rls"])


def _recursion(spec: Spec, short: str) -> list[_Row]:
    """Return the state of Levinson's recursion or its Schur form."""
    assert spec.toeplitz is not None
    sides = ["alpha"] if not corrected(spec) else ["z", "eta"] if spec.toeplitz.bias else ["z"]
    fields = [("eps", "int64_t", "1", "prediction error power after the last step"),
              ("a_used", "int64_t", "1", "largest magnitude of a"),
              ("a", short, "n", "predictor polynomial; a[0] is the implicit 1"),
              ("a_exp", "int32_t", "1", "block exponent of a")]
    for side in sides:
        fields.append((f"{side}_used", "int64_t", "1", f"largest magnitude of {side}"))
        if side != "alpha":
            fields.append((f"{side}_exp", "int32_t", "1", f"block exponent of {side}"))
    if spec.toeplitz.solver == "schur":
        fields += [*schur_fields(), ("q_used", "int64_t", "1", "largest magnitude of q"),
                   ("s_used", "int64_t", "1", "largest magnitude of s"),
                   ("s_exp", "int32_t", "1", "block exponent of s")]
    return fields


def _corrections(spec: Spec, short: str) -> list[_Row]:
    """Return the state of iterative refinement and the intercept."""
    assert spec.toeplitz is not None
    fields = [("max_residual", "int64_t", "1", "largest magnitude of the residual"),
              ("min_residual", "int64_t", "1", "residual that the rounding of alpha alone can cause"),
              ("last_squares", "int64_t", "1", "sum of squares of the last residual"),
              ("last_shift", "int32_t", "1", "its shift"),
              ("last_check", "uint32_t", "1", "checksum of the alpha before it was corrected"),
              ("rhs", short, "n", "residual, in the format of the solver"),
              ("rhs_shift", "int32_t", "1", "right shift of the residual to rhs"),
              ("z", short, "n", "last correction of alpha"),
              ("z_shift", "int32_t", "1", "right shift of z to alpha"),
              ("turn", "int32_t", "1", "corrections of alpha so far")]
    if spec.toeplitz.bias:
        fields += [("eta", short, "n", "solution for a right-hand side of ones"),
                   ("db", "int64_t", "1", "last change of the intercept"),
                   ("eta_shift", "int32_t", "1", "right shift of db * eta to alpha")]
    return fields


def _factor(short: str, c: Mapping[str, int | tuple[int, ...]]) -> list[_Row]:
    """Return the factor that the device computes for a lambda at run time."""
    b, rows, long = c["band"], c["rows"], short == "int32_t"
    generator = "int64_t" if long else "int32_t"
    return [("lambda", "int32_t", "1", "lambda of this training, an integer"),
            ("factor", short, f"{rows}*{b}", "columns of L below the diagonal"),
            ("pivot", "int32_t", str(rows), "1 / d"),
            *([("pivot_frac", "int32_t", "1", "fraction bits of 1 / d")] if long else []),
            ("u", generator, f"{b}+1", "generator of the factor"),
            ("v", generator, str(b), "second generator")]


def trainer_memory(spec: Spec, word: int, x_word: str, sizes: dict[str, int],
                   c: Mapping[str, int | tuple[int, ...]]) -> tuple[Field, ...]:
    """Return the members of the trainer structure.

    `c` contains the constants of the plan.
    """
    assert spec.toeplitz is not None
    long, short = (f"int{16 if bits == 16 else 32}_t" for bits in (word, spec.numbers.word))
    several = spec.output.targets > 1
    block, by_output = ("C*n", ", by output") if several else ("n", "")
    centred = spec.toeplitz.bias and spec.toeplitz.solver == "banded"
    fields = [*_solution(spec, long, x_word, "int32_t"), *TRAINER_FIELDS, *NORM_FIELDS,
              ("y", long, block, f"targets{by_output}, less the intercept once it is known"
               if centred else f"targets{by_output}")]
    if several:
        fields += [("own_exp", "int32_t", "C", "block exponent of alpha of each output, before alignment"),
                   ("output", "int32_t", "1", "output of the next step")]
    if spec.toeplitz.candidates is not None:
        fields.append(("evidence", "int64_t", "K", "n log2 q + log2 det of each pair, the least wins"))
    if spec.toeplitz.solver == "banded":
        fields.append(("z_exp", "int32_t", "1", "block exponent of z"))
        if corrected(spec):
            fields += [("forward_exp", "int32_t", "1", "block exponent of z in the forward recursion"),
                       *_corrections(spec, short)]
        if has_geometric_factor(spec):
            # an array, even if all rows are one block
            blocks, sum_t = max(-(-spec.toeplitz.n // BLOCK_ROWS), 2), f"int{c['sum_bits']}_t"
            fields += [("carry", "int64_t", "1", "running value of the recursion"),
                       ("after", sum_t, str(blocks), "sums of the residual after each block of rows")]
        if spec.toeplitz.lambda_range is not None:
            fields += _factor(short, c)
        return memory(fields, sizes, SIZE_KEYS["toeplitz_rls"])
    fields += [("r", long, "n", "first row over 1 + lambda; r[0] is the implicit 1")]
    if spec.toeplitz.scheme != "uniform":
        fields.append(("last_lag", "int32_t", "1", "last lag at which r is not zero"))
    if spec.toeplitz.solver in LOOKAHEADS:
        return memory([*fields, *lookahead_fields(spec.toeplitz.solver)], sizes, SIZE_KEYS["toeplitz_rls"])
    if word != spec.numbers.word:
        fields.append(("r_short", short, "n", "first row in the format of the solver"))
    fields += _recursion(spec, short)
    if corrected(spec):
        fields += _corrections(spec, short)
    return memory(fields, sizes, SIZE_KEYS["toeplitz_rls"])
