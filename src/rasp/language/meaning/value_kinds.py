"""What a RASP name can be bound to while a program is run, and how each is called in an error.

Atoms, lists and dicts are compile-time values; nodes of the graph are what is left of the
program when it has run. Functions are gone by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from rasp.base.atoms import describe, is_atom
from rasp.base.errors import RaspError, RaspTypeError
from rasp.base.limits import Limits
from rasp.base.source import Span
from rasp.language.graph import Const, Selector, SOp
from rasp.language.graph.origins import Definition
from rasp.language.syntax.tree import Statement

Value: TypeAlias = Any
"""An `Atom`, a `list` or `dict` of values, a `Node`, a `Function` or `BuiltIn`; as an argument also
a `ComparisonSign`, as a result of `draw` a `DrawRequest`, of nothing `None`; for a name `BROKEN`.
"""

MISSING = object()
"""No value: of a parameter without a default, a name that is not there, a block that returns none.
"""


class _Broken:
    """What a name is bound to when its definition failed; errors about it are not repeated."""


BROKEN = _Broken()


@dataclass(frozen=True)
class ComparisonSign:
    """A bare `==` (or another comparison) given as an argument."""

    kind_name: ClassVar[str] = "comparison sign"
    op: str


@dataclass(eq=False)
class Scope:
    """Names and their values; what is not found here is looked up in the parent."""

    parent: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)
    definitions: dict[str, Definition] | None = None
    """Of a program's own names, the statements that bound them; atoms have none."""
    is_given: bool = False
    """Whether its names are the language's or the library's."""

    def find(self, name: str) -> Value:
        """Return the value of a name, or `MISSING`."""
        scope = self.holding(name)
        return MISSING if scope is None else scope.names[name]

    def holding(self, name: str) -> Scope | None:
        """Return the scope in which a name is found."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        return scope

    def definition_of(self, name: str) -> Definition | None:
        """Return the statement that bound a name of this very scope, where that is known."""
        return self.definitions.get(name) if self.definitions is not None else None

    def every_name(self) -> Iterator[str]:
        scope: Scope | None = self
        while scope is not None:
            yield from scope.names
            scope = scope.parent


@dataclass(frozen=True, eq=False)
class Function:
    """A function written in RASP, with the scope it was written in."""

    kind_name: ClassVar[str] = "function"
    name: str
    parameters: tuple[str, ...]
    defaults: tuple[Value, ...]
    """One for each parameter: its default, or `MISSING`."""
    body: tuple[Statement, ...]
    scope: Scope
    doc: str = ""
    is_library: bool = False


@dataclass(frozen=True, eq=False)
class BuiltIn:
    """A function of the language itself; `build` gets the call with its arguments bound."""

    kind_name: ClassVar[str] = "function"
    name: str
    parameters: tuple[str, ...]
    defaults: tuple[Value, ...]
    build: Callable[[BoundCall], Value]
    is_variadic: bool = False


@dataclass(frozen=True)
class BoundCall:
    """A call with each argument under its parameter's name."""

    function: str
    values: dict[str, Value]
    spans: dict[str, Span]
    limits: Limits
    extra: tuple[Value, ...] = ()
    """The arguments of a function that takes any number of them."""

    def __getitem__(self, parameter: str) -> Value:
        return self.values[parameter]

    def fail(self, parameter: str, message: str, hint: str) -> RaspError:
        """Make a type error that points at one argument."""
        return RaspTypeError(message, self.spans.get(parameter), hint)

    def found(self, parameter: str) -> str:
        """Say what an argument is, by the name the user has for it where there is one."""
        text = self.spans[parameter].text if parameter in self.spans else ""
        return f"{f'`{text}`' if text.isidentifier() else 'this'} is {describe(self[parameter])}"

    def s_op(self, parameter: str) -> SOp:
        """Return an argument as an s-op; an atom is the same at every position."""
        value = self.values[parameter]
        if is_atom(value):
            return Const(value)
        if isinstance(value, SOp):
            return value
        hint = "give an s-op such as `tokens`, or an atom"
        if isinstance(value, Selector):
            hint = "combine selectors with `and`, `or`, `not`; read them with `aggregate`"
        raise self.fail(
            parameter,
            f"`{self.function}` takes an s-op for its {parameter}, but {self.found(parameter)}",
            hint,
        )

    def selector(self, parameter: str, order: str = " first") -> Selector:
        """Return an argument that must be a selector."""
        value = self.values[parameter]
        if isinstance(value, Selector):
            return value
        raise self.fail(
            parameter,
            f"`{self.function}` takes a selector{order}, but {self.found(parameter)}",
            "make one with `select(keys, queries, ==)`",
        )
