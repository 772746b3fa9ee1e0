"""A library function that was called wrongly in, an error about what the user wrote out.

What goes wrong inside the library is told of its arguments: nobody who calls `selector_width`
has written the `or` in it. A parameter's name says which kind of value it takes.
"""

from __future__ import annotations

from rasp.base.errors import RaspError, RaspLimitError
from rasp.base.source import Span
from rasp.language.graph import Scorer
from rasp.language.meaning.calls import signature
from rasp.language.meaning.value_kinds import BoundCall, Function, describe, is_atom

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
