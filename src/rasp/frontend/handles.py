"""What Python holds of a RASP program: handles on its s-ops, selectors, scorers and functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rasp.atoms import PythonAtom, from_python, to_python
from rasp.errors import RaspNameError, RaspTypeError
from rasp.evaluator import apply
from rasp.frontend.calls import signature
from rasp.frontend.session import Session, deep_recursion
from rasp.frontend.values import BuiltIn, Function, Value, kind_name
from rasp.graph import Node, Program, expression
from rasp.source import Source, Span
from rasp.syntax.tree import Argument, Literal


@dataclass(frozen=True, eq=False)
class Handle:
    """A node of the graph, with the names and origins of the program it came from."""

    node: Node
    program: Program

    def __call__(self, given: Any) -> list[Any]:
        """Apply to an input: a string, or a list of atoms."""
        return plain_lists(apply(self.node, given, self.program))

    @property
    def name(self) -> str | None:
        """The name it was given in its program, if any."""
        return self.program.names.get(self.node)

    def __repr__(self) -> str:
        text = expression(self.node, self.program.names)
        label = f" {self.name} =" if self.name else ""
        return f"<{kind_name(self.node)}{label} {text}>"


@dataclass(frozen=True, eq=False)
class FunctionHandle:
    """A RASP function, to be called with handles and atoms."""

    function: Function | BuiltIn
    session: Session

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        span = Span(Source("<python>", signature(self.function)), 0, len(signature(self.function)))

        def argument(value: Any, keyword: str | None) -> tuple[Argument, Value]:
            return Argument(Literal(0, span=span), keyword, span=span), from_handle(value)

        given = [argument(value, None) for value in arguments]
        given += [argument(value, keyword) for keyword, value in keywords.items()]
        with deep_recursion():
            return to_handle(
                self.session.elaborator.call_value(self.function, given, span), self.session
            )

    def __repr__(self) -> str:
        return f"<function {signature(self.function)}>"


class Namespace(Mapping[str, Any]):
    """The names of a program that has run. Library names can be looked up, but are not listed."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def __getitem__(self, name: str) -> Any:
        try:
            return to_handle(self.session.find(name), self.session)
        except RaspNameError as error:
            raise KeyError(f"{name}: {error.message} ({error.hint})") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.session.names())

    def __len__(self) -> int:
        return len(self.session.names())

    def __repr__(self) -> str:
        return f"<names: {', '.join(self) or 'none'}>"


def run(source_text: str, name: str = "<input>") -> Namespace:
    """Run a program text and return its names.

    >>> run("double = tokens + tokens;")["double"]("abc")
    ['aa', 'bb', 'cc']
    """
    session = Session()
    session.run(Source(name, source_text))
    return Namespace(session)


def to_handle(value: Value, session: Session) -> Any:
    """Return a value of a program as Python sees it."""
    match value:
        case Node():
            return Handle(value, session.program)
        case Function() | BuiltIn():
            return FunctionHandle(value, session)
        case list():
            return [to_handle(item, session) for item in value]
        case dict():
            return {to_python(key): to_handle(item, session) for key, item in value.items()}
        case None:
            return None
        case _:
            return to_python(value)


def from_handle(value: Any) -> Value:
    """Return a Python value as the language sees it."""
    match value:
        case Handle():
            return value.node
        case FunctionHandle():
            return value.function
        case list() | tuple():
            return [from_handle(item) for item in value]
        case dict():
            return {from_python(key): from_handle(item) for key, item in value.items()}
        case None:
            raise RaspTypeError("`None` is not a value of RASP", hint="leave the argument out")
        case _:
            return from_python(value)


def plain_lists(values: list[Any]) -> list[Any]:
    """Return an evaluator's values as plain Python: floats for exact rationals."""
    return [plain_lists(item) if isinstance(item, list) else _plain(item) for item in values]


def _plain(atom: Any) -> PythonAtom:
    return to_python(atom) if isinstance(atom, Fraction) else atom
