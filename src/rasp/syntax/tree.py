"""The syntax tree: what the parser makes of the text. Frozen, with spans, compared without them."""

from __future__ import annotations

from dataclasses import dataclass, field

from rasp.atoms import Atom
from rasp.source import Span


@dataclass(frozen=True)
class Tree:
    """Any part of a program text; `span` says which."""

    span: Span = field(compare=False, repr=False, kw_only=True)


class Expression(Tree):
    """Something with a value."""


@dataclass(frozen=True)
class Name(Expression):
    """`hist`"""

    name: str


@dataclass(frozen=True)
class Literal(Expression):
    """`3`, `0.5`, `"a"`, `True`"""

    value: Atom

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Literal)
            and type(self.value) is type(other.value)
            and self.value == other.value
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class ListDisplay(Expression):
    """`[a, b]`; without brackets where several values are assigned or returned (`bare`)."""

    items: tuple[Expression, ...]
    bare: bool = False


@dataclass(frozen=True)
class DictDisplay(Expression):
    """`{"a": 1, "b": 2}`"""

    items: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True)
class Comprehension(Expression):
    """`[item for a, b in source]`, or `{key: item for a in source}` where there is a key."""

    item: Expression
    targets: tuple[Name, ...]
    source: Expression
    key: Expression | None = None


@dataclass(frozen=True)
class Unary(Expression):
    """`not a`, `-a`, `+a`"""

    op: str
    operand: Expression


@dataclass(frozen=True)
class Binary(Expression):
    """`left op right` for arithmetic, comparison, `and`, `or` and `in`"""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Ternary(Expression):
    """`then if condition else otherwise`"""

    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True)
class Comparison(Expression):
    """A bare comparison sign, as in `select(tokens, tokens, ==)`"""

    op: str


@dataclass(frozen=True)
class Argument(Tree):
    """One argument of a call, with its keyword if it has one."""

    value: Expression
    keyword: str | None = None


@dataclass(frozen=True)
class Call(Expression):
    """`function(argument, keyword=argument)`"""

    function: Expression
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Index(Expression):
    """`base[index]`"""

    base: Expression
    index: Expression


@dataclass(frozen=True)
class Bracketed(Expression):
    """`(inner)`, kept because a person wrote it."""

    inner: Expression


@dataclass(frozen=True)
class Statement(Tree):
    """One statement; a comment on its last line goes with it."""

    trailing: str | None = field(default=None, kw_only=True)
    blank_before: bool = field(default=False, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Remark(Statement):
    """A comment on a line of its own."""

    text: str


@dataclass(frozen=True)
class Assign(Statement):
    """`a = value;` or `a, b = values;`"""

    targets: tuple[Name, ...]
    value: Expression


@dataclass(frozen=True)
class Evaluate(Statement):
    """`expression;`"""

    expression: Expression


@dataclass(frozen=True)
class Parameter(Tree):
    """A function's parameter, with its default if it has one."""

    name: str
    default: Expression | None = None


@dataclass(frozen=True)
class Define(Statement):
    """`def name(parameters) { body }`"""

    name: Name
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class For(Statement):
    """`for targets in source { body }`"""

    targets: tuple[Name, ...]
    source: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Return(Statement):
    """`return value;`"""

    value: Expression


@dataclass(frozen=True)
class Load(Statement):
    """`load "file";`"""

    path: str


@dataclass(frozen=True)
class Command(Statement):
    """A word to the REPL, such as `set example "hi"`: its words, and a value where it takes one."""

    words: tuple[str, ...]
    argument: Expression | None = None
