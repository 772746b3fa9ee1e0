"""Values on their way through elaboration in, the definitions of a program out.

For each statement that is run, notes are taken of which node each expression became, in which
calls, under which name, and which other definitions were referred to; `graph.origins`
answers questions from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rasp.base.atoms import is_atom
from rasp.base.errors import RaspLimitError
from rasp.base.limits import Limits
from rasp.base.source import Span
from rasp.language.graph import Node, Program
from rasp.language.graph.origins import Definition, FunctionCall, Origin
from rasp.language.meaning.value_kinds import Scope, Value


class Notes:
    """What is known of the nodes that the statements of a program make."""

    def __init__(self, limits: Limits, library: Definition | None = None) -> None:
        self.limits = limits
        self.library = library
        """What the library calls its values."""
        self.definition = self.new_definition()
        """What the statement that is running has made so far."""
        self.call: FunctionCall | None = None
        """The call that is running now, of a function that is not the library's."""
        self.library_call: tuple[str, Span] | None = None
        """The user's call that led into library code: what an error or origin points at."""
        self._nodes: set[Node] = set()

    def new_definition(self) -> Definition:
        """Return the definition of a statement that has made nothing yet."""
        return Definition(refers_to={self.library: None} if self.library else {})

    @property
    def program(self) -> Program:
        """The program of the statement that is running."""
        return Program({}, (self.definition,))

    @contextmanager
    def another_definition(self) -> Iterator[Definition]:
        """Take notes in a definition of its own: of a statement, or of something else."""
        outer, self.definition = self.definition, self.new_definition()
        try:
            yield self.definition
        finally:
            self.definition = outer

    def made(self, value: Value, span: Span) -> Value:
        """Return a value, and note that the expression there made it."""
        if not isinstance(value, Node):
            return value
        if value not in self._nodes:
            self._nodes.add(value)
            if len(self._nodes) > self.limits.graph_size:
                raise RaspLimitError(
                    f"the program makes more than {self.limits.graph_size} nodes",
                    span,
                    "is a loop longer than it should be?",
                )
        library, span = self.library_call or ("", span)
        self.definition.note(value, Origin(span, self.call, library))
        return value

    def steps(self, value: Value, operand: Node, span: Span) -> Value:
        """Return a value, and note that an expression made it, and all steps from its operand."""
        ends = [operand, *(self.library.names.values() if self.library else ())]
        waiting: list[Value] = [value]
        while waiting:
            node = self.made(waiting.pop(), span)
            if isinstance(node, Node):
                waiting += [step for step in node.needs
                            if step.needs and not any(step is end for end in ends)]  # fmt: skip
        return value

    def referred(self, name: str, scope: Scope, span: Span) -> None:
        """Note that a name was mentioned."""
        holder = scope.holding(name)
        if holder is not None and holder.is_given:
            self.made(holder.names[name], span)
        elif holder is not None and (definition := holder.definition_of(name)) is not None:
            self.definition.refers_to[definition] = None

    def bound(self, name: str, value: Value, scope: Scope) -> None:
        """Note that a name was bound in a scope: one of the program's, or of a call's."""
        if is_atom(value):
            if scope.definitions is not None:
                scope.definitions.pop(name, None)
            return
        is_named = isinstance(value, Node) and value.needs and not name.startswith("_")
        if scope.definitions is not None:
            scope.definitions[name] = self.definition
            if is_named:
                self.definition.names[name] = value
        elif is_named and self.library_call is None:
            self.definition.inner_names.setdefault(value, name)

    def keep(self, name: str, value: Value, definition: Definition | None, scope: Scope) -> None:
        """Bind a name to what another statement made: it keeps the definition of that."""
        scope.names[name] = value
        if scope.definitions is not None:
            scope.definitions.pop(name, None)
            if definition is not None:
                scope.definitions[name] = definition
        elif definition is not None:
            self.definition.refers_to[definition] = None

    @contextmanager
    def inside(self, function: str, span: Span, is_library: bool) -> Iterator[bool]:
        """Take notes in the call of a function; give whether it leads into the library."""
        call, library_call = self.call, self.library_call
        enters_library = is_library and library_call is None
        if enters_library:
            self.library_call = (function, span)
        elif not is_library:
            self.call = FunctionCall(function, span, call)
        try:
            yield enters_library
        finally:
            self.call, self.library_call = call, library_call
