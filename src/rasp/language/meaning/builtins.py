"""The functions of the language itself: each gets a bound call and builds a value.

Everything else people call (`length`, `selector_width`, `sort`, …) is RASP, in `library.rasp`.
"""

from __future__ import annotations

from dataclasses import dataclass

from rasp.base.atoms import Atom, describe, is_atom, read_input
from rasp.base.errors import RaspError, RaspTypeError
from rasp.language.graph import (
    Aggregate,
    Elementwise,
    Indices,
    Node,
    Score,
    Scorer,
    Select,
    SelectBest,
    Selector,
    SOp,
    Tokens,
    TokensAs,
    apply_operator,
)
from rasp.language.meaning.operations import check_size
from rasp.language.meaning.value_kinds import (
    MISSING,
    BoundCall,
    BuiltIn,
    ComparisonSign,
    Scope,
    Value,
)
from rasp.language.operators import COMPARISONS, Operator, written


@dataclass(frozen=True)
class DrawRequest:
    """What `draw(s_op, input)` asks for; the front door that ran the program makes the picture."""

    node: Node
    tokens: tuple[Atom, ...]
    """The input; empty for the running example, which the session puts in."""


def _select(call: BoundCall) -> Value:
    op = call["op"]
    if not isinstance(op, ComparisonSign):
        hint = "write the bare sign: `select(tokens, tokens, ==)`"
        if isinstance(op, str) and op in COMPARISONS:
            hint = f"write the bare sign, without quotes: `{op}`"
        raise call.fail("op", f"`select` takes a comparison last, but {call.found('op')}", hint)
    return Select(call.s_op("keys"), call.s_op("queries"), op.op)


def _aggregate(call: BoundCall) -> Value:
    if not is_atom(call["default"]):
        raise call.fail(
            "default",
            f"the default of `aggregate` is an atom, but {call.found('default')}",
            "to choose a default position by position, use a ternary on `has_focus(selector)`",
        )
    if isinstance(call["selector"], SOp) and isinstance(call["values"], Selector):
        raise call.fail(
            "selector",
            "`aggregate` takes the selector first, and the values second",
            "turn them round: `aggregate(selector, values)`",
        )
    return Aggregate(call.selector("selector"), call.s_op("values"), call["default"])


def _score(call: BoundCall) -> Value:
    return Score(call.s_op("keys"), call.s_op("queries"))


def _select_best(call: BoundCall) -> Value:
    scorer = call["scorer"]
    if not isinstance(scorer, Scorer):
        raise call.fail(
            "scorer",
            f"`select_best` takes a scorer second, but {call.found('scorer')}",
            "make one with `score(keys, queries)`, such as `score(indices, 1)` for the last",
        )
    return SelectBest(call.selector("selector"), scorer)


def _elementwise(operator: Operator) -> BuiltIn:
    name, parameters = operator.name, operator.parameters

    def build(call: BoundCall) -> Value:
        operands = tuple(map(call.s_op, parameters))
        values = tuple(call[parameter] for parameter in parameters)
        if all(map(is_atom, values)):
            return apply_operator(name, values, call.limits)
        return Elementwise(name, operands)

    return BuiltIn(name, parameters, (MISSING,) * len(parameters), build)


def _range(call: BoundCall) -> Value:
    if not 1 <= len(call.extra) <= 3:
        raise _wrong_arguments("`range` takes one to three ints", "range(n)")
    for value in call.extra:
        if not isinstance(value, int):
            raise _wrong_arguments(f"`range` takes ints, but this is {describe(value)}",
                                   "range(n)")  # fmt: skip
    try:
        numbers = range(*call.extra)
    except ValueError:
        raise _wrong_arguments("the step of a `range` cannot be 0", "range(0, n, 2)") from None
    try:
        size = len(numbers)
    except OverflowError:
        size = 10**18
    check_size(size, call.limits)
    return list(numbers)


def _zip(call: BoundCall) -> Value:
    for value in call.extra:
        if not isinstance(value, list):
            raise _wrong_arguments(f"`zip` takes lists, but this is {describe(value)}",
                                   "zip([1, 2], ['a', 'b'])")  # fmt: skip
    if len({len(value) for value in call.extra}) > 1:
        raise _wrong_arguments(
            "`zip` takes lists of one length, but these differ", "zip([1, 2], ['a', 'b'])"
        )
    return [list(items) for items in zip(*call.extra, strict=True)]


def _len(call: BoundCall) -> Value:
    if isinstance(call["x"], list):
        return len(call["x"])
    hint = "`len` counts the items of a list"
    if isinstance(call["x"], str):
        hint += "; how many tokens an input has is the s-op `length`"
    if isinstance(call["x"], SOp):
        hint = "for how many tokens the input has, use `length`"
    raise call.fail("x", f"`len` takes a list, but {call.found('x')}", hint)


def _draw(call: BoundCall) -> Value:
    node, given = call["s_op"], call["input"]
    if not isinstance(node, (SOp, Selector)):
        raise call.fail(
            "s_op",
            f"`draw` takes an s-op or a selector first, but {call.found('s_op')}",
            'write `draw(reverse, "abcde");`',
        )
    if given is None:
        return DrawRequest(node, ())
    if not isinstance(given, (str, list)):
        raise call.fail(
            "input",
            f"`draw` takes an input second, but {call.found('input')}",
            'write `draw(reverse, "abcde");`',
        )
    return DrawRequest(node, read_input(given, call.limits))


def _wrong_arguments(message: str, example: str) -> RaspError:
    return RaspTypeError(message, hint=f"write `{example}`")


def language_scope() -> Scope:
    """Return a fresh scope with everything that is built in.

    >>> sorted(name for name in language_scope().names if name.startswith("select"))
    ['select', 'select_best']
    """
    tokens = Tokens()
    values: dict[str, Value] = {
        "tokens": tokens,
        "tokens_asis": tokens,
        "indices": Indices(),
        "tokens_str": TokensAs("string"),
        "tokens_int": TokensAs("int"),
        "tokens_float": TokensAs("float"),
        "tokens_bool": TokensAs("bool"),
    }
    functions = (
        BuiltIn("select", ("keys", "queries", "op"), (MISSING,) * 3, _select),
        BuiltIn("aggregate", ("selector", "values", "default"), (MISSING, MISSING, 0), _aggregate),
        BuiltIn("score", ("keys", "queries"), (MISSING,) * 2, _score),
        BuiltIn("select_best", ("selector", "scorer"), (MISSING,) * 2, _select_best),
        *map(_elementwise, written("call")),
        BuiltIn("range", (), (), _range, is_variadic=True),
        BuiltIn("zip", (), (), _zip, is_variadic=True),
        BuiltIn("len", ("x",), (MISSING,), _len),
        BuiltIn("draw", ("s_op", "input"), (MISSING, None), _draw),
    )
    values.update({function.name: function for function in functions})
    return Scope(names=values, is_given=True)
