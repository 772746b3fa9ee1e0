"""Handles in, handles out: Python's operators on s-ops and selectors.

They build the nodes that the same text would build, so a program is the same graph by either
door. What RASP refuses is refused here too, in Python's words.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias, TypeVar

from rasp.base.atoms import PythonAtom, is_atom
from rasp.base.errors import RaspError, RaspTypeError
from rasp.base.limits import DEFAULT_LIMITS, Limits, tightest
from rasp.base.meter import Meter
from rasp.base.tracebacks import door, doors
from rasp.language.embedding import handle_refusals
from rasp.language.embedding.handles import NOTHING_KNOWN, Handle, handles_in, value_of
from rasp.language.embedding.python_places import Place, calling_place
from rasp.language.graph import Const, Elementwise, Node, Program, Scorer, Selector, SOp
from rasp.language.meaning import operations
from rasp.language.meaning.containers import index, membership
from rasp.language.meaning.value_kinds import Value
from rasp.language.operators import COMPARISONS, OPERATORS, written
from rasp.language.operators.table import COMPARISON, POWER, PRODUCT, SUM


def _infix(
    op: str,
) -> tuple[Callable[[SOpHandle, Operand], SOpHandle], Callable[[SOpHandle, Operand], SOpHandle]]:
    """The methods of an operator: with the s-op on its left, and on its right."""

    def method(self: SOpHandle, other: Operand) -> SOpHandle:
        return joined(SOpHandle, op, self, other)

    def turned(self: SOpHandle, other: Operand) -> SOpHandle:
        return joined(SOpHandle, op, other, self)

    return method, turned


def _prefix(op: str) -> Callable[[SOpHandle], SOpHandle]:
    """The method of an operator before its operand."""

    def method(self: SOpHandle) -> SOpHandle:
        return built(SOpHandle, partial(operations.unary, op), self)

    return method


def _function(op: str) -> Callable[[SOpHandle], SOpHandle]:
    """The method of an operator that Python has a function for, such as `math.floor`."""

    def method(self: SOpHandle) -> SOpHandle:
        return built(SOpHandle, lambda node: Elementwise(op, (node,)), self)

    return method


@doors
class SOpHandle(Handle):
    """A sequence to be computed: one atom per position.

    Operators work position by position; an atom is the same at every position:
    `+ - * / // % **`, the six comparisons, `&` (and), `|` (or), `~` (not).

    >>> from rasp import indices, tokens
    >>> ((indices > 0) & (tokens != "a"))("bab")
    [False, False, True]
    """

    node: SOp

    __add__, __radd__ = _infix("+")
    __sub__, __rsub__ = _infix("-")
    __mul__, __rmul__ = _infix("*")
    __truediv__, __rtruediv__ = _infix("/")
    __floordiv__, __rfloordiv__ = _infix("//")
    __mod__, __rmod__ = _infix("%")
    __pow__, __rpow__ = _infix("^")
    __eq__ = _infix("==")[0]  # type: ignore[assignment]
    __ne__ = _infix("!=")[0]  # type: ignore[assignment]
    __lt__ = _infix("<")[0]
    __le__ = _infix("<=")[0]
    __gt__ = _infix(">")[0]
    __ge__ = _infix(">=")[0]
    __hash__ = Handle.__hash__  # defining `==` would remove it

    def __and__(self, other: SOpHandle | bool) -> SOpHandle:
        return joined(SOpHandle, "and", self, self._joinable("&", other))

    def __rand__(self, other: SOpHandle | bool) -> SOpHandle:
        return joined(SOpHandle, "and", self._joinable("&", other), self)

    def __or__(self, other: SOpHandle | bool) -> SOpHandle:
        return joined(SOpHandle, "or", self, self._joinable("|", other))

    def __ror__(self, other: SOpHandle | bool) -> SOpHandle:
        return joined(SOpHandle, "or", self._joinable("|", other), self)

    def _joinable(self, sign: str, other: SOpHandle | bool) -> SOpHandle | bool:
        if isinstance(other, (Handle, bool)):
            return other
        raise handle_refusals.no_loose_atom(self.node, sign, other)

    __invert__, __neg__, __pos__ = map(_prefix, ("not", "-", "+"))

    def __round__(self, digits: None = None) -> SOpHandle:
        """Round to the nearest int, halves to the even one: `round(s_op)`."""
        if digits is not None:
            raise handle_refusals.no("digits", self.node)
        return _function("round")(self)

    __floor__ = _function("floor")
    __abs__ = _function("abs")
    __trunc__ = _function("int")

    def at(self, position: int) -> SOpHandle:
        """Broadcast one position to all, negative from the end (which costs `length`).

        >>> from rasp.language.embedding.constructors import tokens
        >>> tokens.at(-1)("hey")
        ['y', 'y', 'y']
        """
        return built(SOpHandle, index, self, position)

    def __getitem__(self, position: int) -> SOpHandle:
        """`s_op[i]` is `s_op.at(i)`."""
        if isinstance(position, slice):
            raise handle_refusals.no("slice", self.node)
        return built(SOpHandle, index, self, position)

    def is_in(self, members: list[PythonAtom] | tuple[PythonAtom, ...] | str) -> SOpHandle:
        """Tell at each position whether the atom there is one of the members.

        >>> from rasp.language.embedding.constructors import tokens
        >>> tokens.is_in("aeiou")("hey")
        [False, True, False]
        """
        return built(SOpHandle, membership, self, list(members))

    def lookup(self, table: dict[Any, Any] | list[Any] | tuple[Any, ...] | str) -> SOpHandle:
        """Replace the atom at each position by what a dict, list or string holds for it.

        >>> from rasp.language.embedding.constructors import tokens
        >>> tokens.lookup({"a": 1, "b": 2})("abba")
        [1, 2, 2, 1]
        """
        return built(SOpHandle, index, table, self)


@doors
class SelectorHandle(Handle):
    """A yes or no for each (query, key) pair, to be computed; combine with `&`, `|`, `~`.

    >>> from rasp import indices, select, tokens
    >>> (select(tokens, tokens, "==") & ~select(indices, indices, "=="))("aba")
    [[False, False, True], [False, False, False], [True, False, False]]
    """

    node: Selector

    def __and__(self, other: SelectorHandle) -> SelectorHandle:
        return joined(SelectorHandle, "and", self, other)

    def __or__(self, other: SelectorHandle) -> SelectorHandle:
        return joined(SelectorHandle, "or", self, other)

    def __invert__(self) -> SelectorHandle:
        return built(SelectorHandle, lambda node: operations.unary("not", node), self)

    def __getitem__(self, position: object) -> Any:
        return built(SOpHandle, index, self, position)  # which says why not

    __rand__ = __and__
    __ror__ = __or__


@doors
class ScorerHandle(Handle):
    """A number for each (query, key) pair, to be computed; an argument of `select_best`.

    Scorers add and subtract, and a number is a factor of one: still one head.

    >>> from rasp import indices, score
    >>> score(indices, 1)
    <scorer score(indices, 1)>
    >>> (2 * score(indices, indices) - score(indices * indices, 1))("abc")
    [[0, -1, -4], [0, 1, 0], [0, 3, 4]]
    """

    node: Scorer

    def __add__(self, other: ScorerHandle) -> ScorerHandle:
        return joined(ScorerHandle, "+", self, other)

    def __sub__(self, other: ScorerHandle) -> ScorerHandle:
        return joined(ScorerHandle, "-", self, other)

    def __mul__(self, other: float | Fraction) -> ScorerHandle:
        return joined(ScorerHandle, "*", self, other)

    def __rmul__(self, other: float | Fraction) -> ScorerHandle:
        return joined(ScorerHandle, "*", other, self)

    def __truediv__(self, other: float | Fraction) -> ScorerHandle:
        return joined(ScorerHandle, "/", self, other)

    def __neg__(self) -> ScorerHandle:
        return built(ScorerHandle, lambda node: operations.unary("-", node), self)

    def __pos__(self) -> ScorerHandle:
        return self


Operand: TypeAlias = SOpHandle | PythonAtom | Fraction
"""What an operator or function takes where RASP expects an s-op: one, or an atom."""
AnyHandle = TypeVar("AnyHandle", bound=Handle)

_DUNDERS = {
    operator.python.removeprefix("operator.").rstrip("_"): operator.name
    for operator in written("infix")
}


def _signs(*bindings: int) -> dict[str, str]:
    """The names of Python's methods for the operators that bind so tightly."""
    return {name: op for name, op in _DUNDERS.items() if OPERATORS[op].binding in bindings}


