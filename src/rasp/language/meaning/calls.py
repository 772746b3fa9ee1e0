"""Binding a call's arguments to a function's parameters, with errors that name them."""

from __future__ import annotations

from rasp.base.errors import RaspError, RaspTypeError
from rasp.base.limits import Limits
from rasp.base.source import Span
from rasp.base.spelling import did_you_mean
from rasp.language.meaning.value_kinds import MISSING, BoundCall, BuiltIn, Function, Value
from rasp.language.syntax.tree import Argument
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
