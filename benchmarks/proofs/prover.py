"""proofs: prove with z3 that C equals its definition, or find a counterexample."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any

import z3
from pycparser import c_generator

from .arithmetic import Bits, Integers, Term
from .c_source import Program
from .c_terms import Execution
from .c_types import CPointer, CType
from .c_values import Array, Contract, Variable
from .definitions import Claim, Fact, Run
from .definitions_words import CLAIMS
from .exact import Exact, Words

# Widths of `int` for which each claim is proved: AVR and MSP430; everything else that we meet.
INT_BITS = (32, 16)
DEFAULT_TIMEOUT = 600.0
# Seconds until z3 restarts with another seed and twice the timeout.
FIRST_TRY = 2.0
PROVED, REFUTED, UNDECIDED = "proved", "refuted", "undecided"


@dataclass(frozen=True)
class ProofResult:
    """Result of a proof; `why` contains the counterexample or the undecided case."""

    outcome: str
    seconds: float
    why: str = ""


@dataclass(frozen=True)
class Obligation:
    """Formula that must be valid. It is valid if its negation is unsatisfiable."""

    label: str
    assumptions: Term
    violation: Term


def prove(program: Program, claim: Claim, timeout: float = DEFAULT_TIMEOUT) -> ProofResult:
    """Prove all cases of a claim for every width of `int`; stop at the first failure."""
    begin = time.perf_counter()
    if (found := prototype(program, claim.function)) != claim.prototype:
        return ProofResult(REFUTED, 0.0, f"prototype {found}")
    seen: dict[int, list[Term]] = {}
    for case in cases(claim):
        for int_bits in INT_BITS:
            for goal in obligations(program, claim, int_bits, case):
                left = timeout - (time.perf_counter() - begin)
                outcome, why = _decided(goal, claim, left, seen)
                if outcome != PROVED:
                    where = ", ".join(f"{name} = {value}" for name, value in case.items())
                    return ProofResult(outcome, time.perf_counter() - begin,
                                   f"{goal.label}; int of {int_bits} bits; {where} {why}")
    return ProofResult(PROVED, time.perf_counter() - begin)


def prototype(program: Program, function: str) -> str:
    """Return the C prototype of a function.

    The prototype is shown on the page, because narrower parameters would change the claim.
    """
    node = program.functions[function].decl
    return c_generator.CGenerator().visit(node.type)


def parameters(program: Program, function: str) -> dict[str, CType | CPointer]:
    """Return the parameters of a function: types by name."""
    return Execution(program, Bits(), 32).parameters(function)


def cases(claim: Claim) -> Iterator[dict[str, int]]:
    """Yield the combinations of argument values that are proved separately."""
    ranges = [*claim.split.values(), *(high for high, _ in claim.parts.values())]
    for values in product(*ranges):
        yield dict(zip([*claim.split, *claim.parts], values, strict=True))


def obligations(program: Program, claim: Claim, int_bits: int, fixed: Mapping[str, int], *,
                whole: bool = False) -> list[Obligation]:
    """Return the formulas to prove for a claim.

    They state that there is no undefined behaviour, that each step holds, and that the definition holds.
    `fixed` contains the arguments that are constant, completely or in their high bits.
    """
    arithmetic = claim.arithmetic()
    execution = Execution(program, arithmetic, int_bits)
    for name in claim.contracts:
        execution.contracts[name] = _contract(name, list(execution.parameters(name)), arithmetic)
    arguments = _arguments(execution, claim, fixed, {} if whole else claim.parts)
    result, end = execution.body(claim.function, arguments, z3.BoolVal(True))
    exact = Exact(arithmetic)
    run = Run(exact, _exact(arguments, arithmetic), arithmetic.exact(result.term, result.kind),
              _exact(end.names, arithmetic), execution.turns,
              lambda name, *given: _called(execution, name, given))
    ranges = [arithmetic.ranges(found.term, found.kind) for found in arguments.values()
              if isinstance(found, Variable)]
    assumptions = z3.And(*ranges, claim.requires(run), *execution.assumed)
    goals = [Obligation(f"{found.what} at {found.where}", assumptions, found.condition)
             for found in execution.faults]
    for number, step in enumerate(claim.steps(run) if isinstance(arithmetic, Integers) else [], start=1):
        if isinstance(step, Fact):
            goals.append(Obligation(f"fact {number}", z3.BoolVal(True), z3.Not(step.general)))
        else:
            goals.append(Obligation(f"step {number}", assumptions, z3.Not(step)))
        assumptions = z3.And(assumptions, step.instance if isinstance(step, Fact) else step)
    return [*goals, Obligation("definition", assumptions, z3.Not(claim.ensures(run)))]


def _arguments(execution: Execution, claim: Claim, fixed: Mapping[str, int],
               parts: Mapping[str, tuple[range, int]]) -> dict[str, Variable | Array]:
    arithmetic, always = execution.arithmetic, z3.BoolVal(True)
    word = arithmetic.exact(arithmetic.literal(0, CType(64, True)), CType(64, True)).sort()
    found: dict[str, Variable | Array] = {}
    for name, kind in execution.parameters(claim.function).items():
        if isinstance(kind, CPointer):
            element = arithmetic.variable("element", kind.element).sort()
            size = claim.arrays[name]
            length = Exact(claim.arithmetic()).free(size, 33) if isinstance(size, str) else \
                arithmetic.exact(arithmetic.literal(size, CType(64, True)), CType(64, True))
            found[name] = Array(z3.Array(name, word, element), kind.element, length)
        elif name in parts and name in fixed and isinstance(arithmetic, Integers):
            term, known = arithmetic.in_parts(name, fixed[name], parts[name][1])
            execution.assumed.append(known)
            found[name] = Variable(term, kind, always)
        elif name in fixed:
            found[name] = Variable(arithmetic.literal(fixed[name], kind), kind, always)
        else:
            found[name] = Variable(arithmetic.variable(name, kind), kind, always)
    return found


def _exact(names: Mapping[str, Any], arithmetic: Bits | Integers) -> SimpleNamespace:
    exact = arithmetic.exact
    return SimpleNamespace(**{
        name: Words(found, arithmetic) if isinstance(found, Array) else exact(found.term, found.kind)
        for name, found in names.items()
    })


# ---- contracts ----
def _function(name: str, arithmetic: Bits | Integers, count: int) -> z3.FuncDeclRef:
    """Return an uninterpreted function that represents a called function."""
    if not isinstance(arithmetic, Integers):
        raise NotImplementedError("contracts are for proofs over the integers")
    return z3.Function(name, *[z3.IntSort()] * (count + 1))


def _contract(name: str, parameters: list[str], arithmetic: Bits | Integers) -> Contract:
    """Return the definition of a called function without pointers, as its contract."""
    claim = next(item for item in CLAIMS if item.function == name)

    def contract(arguments: list[Term]) -> tuple[Term, Term, Term]:
        r = _function(name, arithmetic, len(arguments))(*arguments)
        given = SimpleNamespace(**dict(zip(parameters, arguments, strict=True)))
        run = Run(Exact(arithmetic), given, r, SimpleNamespace(), [], _nothing)
        return r, claim.requires(run), z3.And(claim.ensures(run), arithmetic.power(r) >= 1)

    return contract


def _called(execution: Execution, name: str, given: tuple[Term, ...]) -> Term:
    """Return the result of a called function from its contract or from its body."""
    arithmetic = execution.arithmetic
    if name in execution.contracts:
        return _function(name, arithmetic, len(given))(*given)
    inner = Execution(execution.program, arithmetic, execution.int_bits)
    arguments: dict[str, Variable | Array] = {}
    for (parameter, kind), term in zip(inner.parameters(name).items(), given, strict=True):
        word = arithmetic.convert(term, CType(Bits.WIDE, True), kind, lambda *_: None)
        arguments[parameter] = Variable(word, kind, z3.BoolVal(True))
    result, _ = inner.body(name, arguments, z3.BoolVal(True))
    return arithmetic.exact(result.term, result.kind)


def _nothing(*_: object) -> Term:
    raise NotImplementedError("a contract that needs a contract")


# ---- z3 ----
def _decided(goal: Obligation, claim: Claim, timeout: float, seen: dict[int, list[Term]]) -> tuple[str, str]:
    """Decide a formula, unless it was already proved for another width of `int`."""
    if timeout <= 0:
        return UNDECIDED, "out of time"
    formula = z3.simplify(z3.And(goal.assumptions, goal.violation))
    if z3.is_false(formula) or any(formula.eq(old) for old in seen.get(formula.hash(), [])):
        return PROVED, ""
    plain = claim.arithmetic is Integers or bool(claim.arrays)
    end, patience, why = time.perf_counter() + timeout, FIRST_TRY, "timeout"
    for seed in itertools.count():
        left = min(patience, end - time.perf_counter())
        if left <= 0:
            break
        # A new context: earlier proofs must not influence the time of this one.
        context = z3.Context()
        solver = z3.Solver(ctx=context) if plain else z3.SolverFor("QF_BV", ctx=context)
        solver.set("timeout", max(1, int(1000 * left)))
        solver.set("random_seed", seed)
        solver.add(formula.translate(context))
        answer = solver.check()
        if answer == z3.unsat:
            seen.setdefault(formula.hash(), []).append(formula)
            return PROVED, ""
        if answer == z3.sat:
            model = solver.model()
            abstract = any(name.startswith(("power_of_two", "kc_")) for name in map(str, model.decls()))
            return UNDECIDED if abstract else REFUTED, str(model)[:300]
        why, patience = solver.reason_unknown(), 2 * patience
    return UNDECIDED, why
