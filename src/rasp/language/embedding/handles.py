"""What Python holds of a RASP program: handles on its s-ops, selectors and scorers.

A handle is a node, and what is known about how it came to be. It keeps the handles it was made
from; the names and places of all of them are put together only when somebody asks. What
operators do on handles is in `expressions`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn, Self

from rasp.base.atoms import from_python, kind_name, plain_lists
from rasp.base.errors import RaspNameError, RaspTypeError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.terminal_text import visibly
from rasp.base.tracebacks import doors
from rasp.language.embedding import handle_refusals
from rasp.language.embedding.python_places import Place, SpanReader
from rasp.language.evaluator import apply
from rasp.language.graph import Const, Node, Program, expression
from rasp.language.graph.origins import Definition, Origin
from rasp.language.meaning.value_kinds import Value
from rasp.language.words import BUILT_IN_DOCS, KEYWORDS

LONGEST_REPR = 72
NOTHING_KNOWN = Program()
RESERVED = (*KEYWORDS, *BUILT_IN_DOCS)
"""Words that cannot name a handle."""


def _refusing(asked: str) -> Callable[..., NoReturn]:
    """The method of something that Python asks, and that has no answer before there is an input."""

    def method(self: Handle, *others: object) -> NoReturn:
        raise handle_refusals.no(asked, self.node)

    return method


@visibly
@doors
@dataclass(frozen=True, eq=False, repr=False)
class Handle:
    """A node of the graph, with the names and origins of the program it came from.

    Apply it to an input by calling it; print it to see it as RASP.

    >>> from rasp import indices
    >>> indices + 1, (indices + 1)("abc")
    (<s-op indices + 1>, [1, 2, 3])
    """

    node: Node
    known: Program = NOTHING_KNOWN
    """What the text it came from says of its nodes."""
    made_from: tuple[Handle, ...] = ()
    place: Place | None = None
    given_name: str | None = field(default=None, kw_only=True)
    limits: Limits | None = field(default=None, kw_only=True)
    """The budgets it keeps to; None where nobody set any: the default ones."""

    def __call__(self, given: Any) -> list[Any]:
        """Apply to an input: a string, or a list of atoms."""
        if isinstance(given, Handle):
            raise handle_refusals.no("composition", self.node)
        return plain_lists(apply(self.node, given, self.program, self.budgets))

    @property
    def budgets(self) -> Limits:
        """The budgets it keeps to."""
        return self.limits or DEFAULT_LIMITS

    def within(self, limits: Limits) -> Self:
        """Return the same s-op, selector or scorer under other budgets.

        >>> from rasp.language.embedding.constructors import indices
        >>> indices.within(Limits(input_length=3))("hello")
        Traceback (most recent call last):
        ...
        rasp.base.errors.RaspLimitError: error: an input of 5 tokens is over the limit of 3
        hint: give a shorter input
        """
        return replace(self, limits=limits)

    @cached_property
    def program(self) -> Program:
        """The names and origins of every node that is known."""
        if not self.made_from and self.place is None and self.given_name is None:
            return self.known
        return _put_together(self)

    @property
    def name(self) -> str | None:
        """The name it was given, if any."""
        return self.given_name or self.program.names.get(self.node)

    def named(self, name: str) -> Self:
        """Return the same s-op, selector or scorer under a name, which is used in printing.

        >>> from rasp.language.embedding.constructors import indices, select
        >>> select(indices, indices, "<").named("earlier")
        <selector earlier = select(indices, indices, <)>
        """
        check_name(name)
        return type(self)(self.node, made_from=(self,), given_name=name, limits=self.limits)

    def rasp(self) -> str:
        """Write the program as RASP text, which reads back as the same graph.

        >>> from rasp import tokens
        >>> (tokens + "!").named("loud").rasp()
        'loud = tokens + "!";\\n'
        """
        from rasp.language.embedding.program_text import to_rasp  # it needs handles itself

        return to_rasp(self)

    def __repr__(self) -> str:
        label = f" {self.name} =" if self.name else ""
        text = _short_expression(self.node, self.program.names)
        return f"<{kind_name(self.node)}{label if text != self.name else ''} {text}>"

    # What Python would like to know at once, and nobody knows before there is an input

    def __bool__(self) -> NoReturn:
        raise handle_refusals.no_truth(self.node)

    def __hash__(self) -> int:
        raise handle_refusals.no("hash", self.node)

    def __contains__(self, item: object) -> bool:
        raise handle_refusals.no_members(self.node)

    __iter__ = _refusing("items")
    __len__ = _refusing("length")
    __index__ = _refusing("index")
    __int__ = __float__ = _refusing("number")
    __xor__ = __rxor__ = _refusing("power sign")
    __array_ufunc__ = None  # numpy's numbers leave the operators to us


def value_of(held: Any) -> Value:
    """Return a Python value as the language sees it; a constant handle is its atom."""
    match held:
        case Handle(node=Const(value=atom)):
            return atom
        case Handle():
            return held.node
        case list() | tuple():
            return [value_of(item) for item in held]
        case dict():
            return {from_python(key): value_of(item) for key, item in held.items()}
        case None:
            raise RaspTypeError("`None` is not a value of RASP", hint="leave the argument out")
        case _:
            return from_python(held)


def handles_in(values: object) -> Iterator[Handle]:
    """Find the handles in arguments, also inside lists and dicts."""
    match values:
        case Handle():
            yield values
        case list() | tuple():
            for value in values:
                yield from handles_in(value)
        case dict():
            for value in values.values():
                yield from handles_in(value)


def check_name(name: str) -> None:
    """Refuse what cannot be a name in a program."""
    if not re.fullmatch(r"[^\W\d]\w*", name):
        raise RaspNameError(
            f"`{name}` cannot be a name", hint="use letters, digits and `_`, a letter first"
        )
    if name in RESERVED:
        raise RaspNameError(
            f"`{name}` is a word of the language", hint=f"choose another name, such as `my_{name}`"
        )


def _short_expression(node: Node, names: Mapping[Node, str]) -> str:
    """Write as much of an expression as fits; what is left out is `…`."""
    for depth in range(6, 0, -1):
        text = expression(node, names, depth=depth)
        if len(text) <= LONGEST_REPR:
            return text
    return text[: LONGEST_REPR - 1] + "…"


def _put_together(last: Handle) -> Program:
    """Make a definition of each handle that led to this one."""
    definitions: dict[int, tuple[Handle, Definition]] = {}
    waiting = [last]
    while waiting:
        handle = waiting.pop()
        if id(handle) not in definitions:
            definitions[id(handle)] = handle, Definition(hides=False)
            waiting += handle.made_from
    spans = SpanReader()
    for handle, definition in definitions.values():
        if handle.given_name:
            definition.names[handle.given_name] = handle.node
        if handle.place and handle.node.needs and (span := spans.span(handle.place)) is not None:
            definition.note(handle.node, Origin(span))
        for source in handle.made_from:
            definition.refers_to[definitions[id(source)][1]] = None
        for earlier in handle.known.definitions:
            definition.refers_to[earlier] = None
    outputs = {last.given_name: last.node} if last.given_name else last.known.outputs
    return Program(outputs, (definitions[id(last)][1],))
