"""Binding a call's arguments to a function's parameters, with errors that name them.

What goes wrong inside the library is told of its arguments: nobody who calls `selector_width`
has written the `or` in it. A parameter's name says which kind of value it takes.
"""

from __future__ import annotations

from rasp.base.atoms import describe, is_atom
from rasp.base.errors import RaspError, RaspLimitError, RaspTypeError
from rasp.base.limits import Limits
from rasp.base.source import Span
from rasp.base.spelling import did_you_mean
from rasp.language.graph import Node, Scorer
from rasp.language.meaning.value_kinds import MISSING, BoundCall, BuiltIn, Function, Value
from rasp.language.syntax.tree import Argument, Call, Expression, Name
from rasp.language.words import BUILT_IN_DOCS


def bind(
    function: Function | BuiltIn,
    arguments: list[tuple[Argument, Value]],
    span: Span,
    limits: Limits,
) -> BoundCall:
    """Give each parameter its argument, or its default."""
    if isinstance(function, BuiltIn) and function.is_variadic:
        extra = tuple(value for _, value in arguments)
        return BoundCall(function.name, {}, {}, limits, extra)
    values: dict[str, Value] = {}
    spans: dict[str, Span] = {}
    positional = [pair for pair in arguments if pair[0].keyword is None]
    if len(positional) > len(function.parameters):
        raise _wrong_count(function, len(arguments), span)
    for parameter, (argument, value) in zip(function.parameters, positional, strict=False):
        values[parameter], spans[parameter] = value, argument.span
    for argument, value in arguments:
        if argument.keyword is None:
            continue
        if argument.keyword in values:
            raise RaspTypeError(
                f"`{function.name}` gets its `{argument.keyword}` twice",
                argument.span,
                "give it once, by place or by name",
            )
        if argument.keyword not in function.parameters:
            raise _unknown_keyword(function, argument)
        values[argument.keyword], spans[argument.keyword] = value, argument.span
    for parameter, default in zip(function.parameters, function.defaults, strict=True):
        if parameter not in values:
            if default is MISSING:
                raise _wrong_count(function, len(arguments), span)
            values[parameter] = default
    return BoundCall(function.name, values, spans, limits)


def input_of(node: Node, arguments: list[tuple[Argument, Value]], span: Span) -> Value:
    """Return the one input that an s-op or selector is applied to."""
    if not arguments:
        text = span.text.rpartition("(")[0].strip()
        hint = f'write `{text}` without brackets, or give it an input: `{text}("hello")`'
        raise RaspTypeError(f"`{text}` is {describe(node)}, not a function", span, hint)
    if len(arguments) != 1 or arguments[0][0].keyword:
        raise RaspTypeError(
            f"an s-op or selector is applied to one input, not {len(arguments)} arguments",
            span,
            'write `f("hello")` or `f([1, 2, 3])`',
        )
    argument, given = arguments[0]
    if isinstance(given, Node):
        raise RaspTypeError(
            f"an s-op or selector is applied to an input, but this is {describe(given)}",
            argument.span,
            "to compose programs, write a function: `def f(seq) { … }`",
        )
    return given


def called(expression: Expression) -> str:
    """Say which function an expression calls, by its name where it has one."""
    match expression:
        case Call(Name(name)):
            return f"`{name}`"
        case _:
            return "the function"


def nothing_returned(function: str, name: str) -> RaspError:
    """Refuse to give a name to what a function without `return` gives."""
    message = f"{function} returns nothing, so `{name}` would have no value"
    return RaspTypeError(message, hint="add a `return` to the function")


def signature(function: Function | BuiltIn) -> str:
    """Write a function's name and parameters.

    >>> from rasp.language.meaning.builtins import language_scope
    >>> signature(language_scope().names["aggregate"])
    'aggregate(selector, values, default=…)'
    """
    if isinstance(function, BuiltIn) and function.is_variadic:
        return f"{function.name}(…)"
    parameters = (
        name if default is MISSING else f"{name}=…"
        for name, default in zip(function.parameters, function.defaults, strict=True)
    )
    return f"{function.name}({', '.join(parameters)})"


def _wrong_count(function: Function | BuiltIn, given: int, span: Span) -> RaspError:
    least = sum(default is MISSING for default in function.defaults)
    most = len(function.parameters)
    wanted = str(most) if least == most else f"{least} to {most}"
    plural = "" if wanted == "1" else "s"
    return RaspTypeError(
        f"`{function.name}` takes {wanted} argument{plural}, but got {given}",
        span,
        _usage(function),
    )


def _usage(function: Function | BuiltIn) -> str:
    """How to call a function, and what it then gives."""
    doc = function.doc if isinstance(function, Function) else (
        BUILT_IN_DOCS.get(function.name, "").partition("): ")[2]
    )  # fmt: skip
    return f"call it as `{signature(function)}`" + (f": {doc}" if doc else "")


def _unknown_keyword(function: Function | BuiltIn, argument: Argument) -> RaspError:
    usage = f"call it as `{signature(function)}`"
    return RaspTypeError(
        f"`{function.name}` has no parameter `{argument.keyword}`",
        argument.span,
        did_you_mean(argument.keyword or "", function.parameters, usage),
    )


SELECTORS = ("sel",)
SCORERS = ("scorer",)
ATOMS = ("default", "assume_bos")


def library_refusal(function: Function, call: BoundCall, span: Span, error: RaspError) -> RaspError:
    """Say which argument a library function cannot use."""
    if isinstance(error, RaspLimitError):
        error.span = span
        error.calls.clear()
        return error
    try:
        for parameter in function.parameters:
            _check(parameter, call)
    except RaspError as refusal:
        return refusal.located(span)
    described = [describe(call[parameter]) for parameter in function.parameters]
    listed = " and ".join([", ".join(described[:-1]), described[-1]][len(described) < 2 :])
    return type(error)(
        f"`{function.name}` does not work on {listed}",
        span,
        f"`{signature(function)}`: {function.doc}",
    )


def _check(parameter: str, call: BoundCall) -> None:
    """Refuse an argument that is not of the kind that its parameter takes."""
    value = call[parameter]
    if parameter in SELECTORS:
        call.selector(parameter, order="")
    elif parameter in SCORERS:
        if not isinstance(value, Scorer):
            raise _refused(parameter, call, "a scorer", "make one with `score(keys, queries)`")
    elif parameter in ATOMS:
        if not is_atom(value):
            hint = "give one bool, number or string"
            raise _refused(parameter, call, f"an atom for its {parameter}", hint)
    else:
        call.s_op(parameter)


def _refused(parameter: str, call: BoundCall, wanted: str, hint: str) -> RaspError:
    message = f"`{call.function}` takes {wanted}, but {call.found(parameter)}"
    return call.fail(parameter, message, hint)
