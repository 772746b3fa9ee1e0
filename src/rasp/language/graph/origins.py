"""A node and the outputs asked about in, its name and its place in their program out.

Nodes know neither, so that equal computations stay one node whatever they are called. What was
written where, and under which name, belongs to a definition; a `Program` is the definitions
of some outputs and all those that their texts refer to. A node's origin in it is the one
that its own definition gives, else that of the nearest definition referred to; a call of the
library that made it on the way counts only where no definition says it in words of its own. A
line of a definition that is not part of the program is never given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from rasp.base.source import Span
from rasp.language.graph.nodes import Node


class FunctionCall(NamedTuple):
    """A call of a function written in RASP: where it is, and the call that it happened in."""

    function: str
    span: Span
    outer: FunctionCall | None


class Origin(NamedTuple):
    """The expression that made a node."""

    span: Span
    call: FunctionCall | None = None
    """The innermost call in which that happened; None in the text of a definition itself."""
    library: str = ""
    """The library's function that made it; the place is then where that was called."""

    @property
    def calls(self) -> list[tuple[str, Span]]:
        """The functions it was made in, innermost first, and where each was called."""
        calls, call = [], self.call
        while call is not None:
            calls.append((call.function, call.span))
            call = call.outer
        return calls


@dataclass(eq=False, slots=True)
class Definition:
    """What one statement made: where each node was written, the names given, what it refers to."""

    made: dict[Node, Origin] = field(default_factory=dict)
    names: dict[str, Node] = field(default_factory=dict)
    """The names that it binds."""
    inner_names: dict[Node, str] = field(default_factory=dict)
    """What nodes are called inside the functions that it calls."""
    refers_to: dict[Definition, None] = field(default_factory=dict)
    """The definitions whose names its text mentions, in order."""
    is_library: bool = False
    hides: bool = True
    """Whether its names hide equal ones of definitions further away, as bindings do."""

    def note(self, node: Node, origin: Origin) -> None:
        """Record who made a node: of several, the first in the text itself, then by a library."""
        earlier = self.made.get(node)
        if earlier is None or _closeness(origin) < _closeness(earlier):
            self.made[node] = origin


def _closeness(origin: Origin) -> tuple[bool, bool]:
    return origin.call is not None, bool(origin.library)


@dataclass(frozen=True)
class Program:
    """Outputs by name and their definitions: never needed to compute anything, only to explain.

    >>> import rasp
    >>> last = rasp.run("other = length - 1; last = length - 1;")["last"]
    >>> last.program.names[last.node], last.program.origins[last.node].line
    ('last', 1)
    """

    outputs: Mapping[str, Node] = field(default_factory=dict)
    definitions: tuple[Definition, ...] = ()
    """Those of the outputs; all others are found from them."""

    @staticmethod
    def named(names: Mapping[Node, str], outputs: Mapping[str, Node] | None = None) -> Program:
        """Return a program of which only names are known.

        >>> from rasp.language.graph import Const, Elementwise, Indices
        >>> position = Elementwise("+", (Indices(), Const(1)))
        >>> Program.named({position: "position"}).names[position]
        'position'
        """
        return Program(outputs or {}, (Definition(inner_names=dict(names)),))

    @staticmethod
    def joined(programs: Iterable[Program]) -> Program:
        """Return the program of the outputs of several.

        >>> import rasp
        >>> names = rasp.run("up = indices + 1; down = length - indices;")
        >>> list(Program.joined(names[name].program for name in names).outputs)
        ['up', 'down']
        """
        outputs: dict[str, Node] = {}
        definitions: dict[Definition, None] = {}
        for program in programs:
            outputs.update(program.outputs)
            definitions.update(dict.fromkeys(program.definitions))
        return Program(outputs, tuple(definitions))

    @cached_property
    def nearest_first(self) -> tuple[Definition, ...]:
        """Every definition of the program, by how many references away it is; the library last."""
        definitions = dict.fromkeys(self.definitions)
        row = list(definitions)
        while row:
            further = {
                other: None
                for definition in row
                for other in definition.refers_to
                if other not in definitions
            }
            definitions.update(further)
            row = list(further)
        return tuple(sorted(definitions, key=lambda definition: definition.is_library))

    @cached_property
    def names(self) -> Mapping[Node, str]:
        """What each node is called here; nodes inside expressions have no name."""
        names: dict[Node, str] = {}
        bound: set[str] = set()
        for name, node in self.outputs.items():
            if node.needs and name not in bound:
                names.setdefault(node, name)
            bound.add(name)
        for definition in self.nearest_first:
            for name, node in definition.names.items():
                is_hidden = name in bound and definition.hides
                if node.needs and not is_hidden:
                    names.setdefault(node, name)
            bound.update(definition.names)
        for definition in self.nearest_first:
            for node, name in definition.inner_names.items():
                if name not in bound:
                    names.setdefault(node, name)
        return names

    @cached_property
    def made(self) -> Mapping[Node, Origin]:
        """Who made each node: the nearest text that says it, else the nearest library call."""
        made: dict[Node, Origin] = {}
        for definition in reversed(self.nearest_first):
            for node, origin in definition.made.items():
                if not origin.library or node not in made or made[node].library:
                    made[node] = origin
        return made

    @cached_property
    def origins(self) -> Mapping[Node, Span]:
        """The expression that made each node; nodes built from Python may have none."""
        return {node: origin.span for node, origin in self.made.items()}
