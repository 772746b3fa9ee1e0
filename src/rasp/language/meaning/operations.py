"""Two values in, one value out: what the operators mean on atoms, lists, s-ops and selectors.

Work on atoms and lists is done here and now; anything with an s-op or selector in it becomes
a node of the graph. Errors carry no span: the elaborator knows where it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from rasp.base.atoms import Number, describe, is_atom
from rasp.base.errors import RaspError, RaspLimitError, RaspTypeError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.meter import BYTES_PER_STEP, Meter
from rasp.language.graph import (
    Const,
    Elementwise,
    Node,
    Score,
    Scorer,
    ScoreSum,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    apply_operator,
    score_terms,
)
from rasp.language.meaning.containers import membership
from rasp.language.meaning.value_kinds import Value
from rasp.language.operators import written

RETURNS_NOTHING = "the function returns nothing: add a `return`"
UNARY_NAMES = {operator.text: operator.name for operator in written("prefix")}


def binary(op: str, left: Value, right: Value, meter: Meter) -> Value:
    """Apply a binary operator; what it makes and looks at is counted.

    >>> binary("+", 1, 2, Meter(DEFAULT_LIMITS))
    3
    """
    if op == "in":
        return membership(left, right, meter)
    if op == "not in":
        return unary("not", membership(left, right, meter), meter)
    if isinstance(left, Selector) or isinstance(right, Selector):
        return _selectors(op, left, right)
    if isinstance(left, Scorer) or isinstance(right, Scorer):
        return _scorers(op, left, right)
    if isinstance(left, SOp) or isinstance(right, SOp):
        return Elementwise(op, (as_s_op(op, left, right), as_s_op(op, right, left)))
    if op in ("and", "or") and _has_truth(left) and _has_truth(right):
        return (left and right) if op == "and" else (left or right)
    if is_atom(left) and is_atom(right):
        value = apply_operator(op, (left, right), meter.limits)
    elif op in ("==", "!=") and _is_constant(left) and _is_constant(right):
        return equal(left, right, meter) == (op == "==")
    else:
        value = _lists(op, left, right, meter.limits)
    meter.made(value)
    return value


def equal(left: Value, right: Value, meter: Meter) -> bool:
    """Compare values; two lists that were compared before are not compared again.

    >>> equal([1, [2]], [1, [3]], Meter(DEFAULT_LIMITS))
    False
    """
    waiting: list[tuple[Value, Value]] = []
    seen: set[tuple[int, int]] = set()
    pairs: Iterable[tuple[Value, Value]] = [(left, right)]
    while True:
        for one, other in pairs:
            if one is other:
                continue
            if isinstance(one, (list, dict)):
                waiting.append((one, other))
            elif one != other:
                return False
            elif isinstance(one, str):
                meter.step(len(one) // BYTES_PER_STEP)
        while waiting and (id(waiting[-1][0]), id(waiting[-1][1])) in seen:
            waiting.pop()
        if not waiting:
            return True
        one, other = waiting.pop()
        if type(one) is not type(other) or len(one) != len(other):
            return False
        seen.add((id(one), id(other)))
        meter.step()
        meter.touched(len(one))
        if isinstance(one, dict) and one.keys() != other.keys():
            return False
        pairs = zip(one, other, strict=True) if isinstance(one, list) else (
            (item, other[key]) for key, item in one.items()
        )  # fmt: skip


def as_s_op(op: str, value: Value, other: Value) -> SOp:
    """Return an operand of an operator as an s-op."""
    if isinstance(value, SOp):
        return value
    if is_atom(value):
        return Const(value)
    raise _no_operation(op, value, other)


def _selectors(op: str, left: Value, right: Value) -> Value:
    if not (isinstance(left, Selector) and isinstance(right, Selector)):
        raise _no_operation(op, left, right)
    if op == "and":
        return SelectorAnd(left, right)
    if op == "or":
        return SelectorOr(left, right)
    raise RaspTypeError(
        f"`{op}` does not work on two selectors", hint="selectors combine with `and`, `or`, `not`"
    )


def _scorers(op: str, left: Value, right: Value) -> Value:
    """A head's score is a dot product: scorers add, and a number is a factor of one."""
    match op, left, right:
        case "+", Scorer(), Scorer():
            return ScoreSum(left, right)
        case "-", Scorer(), Scorer():
            return ScoreSum(left, _scaled(right, -1))
        case "*", Scorer(), bool() | int() | Fraction():
            return _scaled(left, right)
        case "*", bool() | int() | Fraction(), Scorer():
            return _scaled(right, left)
        case "/", Scorer(), bool() | int() | Fraction() if right:
            return _scaled(left, 1 / Fraction(right))
    raise _no_operation(op, left, right)


