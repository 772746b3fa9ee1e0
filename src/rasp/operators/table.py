"""The operator table: a row for each elementwise operator, with all that is known of it.

A node holds an operator's name. The elaborator applies its meaning to constants, the plain
evaluator at each position, and every back end must agree with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from rasp.atoms import Atom, checked
from rasp.limits import DEFAULT_LIMITS, Limits
from rasp.operators import meaning
from rasp.operators.comparisons import ORDERINGS, OUTCOMES, PYTHON_NAMES
from rasp.operators.meaning import exact, one_number

# How tightly each operator binds, loosest first; an operand that binds more loosely gets brackets.
TERNARY, OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(10)


@dataclass(frozen=True)
class Operator:
    """An operator's name, how many operands it takes (None: any number), its meaning, and more.

    >>> OPERATORS["%"].python, OPERATORS["%"].gives
    ('operator.mod', 'number')
    """

    name: str
    arity: int | None
    apply: Callable[..., Atom]
    gives: str
    """What an application is sure to be: an `int`, a `float`, a `bool`, a `string`, a `number`
    (an int, unless an operand is a float), or `any` atom."""
    python: str
    """The Python function that builds it from handles, such as `operator.add`; a method of
    handles starts with a dot."""
    written: str = "call"
    """`infix`, `prefix`, `call`, `table` (a syntax of its own), or `reading`: of tokens, by a
    base s-op such as `tokens_int`."""
    sign: str = ""
    """How an infix or prefix operator is written, if not as its name."""
    binding: int = ATOM
    kernel: str = ""
    """The function of `rasp.evaluator.fast.arithmetic` that computes it on arrays of numbers."""
    draws: tuple[str, ...] = ()
    """The sorts of operands, and of the result, that the fuzzer draws it with."""
    weight: int = 1
    """How many chances it has to be drawn."""
    doc: str = ""
    is_bounded: bool = False
    """Whether it looks at the budgets itself, before it makes something large."""

    @property
    def text(self) -> str:
        """The sign or word that a program writes."""
        return self.sign or self.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """What the operands of a call are named.

        >>> OPERATORS["round"].parameters
        ('x',)
        """
        return ("x", "y", "z")[: self.arity]


def apply_operator(op: str, operands: tuple[Atom, ...], limits: Limits = DEFAULT_LIMITS) -> Atom:
    """Apply an elementwise operator to atoms.

    >>> apply_operator("+", (1, 2))
    3
    """
    operator = OPERATORS[op]
    if operator.is_bounded:
        return checked(operator.apply(*operands, limits=limits), limits)
    return checked(operator.apply(*operands), limits)


@cache
def giving(*kinds: str) -> tuple[str, ...]:
    """Name the operators whose results are sure to be of one of these kinds.

    >>> giving("float")
    ('/', 'float')
    """
    return tuple(name for name, operator in OPERATORS.items() if operator.gives in kinds)


def written(how: str) -> list[Operator]:
    """List the operators that a program writes in a certain way.

    >>> [operator.text for operator in written("prefix")]
    ['not', '-', '+']
    """
    return [operator for operator in OPERATORS.values() if operator.written == how]


def drawn(how: str, sorts: str) -> list[str]:
    """List what the fuzzer may write for operands of these sorts, each as often as its chances.

    >>> drawn("prefix", "number -> number")
    ['-', '+']
    """
    return [operator.text for operator in written(how) if sorts in operator.draws
            for _ in range(operator.weight)]  # fmt: skip


def _truth(name: str, arity: int | None, apply: Callable[..., Atom], python: str,
           written: str, binding: int, draws: str) -> Operator:  # fmt: skip
    return Operator(name, arity, apply, "bool", python, written, binding=binding, draws=(draws,))


def _comparison(op: str) -> Operator:
    apply: Callable[..., Atom]
    if op in ORDERINGS:
        apply, draws = meaning.ordered(op), "number number -> bool"
    else:
        apply = meaning.equal if op == "==" else meaning.unequal
        draws = "any any -> bool"
    return _truth(op, 2, apply, f"operator.{PYTHON_NAMES[op]}", "infix", COMPARISON, draws)


def _arithmetic(name: str, apply: Callable[..., Atom], python: str, binding: int, kernel: str,
                *draws: str, gives: str = "number", weight: int = 1,
                is_bounded: bool = False) -> Operator:  # fmt: skip
    return Operator(name, 2, apply, gives, python, "infix", "", binding, kernel,
                    draws, weight, is_bounded=is_bounded)  # fmt: skip


def _function(name: str, apply: Callable[..., Atom], python: str, kernel: str, doc: str,
              gives: str = "int", draws: str = "number -> number", weight: int = 1,
              is_bounded: bool = False) -> Operator:  # fmt: skip
    arity = len(draws.split(" -> ")[0].split())
    return Operator(name, arity, apply, gives, python, kernel=kernel, draws=(draws,),
                    weight=weight, doc=doc, is_bounded=is_bounded)  # fmt: skip


def _reading(name: str, apply: Callable[..., Atom], kernel: str = "",
             is_bounded: bool = False) -> Operator:  # fmt: skip
    return Operator(name, 1, apply, name, "", "reading", kernel=kernel, is_bounded=is_bounded)


NUMBERS, CARE = "number number -> number", "number divisor -> number"

ROWS = (
    _truth("and", 2, lambda left, right: bool(left) and bool(right), "operator.and_", "infix", AND,
           "bool bool -> bool"),
    _truth("or", 2, lambda left, right: bool(left) or bool(right), "operator.or_", "infix", OR,
           "bool bool -> bool"),
    _truth("not", 1, lambda value: not value, "operator.invert", "prefix", NOT, "bool -> bool"),
    _truth("in", None, lambda item, *members: item in members, ".is_in", "table", COMPARISON,
           "any list -> bool"),
    *map(_comparison, OUTCOMES),
    _arithmetic("+", meaning.add, "operator.add", SUM, "add", NUMBERS, "text text -> text",
                gives="any", weight=2),
    _arithmetic("-", meaning.subtract, "operator.sub", SUM, "subtract", NUMBERS, weight=2),
    _arithmetic("*", meaning.multiply, "operator.mul", PRODUCT, "multiply", NUMBERS,
                "text number -> text", gives="any", is_bounded=True),
    _arithmetic("/", meaning.divide, "operator.truediv", PRODUCT, "divide", CARE, gives="float"),
    _arithmetic("//", meaning.floor_divide, "operator.floordiv", PRODUCT, "floor_divide", CARE,
                gives="int"),
    _arithmetic("%", meaning.modulo, "operator.mod", PRODUCT, "modulo", CARE),
    _arithmetic("^", meaning.power, "operator.pow", POWER, "power", CARE, is_bounded=True),
    Operator("negate", 1, lambda value: -exact(one_number("-", value)), "number", "operator.neg",
             "prefix", "-", SIGN, "negate", ("number -> number",)),
    Operator("plus", 1, lambda value: exact(one_number("+", value)), "number", "operator.pos",
             "prefix", "+", SIGN, "plus", ("number -> number",)),
    _function("indicator", lambda value: 1 if value else 0, "rasp.indicator", "",
              "indicator(x): 1 where x is true, else 0", draws="any -> number"),
    _function("round", lambda value: round(exact(one_number("round", value))), "builtins.round",
              "rounded", "round(x): the nearest int, halves to the even one", weight=2),
    _function("floor", lambda value: math.floor(exact(one_number("floor", value))), "math.floor",
              "floored", "floor(x): the nearest int below or at x"),
    _function("int", meaning.to_int, "math.trunc", "truncated",
              "int(x): a number without its fraction, or the int that a string spells",
              is_bounded=True),
    _function("abs", meaning.absolute, "builtins.abs",
              "absolute", "abs(x): how far x is from 0", gives="number"),
    _reading("float", meaning.to_float, "floated", is_bounded=True),
    _reading("string", meaning.to_string),
    _reading("bool", lambda value: bool(value)),
    Operator("if", 3, lambda condition, then, otherwise: then if condition else otherwise, "any",
             "rasp.where", "table", binding=TERNARY),
    Operator("at", None, meaning.at, "any", ".lookup", "table"),
    Operator("lookup", None, meaning.lookup, "any", ".lookup", "table"),
)  # fmt: skip
OPERATORS: dict[str, Operator] = {row.name: row for row in ROWS}
