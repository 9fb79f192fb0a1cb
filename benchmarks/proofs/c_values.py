"""proofs: evaluate C expressions symbolically, and collect undefined behaviour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import z3
from pycparser import c_ast

from .arithmetic import Arithmetic, Term
from .c_source import Program, Refused
from .c_types import CPointer, CType, common, constant, declared, integer, promoted

INDEX = "array index out of bounds"
UNSET = "read before it is written"
PRECONDITION = "precondition of a callee"
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass(frozen=True)
class Value:
    """Term together with its C type."""

    term: Term
    kind: CType


@dataclass(frozen=True)
class Variable(Value):
    """Variable of a C function: its term, its type, and where it is initialised."""

    is_set: Term


@dataclass(frozen=True)
class Array:
    """Array parameter: its elements by exact index, and their number."""

    elements: Term
    kind: CType
    length: Term


@dataclass
class State:
    """Variables of a function on the paths on which `live` holds."""

    names: dict[str, Variable | Array]
    live: Term

    def fork(self, condition: Term) -> State:
        """Return a copy of the state for the paths on which a condition also holds."""
        return State(dict(self.names), z3.And(self.live, condition))


@dataclass(frozen=True)
class Fault:
    """Undefined behaviour at a place in the source, and the condition for it."""

    what: str
    where: str
    condition: Term


# Replacement of a callee's body: (arguments) -> result, its precondition, its definition.
Contract = Callable[[list[Term]], tuple[Term, Term, Term]]


@dataclass
class Expressions:
    """Symbolic evaluator of C expressions.

    `faults` contains the undefined behaviour that was found; `assumed` contains conditions from the
    definitions of called functions.
    """

    program: Program
    arithmetic: Arithmetic
    int_bits: int
    contracts: dict[str, Contract] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    assumed: list[Term] = field(default_factory=list)

    def body(self, name: str, arguments: dict[str, Variable | Array], live: Term) -> tuple[Value, State]:
        """Execute a function; return its result and its final variables.

        The subclass implements this.
        """
        raise NotImplementedError

    def parameters(self, name: str) -> dict[str, CType | CPointer]:
        """Return the parameters of a function in order: types by name."""
        node = self.program.functions[name]
        return {item.name: declared(item.type) for item in node.decl.type.args.params}

    def fault(self, what: str, node: c_ast.Node, state: State, condition: Term) -> None:
        """Record undefined behaviour on the paths on which a condition holds."""
        condition = z3.simplify(z3.And(state.live, condition))
        if not z3.is_false(condition):
            self.faults.append(Fault(what, str(node.coord), condition))

    def value(self, node: c_ast.Node, state: State) -> Value:
        """Return the value of an expression without side effects."""
        match node:
            case c_ast.Constant():
                number, kind = constant(node, self.int_bits)
                return Value(self.arithmetic.literal(number, kind), kind)
            case c_ast.ID():
                found = state.names[node.name]
                if isinstance(found, Array):
                    raise Refused(f"{node.coord}: the pointer {node.name} as a value")
                self.fault(UNSET, node, state, z3.Not(found.is_set))
                return Value(found.term, found.kind)
            case c_ast.Cast():
                return self.converted(self.value(node.expr, state), integer(node.to_type.type), node, state)
            case c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
                array, _, index = self.element(node, state)
                found_word = z3.Select(array.elements, index)
                self.assumed.append(self.arithmetic.ranges(found_word, array.kind))
                return Value(found_word, array.kind)
            case c_ast.UnaryOp():
                return self.unary(node, state)
            case c_ast.BinaryOp(op="&&" | "||"):
                return self.flag(self.truth(node, state))
            case c_ast.BinaryOp():
                return self.binary(node, state)
            case c_ast.TernaryOp():
                return self.ternary(node, state)
            case c_ast.FuncCall():
                return self.called(node, state)
        raise Refused(f"{node.coord}: expression {type(node).__name__}")

    def truth(self, node: c_ast.Node, state: State) -> Term:
        """Return the z3 condition that an expression is not zero."""
        if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
            left = self.truth(node.left, state)
            if node.op == "&&":
                return z3.simplify(z3.And(left, self.truth(node.right, state.fork(left))))
            return z3.simplify(z3.Or(left, self.truth(node.right, state.fork(z3.Not(left)))))
        found = self.value(node, state)
        zero = self.arithmetic.literal(0, found.kind)
        return z3.simplify(self.arithmetic.compare("!=", found.term, zero, found.kind))

    def flag(self, condition: Term) -> Value:
        """Return a condition as a value of type int: 1 or 0."""
        kind = CType(self.int_bits, True)
        one, zero = self.arithmetic.literal(1, kind), self.arithmetic.literal(0, kind)
        return Value(z3.If(condition, one, zero), kind)

    def converted(self, value: Value, kind: CType, node: c_ast.Node, state: State) -> Value:
        """Convert a value to a type, and record undefined behaviour."""
        report = self.reporter(node, state)
        return Value(self.arithmetic.convert(value.term, value.kind, kind, report), kind)

    def reporter(self, node: c_ast.Node, state: State) -> Callable[[str, Term], None]:
        """Return the callback with which an operation reports undefined behaviour."""
        return lambda what, condition: self.fault(what, node, state, condition)

    def element(self, node: c_ast.Node, state: State) -> tuple[Array, str, Term]:
        """Return the array, its name and the exact index of *name or name[index]."""
        pointer = node.name if isinstance(node, c_ast.ArrayRef) else getattr(node, "expr", None)
        array = state.names.get(getattr(pointer, "name", ""))
        if not isinstance(pointer, c_ast.ID) or not isinstance(array, Array):
            raise Refused(f"{node.coord}: neither name[index] nor *name")
        first = c_ast.Constant("int", "0", node.coord)
        at = self.value(node.subscript if isinstance(node, c_ast.ArrayRef) else first, state)
        index = self.arithmetic.exact(at.term, at.kind)
        self.fault(INDEX, node, state, z3.Or(index < 0, index >= array.length))
        return array, pointer.name, index

    def unary(self, node: c_ast.UnaryOp, state: State) -> Value:
        """Return the value of -a, +a, ~a or !a."""
        if node.op == "!":
            return self.flag(z3.Not(self.truth(node.expr, state)))
        inner = self.value(node.expr, state)
        a = self.converted(inner, promoted(inner.kind, self.int_bits), node, state)
        if node.op == "-":
            zero = self.arithmetic.literal(0, a.kind)
            report = self.reporter(node, state)
            return Value(self.arithmetic.binary("-", zero, a.term, a.kind, report), a.kind)
        if node.op == "~":
            return Value(self.arithmetic.complement(a.term, a.kind), a.kind)
        if node.op == "+":
            return a
        raise Refused(f"{node.coord}: operator {node.op}")

    def binary(self, node: c_ast.BinaryOp, state: State) -> Value:
        """Return the value of a binary operator, except && and ||."""
        left, right = self.value(node.left, state), self.value(node.right, state)
        report = self.reporter(node, state)
        if node.op in ("<<", ">>"):
            a = self.converted(left, promoted(left.kind, self.int_bits), node, state)
            term = self.arithmetic.shift(node.op, a.term, a.kind, right.term, right.kind, report)
            return Value(term, a.kind)
        kind = common(left.kind, right.kind, self.int_bits)
        a, b = self.converted(left, kind, node, state), self.converted(right, kind, node, state)
        if node.op in COMPARISONS:
            return self.flag(self.arithmetic.compare(node.op, a.term, b.term, kind))
        return Value(self.arithmetic.binary(node.op, a.term, b.term, kind, report), kind)

    def ternary(self, node: c_ast.TernaryOp, state: State) -> Value:
        """Return the value of a ? b : c.

        Undefined behaviour counts only in the selected operand.
        """
        condition = self.truth(node.cond, state)
        yes = self.value(node.iftrue, state.fork(condition))
        no = self.value(node.iffalse, state.fork(z3.Not(condition)))
        kind = common(yes.kind, no.kind, self.int_bits)
        a, b = self.converted(yes, kind, node, state), self.converted(no, kind, node, state)
        return Value(choose(condition, a.term, b.term), kind)

    def called(self, node: c_ast.FuncCall, state: State) -> Value:
        """Return the value of a function call.

        The body of the function is executed, or its definition is used if that is proved elsewhere.
        """
        name = node.name.name
        kinds = self.parameters(name)
        given = [self.value(item, state) for item in node.args.exprs]
        arguments: dict[str, Variable | Array] = {}
        for (parameter, kind), value in zip(kinds.items(), given, strict=True):
            if isinstance(kind, CPointer):
                raise Refused(f"{node.coord}: a pointer passed on")
            term = self.converted(value, kind, node, state).term
            arguments[parameter] = Variable(term, kind, z3.BoolVal(True))
        if name not in self.contracts:
            return self.body(name, arguments, state.live)[0]
        terms = [item.term for item in arguments.values() if isinstance(item, Variable)]
        result, required, ensured = self.contracts[name](terms)
        self.fault(PRECONDITION, node, state, z3.Not(required))
        self.assumed.append(z3.Implies(z3.And(state.live, required), ensured))
        return Value(result, integer(self.program.functions[name].decl.type.type))


def choose(condition: Term, yes: Term, no: Term) -> Term:
    """Return a term that equals `yes` if the condition holds, else `no`."""
    return yes if yes.eq(no) else z3.If(condition, yes, no)