def _scaled(scorer: Scorer, factor: Number) -> Scorer:
    """A number times a scorer: each product takes it as a factor of its keys."""
    scaled: Scorer | None = None
    for term in score_terms(scorer):
        keys: SOp = Elementwise("*", (Const(factor), term.keys))
        if isinstance(term.keys, Const):
            keys = Const(apply_operator("*", (factor, term.keys.value)))
        product = Score(keys, term.queries)
        scaled = product if scaled is None else ScoreSum(scaled, product)
    assert scaled is not None
    return scaled


def _lists(op: str, left: Value, right: Value, limits: Limits) -> Value:
    if op == "+" and isinstance(left, list) and isinstance(right, list):
        check_size(len(left) + len(right), limits)
        return left + right
    times, items = (left, right) if isinstance(right, list) else (right, left)
    if op == "*" and isinstance(items, list) and isinstance(times, int):
        check_size(len(items) * times, limits)
        return items * int(times) if items else []
    raise _no_operation(op, left, right)


def check_size(size: int, limits: Limits) -> None:
    if size > limits.list_size:
        raise RaspLimitError(
            f"a list of {size} items is over the limit of {limits.list_size}"
            if size < 10**12
            else f"a list is over the limit of {limits.list_size} items",
            hint="lists are made when the program is read; work on the input goes into s-ops",
        )


def _no_operation(op: str, left: Value, right: Value) -> RaspError:
    sides = (left, right)
    if any(side is None for side in sides):
        hint = RETURNS_NOTHING
    elif (
        op in ("and", "or")
        and any(isinstance(side, Selector) for side in sides)
        and (any(isinstance(side, SOp) for side in sides))
    ):
        hint = "make a selector of the s-op: `select(x, True, ==)` picks the keys where x is true"
    elif isinstance(left, Selector) or isinstance(right, Selector):
        hint = "selectors combine only with selectors; `aggregate` turns one into an s-op"
    elif isinstance(left, Scorer) or isinstance(right, Scorer):
        hint = "scorers add, and take a number as a factor: `2 * score(a, b) + score(c, 1)`"
    elif isinstance(left, (list, dict)) or isinstance(right, (list, dict)):
        hint = "lists and dicts are compile-time values: index into them, or loop over them"
    else:
        hint = "call the function first: a function is not a value to compute with"
    return RaspTypeError(
        f"`{op}` does not work on {describe(left)} and {describe(right)}", hint=hint
    )


def unary(op: str, operand: Value, meter: Meter | None = None) -> Value:
    """Apply `not`, `-` or `+`."""
    if isinstance(operand, Selector) and op == "not":
        return SelectorNot(operand)
    if isinstance(operand, Scorer) and op in ("-", "+"):
        return operand if op == "+" else _scaled(operand, -1)
    if isinstance(operand, SOp):
        return Elementwise(UNARY_NAMES[op], (operand,))
    if op == "not" and _has_truth(operand):
        return not operand
    if is_atom(operand):
        meter = meter or Meter(DEFAULT_LIMITS)
        value = apply_operator(UNARY_NAMES[op], (operand,), meter.limits)
        meter.made(value)
        return value
    hint = "it works on s-ops and atoms"
    if operand is None:
        hint = RETURNS_NOTHING
    elif isinstance(operand, Selector):
        hint = "the only operators on selectors are `and`, `or`, `not`"
    raise RaspTypeError(f"`{op}` does not work on {describe(operand)}", hint=hint)


def ternary(condition: SOp, then: Value, otherwise: Value) -> Value:
    """Choose at each position; both branches are computed everywhere."""
    branches: list[SOp] = []
    for branch in (then, otherwise):
        if isinstance(branch, SOp):
            branches.append(branch)
        elif is_atom(branch):
            branches.append(Const(branch))
        else:
            raise RaspTypeError(
                f"the condition is an s-op, so both branches must be s-ops or atoms, "
                f"but one is {describe(branch)}",
                hint="only a condition that is an atom can choose between other things",
            )
    return Elementwise("if", (condition, *branches))


def is_true(condition: Value) -> bool:
    """Decide a compile-time condition."""
    if _has_truth(condition):
        return bool(condition)
    hint = "compare something: `a if x == 1 else b`"
    if isinstance(condition, Selector):
        hint = "`has_focus(selector)` says where a query picks anything"
    raise RaspTypeError(
        f"a condition is an s-op or an atom, but this is {describe(condition)}", hint=hint
    )


def _has_truth(value: Value) -> bool:
    return is_atom(value) or isinstance(value, (list, dict))


def _is_constant(value: Value) -> bool:
    return is_atom(value) or (
        isinstance(value, list) and not any(isinstance(v, Node) for v in value)
    )
