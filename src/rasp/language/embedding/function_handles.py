"""RASP functions as Python calls them, and values on their way between the two languages."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rasp.base.atoms import to_python
from rasp.base.errors import RaspError
from rasp.base.limits import DEFAULT_LIMITS, Limits, too_deep
from rasp.base.source import Source, Span
from rasp.base.tracebacks import doors
from rasp.language.embedding import handle_refusals
from rasp.language.embedding.handle_operators import handle_of
from rasp.language.embedding.handles import NOTHING_KNOWN, Handle, handles_in, value_of
from rasp.language.embedding.python_places import calling_place
from rasp.language.graph import Node, Program
from rasp.language.meaning.calls import signature
from rasp.language.meaning.session import Session, deep_recursion
from rasp.language.meaning.value_kinds import MISSING, BoundCall, BuiltIn, Function, Value
from rasp.language.syntax.tree import Argument, Literal
from rasp.language.words import BUILT_IN_DOCS


@doors
@dataclass(frozen=True, eq=False, repr=False)
class FunctionHandle:
    """A RASP function, to be called with handles, atoms, lists and dicts."""

    function: Function | BuiltIn
    session: Session
    program: Program = NOTHING_KNOWN
    """The definitions that it came from."""

    def __post_init__(self) -> None:
        # What `help` and editors look for on a function.
        object.__setattr__(self, "__name__", self.function.name)
        object.__setattr__(self, "__doc__", self._doc())
        object.__setattr__(self, "__signature__", python_signature(self.function))

    def _doc(self) -> str:
        if isinstance(self.function, Function):
            return self.function.doc
        return BUILT_IN_DOCS.get(self.function.name, "")

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the function; what it builds belongs to its own program and its arguments'."""
        span = _call_span(self.function)

        def argument(value: Any, keyword: str | None) -> tuple[Argument, Value]:
            return Argument(Literal(0, span=span), keyword, span=span), from_handle(value)

        elaborator = self.session.elaborator
        elaborator.begin()
        try:
            given = [argument(value, None) for value in arguments]
            given += [argument(value, keyword) for keyword, value in keywords.items()]
            with deep_recursion(), elaborator.notes.another_definition() as definition:
                result = elaborator.call_value(self.function, given, span)
        except RaspError as error:
            raise handle_refusals.at_the_caller(error) from None
        made_from = tuple(handles_in([*arguments, *keywords.values()]))
        program = Program({}, (definition, *self.program.definitions))
        return to_handle(result, self.session, program, made_from)

    def __repr__(self) -> str:
        return f"<function {signature(self.function)}>"


def to_handle(
    value: Value,
    session: Session,
    program: Program,
    made_from: tuple[Handle, ...] = (),
    limits: Limits | None = None,
) -> Any:
    """Return a value as Python holds it, with the program of the name that it was found under.

    A list that is held twice stays one list.
    """
    done: dict[int, Any] = {}
    if limits is None and session.limits is not DEFAULT_LIMITS:
        limits = session.limits

    def convert(value: Value) -> Any:
        if not isinstance(value, (list, dict)):
            return to_python_value(value)
        if id(value) not in done:
            done[id(value)] = to_python_value(value)
        return done[id(value)]

    def to_python_value(value: Value) -> Any:
        match value:
            case Node():
                return handle_of(value, program, made_from, limits=limits)
            case Function() | BuiltIn():
                return FunctionHandle(value, session, program)
            case list():
                return [convert(item) for item in value]
            case dict():
                return {to_python(key): convert(item) for key, item in value.items()}
            case Fraction():
                return to_python(value)
        return value

    try:
        return convert(value)
    except RecursionError:
        raise too_deep() from None


def from_handle(held: Any) -> Value:
    """Return a Python value as the language sees it; a Python function becomes a function."""
    match held:
        case FunctionHandle():
            return held.function
        case list() | tuple():
            return [from_handle(item) for item in held]
        case _ if callable(held) and not isinstance(held, Handle):
            return _python_function(held)
    return value_of(held)


def python_signature(function: Function | BuiltIn) -> inspect.Signature:
    """Return a RASP function's parameters as Python describes them."""
    if isinstance(function, BuiltIn) and function.is_variadic:
        return inspect.Signature([inspect.Parameter("values", inspect.Parameter.VAR_POSITIONAL)])
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if default is MISSING else default,
        )
        for name, default in zip(function.parameters, function.defaults, strict=True)
    ]
    return inspect.Signature(parameters)


def _python_function(function: Callable[..., Any]) -> BuiltIn:
    """Let RASP code call a Python function of handles."""
    name = getattr(function, "__name__", "function")

    def build(call: BoundCall) -> Value:
        given = [to_handle(value, Session(), NOTHING_KNOWN) for value in call.extra]
        return from_handle(function(*given))

    return BuiltIn(name, (), (), build, is_variadic=True)


def _call_span(function: Function | BuiltIn) -> Span:
    """The call in Python's source, or else the function's own signature."""
    place = calling_place()
    span = place.span if place is not None else None
    if span is not None:
        return span
    text = signature(function)
    return Span(Source("<python>", text), 0, len(text))
