"""The operator table: a row for each elementwise operator, with all that is known of it.

A node holds an operator's name. The elaborator applies its meaning to constants, the plain
evaluator at each position, and every back end must agree with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from rasp.base.atoms import Atom, checked
from rasp.base.errors import RaspError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.language.operators import meaning
from rasp.language.operators.comparisons import ORDERINGS, OUTCOMES, PYTHON_NAMES
from rasp.language.operators.meaning import exact, one_number

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
    (an int, unless an operand is a float), an `int or float`, or `any` atom."""
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
    """The function of `evaluator.fast.arithmetic` that computes it on arrays of numbers."""
    doc: str = ""
    is_bounded: bool = False
    """Whether it looks at the budgets itself, before it makes something large."""
    never_fails_on: str = ""
    """Operands for which it is sure to have a value: `any` atoms or `numbers`, as large as the
    limits allow. The checker counts on it."""

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


def leaves_alone(op: str, operands: Iterable[Atom]) -> bool:
    """Whether an operator of one operand changes none of these numbers.

    >>> leaves_alone("abs", [1, 2]), leaves_alone("abs", [-1])
    (True, False)
    """
    try:
        return all(apply_operator(op, (operand,)) == operand for operand in operands)
    except RaspError:
        return False


@cache
def giving(*kinds: str) -> tuple[str, ...]:
    """Name the operators whose results are sure to be of one of these kinds.

    >>> giving("float")
    ('/', 'float')
    """
    return tuple(name for name, operator in OPERATORS.items() if operator.gives in kinds)


@cache
def never_failing_on(operands: str) -> tuple[str, ...]:
    """Name the operators that are sure to have a value for `any` atoms, or for `numbers`.

    >>> "abs" in never_failing_on("numbers"), "%" in never_failing_on("numbers")
    (True, False)
    """
    return tuple(name for name, row in OPERATORS.items() if row.never_fails_on in ("any", operands))


def written(how: str) -> list[Operator]:
    """List the operators that a program writes in a certain way.

    >>> [operator.text for operator in written("prefix")]
    ['not', '-', '+']
    """
    return [operator for operator in OPERATORS.values() if operator.written == how]


def _truth(name: str, arity: int | None, apply: Callable[..., Atom], python: str, written: str,
           binding: int, never_fails_on: str = "any") -> Operator:  # fmt: skip
    return Operator(name, arity, apply, "bool", python, written, binding=binding,
                    never_fails_on=never_fails_on)  # fmt: skip


def _comparison(op: str) -> Operator:
    name = f"operator.{PYTHON_NAMES[op]}"
    if op in ORDERINGS:
        return _truth(op, 2, meaning.ordered(op), name, "infix", COMPARISON,
                      never_fails_on="numbers")  # fmt: skip
    apply = meaning.equal if op == "==" else meaning.unequal
    return _truth(op, 2, apply, name, "infix", COMPARISON)


def _arithmetic(name: str, apply: Callable[..., Atom], python: str, binding: int, kernel: str,
                gives: str = "number", is_bounded: bool = False,
                never_fails_on: str = "") -> Operator:  # fmt: skip
    return Operator(name, 2, apply, gives, python, "infix", "", binding, kernel,
                    is_bounded=is_bounded, never_fails_on=never_fails_on)  # fmt: skip


def _sign(name: str, sign: str, apply: Callable[..., Atom], python: str) -> Operator:
    return Operator(name, 1, apply, "number", python, "prefix", sign, SIGN, kernel=name,
                    never_fails_on="numbers")  # fmt: skip


def _function(name: str, apply: Callable[..., Atom], doc: str, gives: str = "int",
              arity: int = 1, python: str = "", kernel: str = "", is_bounded: bool = False,
              never_fails_on: str = "") -> Operator:  # fmt: skip
    """A function; unless told, Python has it in `rasp`."""
    return Operator(name, arity, apply, gives, python or f"rasp.{name}", kernel=kernel,
                    doc=doc, is_bounded=is_bounded,
                    never_fails_on=never_fails_on)  # fmt: skip


def _reading(name: str, apply: Callable[..., Atom], kernel: str = "", is_bounded: bool = False,
             never_fails_on: str = "") -> Operator:  # fmt: skip
    return Operator(name, 1, apply, name, "", "reading", kernel=kernel, is_bounded=is_bounded,
                    never_fails_on=never_fails_on)  # fmt: skip


ROWS = (
    _truth("and", 2, lambda left, right: bool(left) and bool(right), "operator.and_", "infix", AND),
    _truth("or", 2, lambda left, right: bool(left) or bool(right), "operator.or_", "infix", OR),
    _truth("not", 1, lambda value: not value, "operator.invert", "prefix", NOT),
    _truth("in", None, lambda item, *members: item in members, ".is_in", "table", COMPARISON),
    *map(_comparison, OUTCOMES),
    _arithmetic("+", meaning.add, "operator.add", SUM, "add",
                gives="any", never_fails_on="numbers"),
    _arithmetic("-", meaning.subtract, "operator.sub", SUM, "subtract",
                never_fails_on="numbers"),
    _arithmetic("*", meaning.multiply, "operator.mul", PRODUCT, "multiply",
                gives="any", is_bounded=True, never_fails_on="numbers"),
    _arithmetic("/", meaning.divide, "operator.truediv", PRODUCT, "divide", gives="float"),
    _arithmetic("//", meaning.floor_divide, "operator.floordiv", PRODUCT, "floor_divide",
                gives="int"),
    _arithmetic("%", meaning.modulo, "operator.mod", PRODUCT, "modulo"),
    _arithmetic("^", meaning.power, "operator.pow", POWER, "power", gives="int or float",
                is_bounded=True),
    _sign("negate", "-", lambda value: -exact(one_number("-", value)), "operator.neg"),
    _sign("plus", "+", lambda value: exact(one_number("+", value)), "operator.pos"),
    _function("indicator", lambda value: 1 if value else 0,
              "indicator(x): 1 where x is true, else 0",
              never_fails_on="any"),
    _function("round", lambda value: round(exact(one_number("round", value))),
              "round(x): the nearest int, halves to the even one",
              python="builtins.round", kernel="rounded", never_fails_on="numbers"),
    _function("floor", lambda value: math.floor(exact(one_number("floor", value))),
              "floor(x): the nearest int below or at x",
              python="math.floor", kernel="floored", never_fails_on="numbers"),
    _function("int", meaning.to_int,
              "int(x): a number without its fraction, or the int that a string spells",
              python="math.trunc", kernel="truncated", is_bounded=True, never_fails_on="numbers"),
    _function("abs", meaning.absolute, "abs(x): how far x is from 0", gives="number",
              python="builtins.abs", kernel="absolute", never_fails_on="numbers"),
    _reading("float", meaning.to_float, "floated", is_bounded=True, never_fails_on="numbers"),
    _reading("string", meaning.to_string, never_fails_on="any"),
    _reading("bool", lambda value: bool(value), never_fails_on="any"),
    Operator("if", 3, lambda condition, then, otherwise: then if condition else otherwise, "any",
             "rasp.where", "table", binding=TERNARY, never_fails_on="any"),
    Operator("at", None, meaning.at, "any", ".lookup", "table"),
    Operator("lookup", None, meaning.lookup, "any", ".lookup", "table"),
)  # fmt: skip
OPERATORS: dict[str, Operator] = {row.name: row for row in ROWS}
