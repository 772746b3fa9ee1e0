"""Python expressions in, handles out: the language itself, as Python code writes it.

>>> flip = select(indices, length - 1 - indices, "==").named("flip")
>>> aggregate(flip, tokens)("hey")
['y', 'e', 'h']

The same program by text or by Python is the same graph. Where RASP has words that Python does
not lend: `&`, `|`, `~` for `and`, `or`, `not`; `**` for `^`; `where(condition, x, y)` for the
ternary; `s_op.is_in(list)` for `in`; `table({...})[s_op]` to index into a list or dict.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, TypeAlias, TypeVar, overload

from rasp.base.atoms import PythonAtom, describe, from_python
from rasp.base.errors import RaspTypeError
from rasp.base.limits import DEFAULT_LIMITS
from rasp.base.terminal_text import visibly
from rasp.base.tracebacks import doors
from rasp.language.embedding import handle_refusals
from rasp.language.embedding.handle_operators import (
    AnyHandle,
    Operand,
    ScorerHandle,
    SelectorHandle,
    SOpHandle,
    built,
)
from rasp.language.embedding.handles import Handle, value_of
from rasp.language.graph import COMPARISONS, Const, Indices, SOp, Tokens, TokensAs
from rasp.language.graph.idioms import ALL_KEYS, LENGTH
from rasp.language.meaning import operations
from rasp.language.meaning.builtins import language_scope
from rasp.language.meaning.containers import index
from rasp.language.meaning.value_kinds import BoundCall, ComparisonSign, Value
from rasp.language.operators import OPERATORS

Comparison: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">="]
T = TypeVar("T")

_ALL_SIGNS = ", ".join(f'`"{sign}"`' for sign in COMPARISONS)
_BUILT_IN = language_scope().names

tokens = SOpHandle(Tokens())
"""The input itself."""
tokens_str = SOpHandle(TokensAs("string"))
"""The input's tokens as strings."""
tokens_int = SOpHandle(TokensAs("int"))
"""The input's tokens read as ints."""
tokens_float = SOpHandle(TokensAs("float"))
"""The input's tokens read as floats."""
tokens_bool = SOpHandle(TokensAs("bool"))
"""The input's tokens as bools: is it anything but 0, False or empty?"""
indices = SOpHandle(Indices())
"""The positions 0, 1, … n-1."""
select_all = SelectorHandle(ALL_KEYS, given_name="select_all")
"""Select every key from every query."""
length = SOpHandle(LENGTH, given_name="length")
"""How many tokens the input has, the same at every position; costs a head."""


def constant(atom: PythonAtom | Fraction) -> SOpHandle:
    """Return the s-op that holds the same atom at every position.

    Atoms do the same wherever an s-op is expected. It is needed only to put an atom on the
    left of a comparison, which Python would turn around.

    >>> constant(0) == indices, 0 == indices
    (<s-op 0 == indices>, <s-op indices == 0>)
    """
    return SOpHandle(Const(from_python(atom)))


def select(keys: Operand, queries: Operand, op: Comparison) -> SelectorHandle:
    """Make a selector: query i picks key j where `keys[j] op queries[i]`.

    >>> select(indices, indices, "<")("hey")
    [[False, False, False], [True, False, False], [True, True, False]]
    """
    if op not in COMPARISONS:
        raise handle_refusals.at_the_caller(
            RaspTypeError(
                f"`select` takes a comparison last, but this is {_describe(op)}",
                hint=f"write one of {_ALL_SIGNS}, in quotes",
            )
        )
    return _call(SelectorHandle, "select", ComparisonSign(op), keys=keys, queries=queries)


def aggregate(
    selector: SelectorHandle, values: Operand, default: PythonAtom | Fraction = 0
) -> SOpHandle:
    """Take, at each query, the mean of the values that the selector picked there.

    A lone pick passes through unchanged and may be any atom; where nothing was picked, the
    default is taken.

    >>> aggregate(select(indices, indices, "<"), indices + 1)("hey")
    [0, 1, 1.5]
    """
    return _call(SOpHandle, "aggregate", selector=selector, values=values, default=default)


