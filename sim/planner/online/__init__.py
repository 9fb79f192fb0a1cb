"""sim.planner.online: formats and shifts of the online learner in fixed memory.

Only the range of alpha does not follow from the word length.  Its format comes from the spec
(``[numbers.formats] alpha``, or the design range ``[numbers.ranges] alpha``), from a run of the integer model
on the user's data plus ``[numbers] margin``, or from 4 full scales of y, in this order. If the analytic bound
(:mod:`.bound`) is smaller, the format comes from the bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

from ..._arrays import Raw
from ...errors import fail
from ...formats import Format
from ...plan import Plan, Signal
from ...spec import Online, Spec
from ...tables import power_of_two
from ..cast_modes import cast_modes
from ..classes import learner_constants, learner_options, learner_outputs
from ..inputs import input_options, plan_inputs
from ..kernel import kernel_tables, plan_kernel
from ..log2 import ceil_log2, floor_log2
from ..toeplitz.levinson import products_shift
from ..words import WORD_CLASSES, WordClass
from .bound import coefficient_bound
from .counts import lms_memory, lms_operations
from .linear import linear_constants
from .metric import guard_constants, metric_constants

#: Default range of alpha, in full scales of y.
DESIGN_RANGE = Fraction(4)
#: Smallest range of a simulated alpha: data may leave it at 0.
LEAST_RANGE = Fraction(1, 256)
#: Format of alpha in the run that measures its range: 8 integer bits to spare.
WIDE_ALPHA = Format(True, 32, 23)


def _constants(spec: Spec, words: WordClass, alpha: Format) -> dict[str, int]:
    assert spec.online is not None
    w, budget = words.bits, spec.online.budget
    eta, rho = Fraction(spec.online.eta), Fraction(spec.online.rho)
    eta_up = words.eta_bits - 1 - floor_log2(eta)
    eta_shift = (w - 2) + eta_up - alpha.frac
    mac_shift = products_shift(w, budget)
    f_shift = alpha.frac + words.kernel.frac - mac_shift - (w - 2)
    if not (0 <= eta_shift <= 62 and 0 <= f_shift <= 62):
        raise fail("E203", "the number of fraction bits of alpha does not suit the formats of y and eta",
                   where="[numbers.formats] alpha", value=alpha,
                   allowed=f"about {w - 4} fraction bits", remedy="remove the line from [numbers.formats]")
    decay = round((1 - eta * rho) * 2 ** (w - 1)) if rho else 0
    if decay == 1 << (w - 1):
        raise fail("E204", "rho is too small for the word length: the coefficients would never decay",
                   where="[online] rho", value=spec.online.rho,
                   allowed=f"0, or at least {2.0 ** -(w - 1) / spec.online.eta:.2g}",
                   remedy="set rho = 0, raise it, or set [numbers] word = 32")
    return {"eta": round(eta * 2**eta_up), "eta_shift": eta_shift, "decay": decay,
            "decay_shift": w - 1, "project_shift": words.kernel.frac, "mac_shift": mac_shift,
            "f_shift": f_shift}


def _options(online: Online) -> dict[str, str]:
    """Return the values of the table, without omitted limits."""
    projection, metric = online.parts
    chosen = {"reduction": online.reduction, "projection": projection, "metric": metric,
              "eta": repr(online.eta), "rho": repr(online.rho), "newest_only": str(int(online.newest_only))}
    limits = {name: getattr(online, name)
              for name in ("quantise", "truncation", "max_deterioration", "max_age")}
    given = {name: repr(limit) for name, limit in limits.items() if limit is not None}
    given |= {name: "1" for name in ("guard", "bounded_update") if getattr(online, name)}
    return chosen | online.linear_options | given


class _Planned:
    """Plans of a spec that differ only in alpha's format.

    All other parts are computed once.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec, self._words = spec, WORD_CLASSES[spec.numbers.word]
        self._inputs = plan_inputs(spec, self._words)

    @cached_property
    def _kernel(self) -> dict[str, int]:
        return plan_kernel(self._spec, self._words, self._inputs.x)

    @cached_property
    def wide(self) -> Plan:
        """Return the plan with a format of alpha that fits any measured or bounded value."""
        return self.plan(WIDE_ALPHA)

    def plan(self, alpha: Format, evidence: Mapping[str, object] = MappingProxyType({})) -> Plan:
        """Return the plan with a format of alpha.

        Raise E203, E204 if it cannot represent the signal.
        """
        spec, words, inputs = self._spec, self._words, self._inputs
        assert spec.online is not None
        constants = dict(inputs.constants)
        constants |= _constants(spec, words, alpha) | self._kernel
        constants |= metric_constants(spec, words, inputs.x, inputs.y, alpha)
        constants |= guard_constants(spec, words)
        constants |= linear_constants(spec, words, inputs.x, inputs.y) | learner_constants(spec, inputs.y)
        sizes, outputs = {"N": spec.online.budget, "D": spec.input.columns}, learner_outputs(spec)
        sizes |= {"C": outputs} if outputs > 1 else {}
        cast = Signal(alpha, *cast_modes(spec, "alpha"), alpha.lo, alpha.hi, "full scale of y")
        return Plan(
            name=spec.model.name, algorithm="kernel_lms", word=words.bits,
            options={**spec.kernel.options, **_options(spec.online), **input_options(spec),
                     "rounding": spec.numbers.rounding, **learner_options(spec)},
            sizes=sizes, signals={**inputs.signals, "alpha": cast}, constants=constants,
            tables=kernel_tables(spec, words),
            memory=lms_memory(spec.online, words, inputs.x.signal.format.c_type, sizes),
            operations=lms_operations(spec.online, constants["decay"] != 0, sizes),
            units=inputs.units, evidence={"alpha": evidence})