def _refuse_operators(of: type[Handle], signs: dict[str, str]) -> None:
    """Give a kind of handle the operators that it does not have, to explain why."""

    def refusing(op: str) -> Callable[[Handle, object], Any]:
        return door(lambda self, other: joined(SOpHandle, op, self, other))

    for name, op in signs.items():
        setattr(of, f"__{name}__", refusing(op))
        if op not in COMPARISONS:
            setattr(of, f"__r{name}__", refusing(op))


def _give_functions(of: type[SOpHandle]) -> None:
    """Give handles what Python's functions of one number ask for, such as `math.floor`."""

    for row in written("call"):
        module, _, function = row.python.rpartition(".")
        if module in ("math", "builtins") and f"__{function}__" not in vars(of):
            setattr(of, f"__{function}__", door(_function(row.name)))


_give_functions(SOpHandle)
_refuse_operators(SelectorHandle, _signs(COMPARISON, SUM, PRODUCT, POWER))
_refuse_operators(ScorerHandle, {
    name: op for name, op in _DUNDERS.items() if op not in ("+", "-", "*", "/")
})  # fmt: skip


def handle_of(
    node: Node,
    known: Program = NOTHING_KNOWN,
    made_from: tuple[Handle, ...] = (),
    place: Place | None = None,
    limits: Limits | None = None,
) -> Handle:
    """Return the handle that fits a node; it keeps to the budgets of what it was made from."""
    for handle in made_from:
        if handle.limits is not None:  # hardly ever
            limits = tightest([limits, handle.limits])
    match node:
        case SOp():
            return SOpHandle(node, known, made_from, place, limits=limits)
        case Selector():
            return SelectorHandle(node, known, made_from, place, limits=limits)
        case _:
            return ScorerHandle(node, known, made_from, place, limits=limits)


def joined(kind: type[AnyHandle], op: str, left: object, right: object) -> AnyHandle:
    """Apply a binary operator of RASP to two handles of a kind, or to one and an atom."""
    return built(kind, partial(_binary, op), left, right)


def _binary(op: str, left: Value, right: Value) -> Value:
    try:
        return operations.binary(op, left, right, Meter(DEFAULT_LIMITS))
    except RaspTypeError as error:
        if any(isinstance(side, Selector) for side in (left, right)) and (
            any(isinstance(side, SOp) for side in (left, right))
        ):
            error.hints = (handle_refusals.MIXED_HINT,)
        raise


def built(kind: type[AnyHandle], build: Callable[..., Value], *values: object) -> AnyHandle:
    """Build a value of RASP from Python's, and return it as Python holds it."""
    try:
        value = build(*map(value_of, values))
    except RaspError as error:
        raise handle_refusals.in_python_words(error) from None
    if is_atom(value):
        value = Const(value)
    handle = handle_of(value, NOTHING_KNOWN, tuple(handles_in(values)), calling_place())
    assert isinstance(handle, kind)
    return handle
