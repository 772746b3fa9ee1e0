"""The syntax tree: what the parser makes of the text. Frozen, with spans, compared without them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import dataclass_transform

from rasp.base.atoms import Atom
from rasp.base.source import Span


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """Any part of a program text; `span` says which. Its classes are frozen dataclasses.

    Trees are equal when they say the same thing, wherever it is. (Equality and printing are
    written once here, not made for each class: that would double the time `rasp` needs to start.)
    """

    span: Span = field(compare=False, repr=False, kw_only=True)

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, eq=False, repr=False)(cls)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(
            getattr(self, part.name) == getattr(other, part.name)
            for part in fields(self)
            if part.compare
        )

    def __hash__(self) -> int:
        return hash((type(self), *(getattr(self, e.name) for e in fields(self) if e.compare)))

    def __repr__(self) -> str:
        shown = (repr(getattr(self, part.name)) for part in fields(self) if part.repr)
        return f"{type(self).__name__}({', '.join(shown)})"


class Expression(Tree):
    """Something with a value."""


class Name(Expression):
    """`hist`"""

    name: str


class Literal(Expression):
    """`3`, `0.5`, `1e-5`, `"a"`, `True`"""

    value: Atom
    written: str | None = field(default=None, compare=False, repr=False)
    """The text where a number has an exponent: people choose it to be read."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Literal)
            and type(self.value) is type(other.value)
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash((Literal, self.value))


class ListDisplay(Expression):
    """`[a, b]`; without brackets where several values are assigned or returned (`bare`)."""

    items: tuple[Expression, ...]
    bare: bool = False


class DictDisplay(Expression):
    """`{"a": 1, "b": 2}`"""

    items: tuple[tuple[Expression, Expression], ...]


class Comprehension(Expression):
    """`[item for a, b in source]`, or `{key: item for a in source}` where there is a key."""

    item: Expression
    targets: tuple[Name, ...]
    source: Expression
    key: Expression | None = None


class Unary(Expression):
    """`not a`, `-a`, `+a`"""

    op: str
    operand: Expression


class Binary(Expression):
    """`left op right` for arithmetic, comparison, `and`, `or` and `in`"""

    op: str
    left: Expression
    right: Expression


class Ternary(Expression):
    """`then if condition else otherwise`"""

    condition: Expression
    then: Expression
    otherwise: Expression


class Sign(Expression):
    """A bare comparison sign, as in `select(tokens, tokens, ==)`"""

    op: str


class Argument(Tree):
    """One argument of a call, with its keyword if it has one."""

    value: Expression
    keyword: str | None = None


class Call(Expression):
    """`function(argument, keyword=argument)`"""

    function: Expression
    arguments: tuple[Argument, ...]


class Index(Expression):
    """`base[index]`"""

    base: Expression
    index: Expression


class Bracketed(Expression):
    """`(inner)`, kept because a person wrote it."""

    inner: Expression


class Statement(Tree):
    """One statement; a comment on its last line goes with it."""

    trailing: str | None = field(default=None, kw_only=True)
    trailing_column: int = field(default=0, compare=False, repr=False, kw_only=True)
    """Where that comment begins in its line, counted from 0."""
    trailing_gap: int = field(default=1, compare=False, repr=False, kw_only=True)
    """How many blanks are before that comment: more than one make it part of a column."""
    blank_before: bool = field(default=False, compare=False, repr=False, kw_only=True)


class Remark(Statement):
    """A comment on a line of its own."""

    text: str


class Assign(Statement):
    """`a = value;` or `a, b = values;`"""

    targets: tuple[Name, ...]
    value: Expression


class Evaluate(Statement):
    """`expression;`"""

    expression: Expression


class Parameter(Tree):
    """A function's parameter, with its default if it has one."""

    name: str
    default: Expression | None = None


class Define(Statement):
    """`def name(parameters) { body }`"""

    name: Name
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]


class For(Statement):
    """`for targets in source { body }`"""

    targets: tuple[Name, ...]
    source: Expression
    body: tuple[Statement, ...]


class Return(Statement):
    """`return value;`"""

    value: Expression


class Load(Statement):
    """`load "file";`"""

    path: str


class Command(Statement):
    """A word to the REPL, such as `set example "hi"`: its words, and a value where it takes one."""

    words: tuple[str, ...]
    argument: Expression | None = None


class Unreadable(Statement):
    """A statement with a mistake in it: only the names that it would bind."""

    names: tuple[Name, ...]


def parts_of(tree: Tree) -> Iterator[Tree]:
    """Give the trees directly inside one, in the order of its fields."""
    stack: list[object] = [getattr(tree, part.name) for part in reversed(fields(tree))]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack.extend(reversed(item))
        elif isinstance(item, Tree):
            yield item


def walk(tree: Tree) -> Iterator[Tree]:
    """Give a tree and everything in it, outermost first."""
    stack = [tree]
    while stack:
        item = stack.pop()
        yield item
        stack.extend(reversed(list(parts_of(item))))


def bound_by(statement: Statement) -> Iterator[tuple[Name, Statement]]:
    """Give the names that a statement binds, each with the statement in it that does so.

    A loop binds its own names and those of its body; a function's body is a scope of its own.
    """
    match statement:
        case Assign(targets):
            yield from ((target, statement) for target in targets)
        case Unreadable(names):
            yield from ((name, statement) for name in names)
        case Define(name):
            yield name, statement
        case For(targets, _, body):
            yield from ((target, statement) for target in targets)
            for inner in body:
                yield from bound_by(inner)
