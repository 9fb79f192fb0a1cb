"""proofs: change the C in one place, to test whether the proofs detect the change."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import z3
from pycparser import c_ast, c_generator

from .arithmetic import Bits, Integers
from .c_source import Program, Refused
from .c_terms import Endless
from .c_types import CPointer
from .definitions import Claim
from .prover import REFUTED, ProofResult, obligations, parameters, prove

OPERATORS = {
    "+": ("-",), "-": ("+",), "*": ("+",), "/": ("*",), "%": ("/",), "<<": (">>",), ">>": ("<<",),
    "<": ("<=", ">"), ">": (">=", "<"), "<=": ("<", ">"), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
    "&": ("|",), "|": ("&",), "&&": ("||",), "||": ("&&",),
    "+=": ("-=",), "-=": ("+=",), "|=": ("&=",), ">>=": ("<<=",), "/=": ("*=",), "p++": ("p--",),
}
NARROWER = {"int64_t": "int32_t", "uint64_t": "uint32_t", "int32_t": "int16_t", "int16_t": "int8_t"}
ORDERED = ("-", "/", "%", "<<", ">>")
SAMPLES = 60
# No numerator, equal mantissas; tails for which the last digit of ln 2 matters to the floor.
EDGE: dict[str, list[dict[str, int]]] = {
    "kc_divide": [{"num": 0}, {"num": 1, "den": 1}],
    "kc_isqrt_ceil": [{"v": (1 << 62) - 1}],
    "kc_exp2_32": [{"t": 4194106, "bits": 5}, {"t": 4194073, "bits": 5}],
}
# Arguments of a short range would miss it too often.
BITS = {"c": 32, "den": 62, "num": 62}
BITS_OF_T = {"kc_exp2_16": 25, "kc_exp2_32": 38, "kc_abs_sinpi": 34}


@dataclass(frozen=True)
class Mutant:
    """Program with a single change, and its C code before and after the change."""

    function: str
    line: str
    before: str
    after: str
    program: Program

    @property
    def change(self) -> tuple[str, str, str]:
        """Return the key of the mutant in the table `EQUIVALENT`."""
        return self.function, self.before, self.after

    def __str__(self) -> str:
        return f"{self.line} {self.function}: {self.before} -> {self.after}"


Change = Callable[[c_ast.Node], c_ast.Node | None]


def mutants(program: Program, function: str) -> Iterator[Mutant]:
    """Yield programs in which one node is changed.

    The node is an operator, a constant, a type or a statement.
    """
    original = program.functions[function]
    for position, node in enumerate(_nodes(original.body)):
        for change in _changes(node):
            body = copy.deepcopy(original.body)
            target = _nodes(body)[position]
            context = _context(body, target)
            before = _text(context)
            after_node = change(target)
            if after_node is not target:
                body = _replaced(body, target, after_node)
                context = after_node if context is target else context
            after = _text(context) if context is not None else "nothing"
            mutated = copy.copy(original)
            mutated.body = body
            yield Mutant(function, _line(node), before, after,
                         Program({**program.functions, function: mutated}))


def prove_mutant(mutant: Mutant, claim: Claim, timeout: float) -> ProofResult:
    """Try to prove a mutant, first for sampled arguments, then for all arguments."""
    as_bits = replace(claim, arithmetic=Bits, parts={}, contracts=())
    try:
        found = None
        if claim.arithmetic is Integers:
            found = _sampled(mutant.program, as_bits if claim.contracts else claim)
        return found or prove(mutant.program, claim, timeout)
    except Endless as endless:
        return ProofResult(REFUTED, 0.0, f"no end; {endless}")
    except Refused:  # bits over the integers: as bit vectors then
        return _sampled(mutant.program, as_bits) or prove(mutant.program, as_bits, timeout)


def _sampled(program: Program, claim: Claim) -> ProofResult | None:
    """Search for a counterexample among sampled arguments.

    Nonlinear terms over integers are easy to evaluate, but difficult for z3 to solve.
    """
    chance = random.Random(20)
    kinds = {name: kind for name, kind in parameters(program, claim.function).items()
             if not isinstance(kind, CPointer)}
    small = {"s": range(-62, 63) if min(claim.split.get("s", (0,))) < 0 else range(63),
             "rounding": range(3), "bits": claim.split.get("bits", range(1, 64))}
    for number in range(SAMPLES):
        fixed: dict[str, int] = {}
        for name, kind in kinds.items():
            longest = BITS_OF_T[claim.function] if name == "t" else BITS.get(name, kind.bits)
            bits = chance.randrange(1, longest)
            value = chance.getrandbits(bits) * (1 if name in ("t", "c", "den") else chance.choice((1, 1, -1)))
            fixed[name] = chance.choice(small[name]) if name in small else value
        if 0 < fixed.get("s", 0) < 62 and "rounding" in fixed and chance.random() < 0.7:
            tie = chance.randrange(-9, 9) << (fixed["s"] - 1)
            fixed["v"] = tie + chance.choice((0, 0, 1, 1 << chance.randrange(fixed["s"])))
        fixed |= dict(enumerate(EDGE.get(claim.function, ()))).get(number, {})
        for goal in obligations(program, claim, 32, fixed, whole=True):
            solver = z3.Solver()
            solver.set("timeout", 500)
            solver.add(goal.assumptions, goal.violation)
            if solver.check() == z3.sat:
                return ProofResult(REFUTED, 0.0, f"{goal.label}; {fixed}")
    return None


# ---- changes ----
def _changes(node: c_ast.Node) -> Iterator[Change]:
    if isinstance(node, c_ast.BinaryOp | c_ast.Assignment | c_ast.UnaryOp):
        for op in OPERATORS.get(node.op, ()) if not _is_sign(node) else ():
            yield lambda target, op=op: _set(target, op=op)
    if isinstance(node, c_ast.BinaryOp) and node.op in ORDERED:
        yield lambda target: _set(target, left=target.right, right=target.left)
    if isinstance(node, c_ast.Constant):
        yield lambda target: _set(target, value=_shifted(target.value, 1))
        if _number(node.value) > 0:
            yield lambda target: _set(target, value=_shifted(target.value, -1))
    if isinstance(node, c_ast.Cast) or (isinstance(node, c_ast.UnaryOp) and node.op in ("~", "-")):
        yield lambda target: target.expr
    if isinstance(node, c_ast.FuncCall):
        for i in range(len(node.args.exprs) - 1):
            yield lambda target, i=i: _swapped(target, i)
    if isinstance(node, c_ast.TernaryOp):
        yield lambda target: _set(target, iftrue=target.iffalse, iffalse=target.iftrue)
    if isinstance(node, c_ast.If):
        yield lambda target: _set(target, cond=c_ast.UnaryOp("!", target.cond, target.coord))
    if isinstance(node, c_ast.Assignment | c_ast.If):
        yield lambda target: None
    if isinstance(node, c_ast.IdentifierType) and node.names[0] in NARROWER:
        yield lambda target: _set(target, names=[NARROWER[target.names[0]]])


def _is_sign(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.UnaryOp) and node.op in "+-*"


def _set(node: c_ast.Node, **values: object) -> c_ast.Node:
    for name, value in values.items():
        setattr(node, name, value)
    return node


def _swapped(node: c_ast.FuncCall, i: int) -> c_ast.Node:
    exprs = node.args.exprs
    exprs[i], exprs[i + 1] = exprs[i + 1], exprs[i]
    return node


def _number(text: str) -> int:
    return int(text.rstrip("UL"), 0)


def _shifted(text: str, by: int) -> str:
    digits = text.rstrip("UL")
    number = _number(text) + by
    return (f"0x{number:X}" if digits.startswith("0x") else str(number)) + text[len(digits):]


# ---- trees ----
def _nodes(root: c_ast.Node) -> list[c_ast.Node]:
    """Yield all nodes of a syntax tree in source order."""
    found = [root]
    for _, child in root.children():
        found += _nodes(child)
    return found


def _replaced(root: c_ast.Node, target: c_ast.Node, other: c_ast.Node | None) -> c_ast.Node:
    """Replace a node of a syntax tree in place.

    If `other` is None, the node, which must be a statement or a branch of an if, is deleted.
    """
    for node in _nodes(root):
        for attribute in node.__slots__:
            value = getattr(node, attribute, None)
            if value is target:
                setattr(node, attribute, c_ast.Compound([]) if other is None else other)
            elif isinstance(value, list) and any(item is target for item in value):
                setattr(node, attribute, [item if item is not target else other for item in value
                                          if item is not target or other is not None])
    return root


def _context(root: c_ast.Node, target: c_ast.Node) -> c_ast.Node:
    """Return the statement or declaration that contains a node."""
    best = target
    for node in _nodes(root):
        if isinstance(node, c_ast.Decl | c_ast.Assignment | c_ast.Return) and any(
                item is target for item in _nodes(node)):
            best = node
        elif isinstance(node, c_ast.If) and any(item is target for item in _nodes(node.cond)):
            best = node.cond
        elif isinstance(node, c_ast.For) and any(
                item is target for part in (node.init, node.cond, node.next) for item in _nodes(part)):
            best = c_ast.For(node.init, node.cond, node.next, c_ast.Compound([]))
    return best


def _text(node: c_ast.Node) -> str:
    return " ".join(c_generator.CGenerator().visit(node).split())


def _line(node: c_ast.Node) -> str:
    return str(node.coord or "").rpartition(":")[0] or "?"
