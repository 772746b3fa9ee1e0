"""Fused operators in, one Python function of their leaves' atoms out, by the operator table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from rasp.atoms import Atom
from rasp.evaluator.decoding.plan import Fused
from rasp.evaluator.fast.elementwise import on_first
from rasp.graph import Const, Elementwise, SOp, TokensAs, apply_operator
from rasp.limits import Limits

Values: TypeAlias = dict[SOp, Atom]


def function_of(
    fused: Fused, limits: Limits, watch: Callable[[SOp, Atom], None]
) -> Callable[[list[Atom]], Atom]:
    """Return the operators as one function; `watch` sees each value on the way.

    >>> from rasp.graph import Indices
    >>> from rasp.limits import DEFAULT_LIMITS
    >>> twice = Elementwise("*", (Indices(), Const(2)))
    >>> fused = Fused((Indices(),), (twice, Elementwise("+", (twice, Const(1)))))
    >>> function_of(fused, DEFAULT_LIMITS, lambda node, value: None)([5])
    11
    """
    *inner, result = [(node, _call(node, limits)) for node in fused.members]

    def function(atoms: list[Atom]) -> Atom:
        values = dict(zip(fused.leaves, atoms, strict=True))
        for node, call in inner:
            values[node] = call(values)
            watch(node, values[node])
        return result[1](values)

    return function


def _call(node: SOp, limits: Limits) -> Callable[[Values], Atom]:
    if isinstance(node, TokensAs):
        kind = node.kind
        return lambda values: apply_operator(kind, tuple(values.values()), limits)
    assert isinstance(node, Elementwise)
    op, (first, *rest) = node.op, node.operands
    constants = [operand.value for operand in rest if isinstance(operand, Const)]
    if op in ("in", "lookup") and len(constants) == len(rest) and not isinstance(first, Const):
        look_up = on_first(op, [None, *constants])
        return lambda values: look_up(values[first])
    operands = node.operands

    def call(values: Values) -> Atom:
        atoms = tuple(
            [each.value if isinstance(each, Const) else values[each] for each in operands]
        )
        return apply_operator(op, atoms, limits)

    return call
