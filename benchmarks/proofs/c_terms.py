"""proofs: execute a C function symbolically, which yields terms and conditions.

All paths are followed. A loop is unrolled while its condition is constant. Otherwise, it is replaced by one
arbitrary iteration (`Turn`), which is the induction step of a proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import z3
from pycparser import c_ast

from .arithmetic import Term
from .c_source import Refused
from .c_types import CType, integer
from .c_values import Array, Expressions, State, Value, Variable, choose

NO_VALUE = "end of a function that owes a value"
MOST_TURNS = 64


class Endless(Refused):
    """Exception for a loop with more iterations than any loop of the runtime can have."""


@dataclass(frozen=True)
class Turn:
    """One iteration of a loop: the states before the loop and around the iteration.

    `condition` is the loop condition before the iteration.
    """

    entry: State
    before: State
    condition: Term
    after: State


@dataclass
class Execution(Expressions):
    """Symbolic execution of functions."""

    turns: list[Turn] = field(default_factory=list)
    returns: list[tuple[Term, Term]] = field(default_factory=list)
    fresh: int = 0

    # ---- functions ----
    def body(self, name: str, arguments: dict[str, Variable | Array], live: Term) -> tuple[Value, State]:
        """Execute a function; return its result, and the variables at its end.

        Both are merged over all paths.
        """
        node = self.program.functions[name]
        kind = integer(node.decl.type.type)
        outer, self.returns = self.returns, []
        state = State(dict(arguments), live)
        ends: list[tuple[Term, State]] = []
        self.block(node.body, state, kind, ends)
        self.fault(NO_VALUE, node, state, z3.BoolVal(True))
        returns, self.returns = self.returns, outer
        if not returns:
            return Value(self.unknown(name, kind), kind), state
        result = returns[-1][1]
        last = ends[-1][1]
        for (condition, term), (_, end) in zip(reversed(returns[:-1]), reversed(ends[:-1]), strict=True):
            result = choose(condition, term, result)
            last = _merged(condition, end, last)
        return Value(result, kind), last

    # ---- statements ----
    def block(self, node: c_ast.Node, state: State, kind: CType, ends: list[tuple[Term, State]]) -> None:
        """Execute a statement.

        At a return, the result is appended to `returns`, and the variables to `ends`.
        """
        match node:
            case c_ast.Compound():
                for item in node.block_items or []:
                    self.block(item, state, kind, ends)
            case c_ast.DeclList():
                for item in node.decls:
                    self.declare(item, state)
            case c_ast.Decl():
                self.declare(node, state)
            case c_ast.If():
                self.branch(node, state, kind, ends)
            case c_ast.For():
                self.loop(node, state, kind, ends)
            case c_ast.Return():
                result = self.converted(self.value(node.expr, state), kind, node, state)
                self.returns.append((state.live, result.term))
                ends.append((state.live, State(dict(state.names), state.live)))
                state.live = z3.BoolVal(False)
            case c_ast.Assignment() | c_ast.UnaryOp():
                self.assign(node, state)
            case _:
                raise Refused(f"{node.coord}: statement {type(node).__name__}")

    def declare(self, node: c_ast.Decl, state: State) -> None:
        """Declare a local variable, with its initial value if there is one."""
        kind = integer(node.type)
        state.names[node.name] = Variable(self.unknown(node.name, kind), kind, z3.BoolVal(False))
        if node.init is not None:
            self.store(c_ast.ID(node.name, node.coord), self.value(node.init, state), state)

    def unknown(self, name: str, kind: CType) -> Term:
        """Return a new variable that can have any value of a type."""
        self.fresh += 1
        return self.arithmetic.variable(f"{name}!{self.fresh}", kind)

    def branch(self, node: c_ast.If, state: State, kind: CType, ends: list[tuple[Term, State]]) -> None:
        """Execute both branches of an if, and merge the resulting states."""
        condition = self.truth(node.cond, state)
        yes, no = state.fork(condition), state.fork(z3.Not(condition))
        before = len(ends)
        if not z3.is_false(condition):
            self.block(node.iftrue, yes, kind, ends)
        if node.iffalse is not None and not z3.is_true(condition):
            self.block(node.iffalse, no, kind, ends)
        if len(ends) == before:
            state.names = _merged(condition, yes, no).names
            return
        yes.live, no.live = z3.simplify(yes.live), z3.simplify(no.live)
        state.live = z3.simplify(z3.Or(yes.live, no.live))
        left = [arm for arm in (yes, no) if not z3.is_false(arm.live)]
        state.names = left[0].names if len(left) == 1 else _merged(condition, yes, no).names

    def loop(self, node: c_ast.For, state: State, kind: CType, ends: list[tuple[Term, State]]) -> None:
        """Execute a loop.

        It is unrolled while its condition is constant. Otherwise, one arbitrary iteration is executed.
        """
        self.block(node.init, state, kind, ends)
        for turn in range(MOST_TURNS):
            condition = self.truth(node.cond, state)
            if z3.is_false(condition):
                return
            if not z3.is_true(condition):
                if turn:
                    raise Refused(f"{node.coord}: the condition is a constant in some turns only")
                self.one_turn(node, state, kind, ends)
                return
            self.block(node.stmt, state, kind, ends)
            self.block(node.next, state, kind, ends)
        raise Endless(f"{node.coord}: more than {MOST_TURNS} turns")

    def one_turn(self, node: c_ast.For, state: State, kind: CType, ends: list[tuple[Term, State]]) -> None:
        """Execute one arbitrary iteration of a loop.

        Variables to which the loop may assign have arbitrary values before it.
        """
        entry = State(dict(state.names), state.live)
        for name in _written(node):
            old = state.names[name]
            if isinstance(old, Array):
                self.fresh += 1
                fresh = z3.Const(f"{name}!{self.fresh}", old.elements.sort())
                state.names[name] = replace(old, elements=fresh)
            else:
                state.names[name] = Variable(self.unknown(name, old.kind), old.kind, old.is_set)
        before = State(dict(state.names), state.live)
        condition = self.truth(node.cond, state)
        after, found = state.fork(condition), len(ends)
        self.block(node.stmt, after, kind, ends)
        self.block(node.next, after, kind, ends)
        if len(ends) > found:
            raise Refused(f"{node.coord}: a return inside a loop")
        self.turns.append(Turn(entry, before, condition, after))
        state.live = z3.And(state.live, z3.Not(condition))

    def assign(self, node: c_ast.Assignment | c_ast.UnaryOp, state: State) -> None:
        """Execute an assignment, such as a = b, a += b, a++ or a--."""
        if isinstance(node, c_ast.UnaryOp):
            if node.op not in ("p++", "++", "p--", "--"):
                raise Refused(f"{node.coord}: {node.op} as a statement")
            one = c_ast.Constant("int", "1", node.coord)
            result = self.value(c_ast.BinaryOp(node.op[-1], node.expr, one, node.coord), state)
            self.store(node.expr, result, state)
            return
        result = self.value(node.rvalue, state)
        if node.op != "=":
            result = self.value(c_ast.BinaryOp(node.op[:-1], node.lvalue, node.rvalue, node.coord), state)
        self.store(node.lvalue, result, state)

    def store(self, target: c_ast.Node, value: Value, state: State) -> None:
        """Assign a value to a variable, to *name, or to name[index]."""
        if isinstance(target, c_ast.ID):
            old = state.names[target.name]
            if isinstance(old, Variable):
                new = self.converted(value, old.kind, target, state)
                state.names[target.name] = Variable(new.term, old.kind, z3.BoolVal(True))
                return
        array, name, index = self.element(target, state)
        new = self.converted(value, array.kind, target, state)
        state.names[name] = replace(array, elements=z3.Store(array.elements, index, new.term))


def _merged(condition: Term, yes: State, no: State) -> State:
    """Merge two states: `yes` applies if the condition holds, else `no`."""
    names: dict[str, Variable | Array] = {}
    for name in yes.names.keys() & no.names.keys():
        a, b = yes.names[name], no.names[name]
        if isinstance(a, Array) and isinstance(b, Array):
            names[name] = replace(a, elements=choose(condition, a.elements, b.elements))
        elif isinstance(a, Variable) and isinstance(b, Variable):
            is_set = choose(condition, a.is_set, b.is_set)
            names[name] = Variable(choose(condition, a.term, b.term), a.kind, is_set)
    return State(names, z3.Or(yes.live, no.live))


def _written(node: c_ast.Node) -> list[str]:
    """Return the names of all variables to which a statement may assign, in order."""
    found: dict[str, None] = {}

    class Visitor(c_ast.NodeVisitor):
        def visit_Assignment(self, node: c_ast.Assignment) -> None:
            target = node.lvalue
            while not isinstance(target, c_ast.ID):
                target = target.name if isinstance(target, c_ast.ArrayRef) else target.expr
            found[target.name] = None

        def visit_UnaryOp(self, node: c_ast.UnaryOp) -> None:
            if node.op in ("p++", "++", "p--", "--"):
                found[node.expr.name] = None
            self.generic_visit(node)

    Visitor().visit(node)
    return list(found)