def score(keys: Operand, queries: Operand) -> ScorerHandle:
    """Make a scorer: for query i and key j, the number `keys[j] * queries[i]`.

    >>> score(indices, indices + 1)("abc")
    [[0, 1, 2], [0, 2, 4], [0, 3, 6]]
    """
    return _call(ScorerHandle, "score", keys=keys, queries=queries)


def select_best(selector: SelectorHandle, scorer: ScorerHandle) -> SelectorHandle:
    """Keep, in each row of a selection, only the picks with the highest score; ties all stay.

    >>> last = select_best(select_all, score(indices, 1))
    >>> aggregate(last, tokens)("hey")
    ['y', 'y', 'y']
    """
    return _call(SelectorHandle, "select_best", selector=selector, scorer=scorer)


def indicator(condition: SOpHandle | bool) -> SOpHandle:
    """Give 1 where a condition is true, else 0.

    >>> indicator(tokens == "a")("aba")
    [1, 0, 1]
    """
    return function_of_operator("indicator")(condition)


def function_of_operator(name: str) -> Callable[..., SOpHandle]:
    """Return the function that applies an operator written as a call: `rasp.NAME` is it."""
    parameters = OPERATORS[name].parameters

    def apply(*operands: Operand) -> SOpHandle:
        if len(operands) != len(parameters):
            raise TypeError(f"{name}() takes {len(parameters)} operands, but got {len(operands)}")
        given: dict[str, Any] = dict(zip(parameters, operands, strict=True))
        return _call(SOpHandle, name, **given)

    apply.__name__, apply.__doc__ = name, OPERATORS[name].doc
    return apply


@overload
def where(condition: SOpHandle, then: Operand, otherwise: Operand) -> SOpHandle: ...
@overload
def where(condition: bool, then: T, otherwise: T) -> T: ...
def where(condition: SOpHandle | bool, then: Any, otherwise: Any) -> Any:
    """Choose at each position: RASP's `then if condition else otherwise`.

    A condition that is an atom chooses between the two as they are.

    >>> where(indices % 2 == 0, tokens, "-")("hello")
    ['h', '-', 'l', '-', 'o']
    """
    value = value_of(condition)
    if isinstance(value, SOp):
        return built(SOpHandle, operations.ternary, condition, then, otherwise)
    try:
        return then if operations.is_true(value) else otherwise
    except RaspTypeError as error:
        error.hints = ("compare something: `where(x == 1, a, b)`",)
        raise handle_refusals.at_the_caller(error) from None


@visibly
@doors
class Table:
    """A list, string or dict that an s-op can index, position by position.

    >>> Table({"a": 1, "b": 2})[tokens]("abba")
    [1, 2, 2, 1]
    """

    def __init__(self, items: dict[Any, Any] | list[Any] | tuple[Any, ...] | str) -> None:
        self.items = items

    def __getitem__(self, position: SOpHandle) -> SOpHandle:
        if not isinstance(position, Handle):
            raise handle_refusals.at_the_caller(
                RaspTypeError(
                    f"a table is indexed by an s-op, but this is {_describe(position)}",
                    hint="index the Python list or dict itself with plain values",
                )
            )
        return built(SOpHandle, index, self.items, position)

    def __repr__(self) -> str:
        return f"table({self.items!r})"


def table(items: dict[Any, Any] | list[Any] | tuple[Any, ...] | str) -> Table:
    """Make a list, string or dict that s-ops can index.

    >>> table([5, 6])[indices % 2]("abc")
    [5, 6, 5]
    """
    return Table(items)


def _call(
    kind: type[AnyHandle], function: str, op: ComparisonSign | None = None, **given: object
) -> AnyHandle:
    """Call a function of the language itself."""

    def build(*values: Value) -> Value:
        bound = dict(zip(given, values, strict=True)) | ({"op": op} if op else {})
        return _BUILT_IN[function].build(BoundCall(function, bound, {}, DEFAULT_LIMITS))

    return built(kind, build, *given.values())


def _describe(value: object) -> str:
    try:
        return describe(value_of(value))
    except RaspTypeError:
        return f"{value!r}"