def _range_seen(plan: Plan, passes: int, x_raw: Raw, y_raw: Raw) -> float:
    """Return the largest |alpha| of the integer model on the data.

    The unit is full scale of y.
    """
    from ...model.online.lms import LmsModel  # the engine is loaded only where a run is asked for

    model = LmsModel(plan)  # refuses x and y of different lengths
    for _ in range(passes):
        model.update(x_raw, y_raw)
    return max(abs(model.ranges.lowest("alpha")), abs(model.ranges.highest("alpha")))


def plan_lms(spec: Spec, x_raw: Raw | None = None, y_raw: Raw | None = None) -> Plan:
    """Return the plan of an online learner.

    With data, alpha's format is derived from its range in a run.

    Parameters
    ----------
    x_raw : ndarray of int64, shape (m, D), optional
        ADC counts of a representative stream.
    y_raw : ndarray of int64, shape (m,), optional

    Raises
    ------
    KerncastError
        E203, E204 if a format cannot hold a signal.
    """
    assert spec.online is not None
    bits, planned = spec.numbers.word, _Planned(spec)
    override, design = spec.numbers.formats.get("alpha"), spec.numbers.ranges.get("alpha")
    seen = None if x_raw is None or y_raw is None else _range_seen(planned.wide, spec.online.passes,
                                                                   x_raw, y_raw)
    if override is not None:
        alpha = Format.parse(override, "[numbers.formats] alpha")
        _refuse_unfit(alpha, bits, seen, "[numbers.formats] alpha")
        return planned.plan(alpha, {"decided_by": "spec", "range": float(alpha.value(alpha.hi)),
                                    "seen": seen})
    if design is not None:
        decided_by, reach = "design", Fraction(design)
    elif seen is not None:
        decided_by, reach = "simulated", max(_widened(seen, spec), LEAST_RANGE)
    else:
        decided_by, reach = "design", DESIGN_RANGE
    bound = _held_bound(planned, reach, bits)
    if bound is not None and design is None:
        decided_by, reach = "analytic", bound
    alpha = _holding(reach, bits)
    if design is not None:
        _refuse_unfit(alpha, bits, seen, "[numbers.ranges] alpha")
    evidence: dict[str, object] = {"decided_by": decided_by, "range": float(reach), "seen": seen}
    plan = planned.plan(alpha)
    bound = coefficient_bound(plan)
    return replace(plan, evidence={"alpha": evidence | ({} if bound is None else {"bound": float(bound)})})


def _held_bound(planned: _Planned, reach: Fraction, bits: int) -> Fraction | None:
    """Return the analytic bound in the finest format that can represent it, or None.

    The result is None unless the bound is below `reach`. A coarser LSB rounds more, which makes the bound
    larger.
    """
    bound = coefficient_bound(planned.wide)
    while bound is not None and bound < reach:
        alpha = _holding(bound, bits)
        bound = coefficient_bound(planned.plan(alpha))
        if bound is not None and bound < reach and _holding(bound, bits).frac >= alpha.frac:
            return bound
    return None


def _widened(seen: float, spec: Spec) -> Fraction:
    """Return a simulated range, extended by the spec's margin."""
    return Fraction(seen) * Fraction(power_of_two(Fraction(spec.numbers.margin)))


def _holding(reach: Fraction, bits: int) -> Format:
    """Return the finest signed format that includes the range `reach`."""
    return Format(True, bits, bits - 1 - ceil_log2(reach))


def _refuse_unfit(alpha: Format, bits: int, seen: float | None, where: str) -> None:
    if not alpha.signed or alpha.bits != bits:
        raise fail("E203", "the format of alpha must be signed and have the word length",
                   where=where, value=alpha, allowed=f"s{bits}f..",
                   remedy="change the format, or word in [numbers]")
    if seen is not None and seen > float(alpha.value(alpha.hi)):
        raise fail("E203", "the format of alpha is too narrow for its values",
                   where=where,
                   value=f"{alpha}, up to {float(alpha.value(alpha.hi)):.4g}",
                   allowed=f"a format that represents {seen:.4g} times the full scale of y",
                   remedy=f"use s{bits}f{bits - 2 - ceil_log2(Fraction(seen))}, or remove the line from "
                          "[numbers.formats]")
