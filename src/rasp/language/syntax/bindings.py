"""A syntax tree in, every occurrence of every name out, with the variable that it means.

Editors, the warnings of `lint` and errors about names that nobody defined read this; nothing is
run for it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rasp.base.source import Source, Span
from rasp.language.syntax import tree
from rasp.language.syntax.scopes import Binding, NameScope, ScopedName

Loads = Callable[[tree.Load], list[Binding]]
"""Gives the public definitions of the file that a `load` names."""


@dataclass(frozen=True, eq=False)
class Occurrence:
    """A name in the text, and the variable it means there."""

    name: str
    span: Span
    is_definition: bool
    own: ScopedName

    @property
    def start(self) -> int:
        return self.span.start

    @property
    def end(self) -> int:
        return self.span.end

    @property
    def variable(self) -> ScopedName:
        return self.own.root


@dataclass(frozen=True, eq=False)
class Bindings:
    """Every occurrence of a name, in source order, and the scopes by where they lie."""

    occurrences: tuple[Occurrence, ...]
    scopes: tuple[tuple[Span | None, NameScope], ...]
    unclear_keywords: frozenset[str]
    """Keyword arguments of calls whose function cannot be told from the text."""
    unknown: tuple[Occurrence, ...]
    """The names that nothing in the text binds."""

    def at(self, offset: int) -> Occurrence | None:
        """Return the name that a cursor is on or just behind."""
        number = bisect_right(self.occurrences, offset, key=lambda occurrence: occurrence.start)
        if number and offset <= self.occurrences[number - 1].end:
            return self.occurrences[number - 1]
        return None

    def of(self, variable: ScopedName) -> list[Occurrence]:
        """Return every occurrence of a variable."""
        return [
            occurrence for occurrence in self.occurrences if occurrence.variable is variable.root
        ]

    def scope_at(self, offset: int) -> NameScope:
        """Return the innermost scope around a place in the text."""
        inside = [
            (span.end - span.start, number)
            for number, (span, _) in enumerate(self.scopes)
            if span is not None and span.start < offset < span.end
        ]
        return self.scopes[min(inside)[1] if inside else 0][1]


def bindings_of(
    statements: tuple[tree.Statement, ...],
    library: NameScope | None = None,
    loads: Loads = lambda load: [],
) -> Bindings:
    """Resolve every name of a program, whose library is the scope around it.

    >>> from rasp.language.syntax import parse
    >>> program = parse(Source("demo", "x = y; def f(z) { return x + z + w; }"))
    >>> [occurrence.name for occurrence in bindings_of(program).unknown]
    ['y', 'w']
    """
    return _Resolver(library or NameScope(), loads).resolve(statements)


def definition_before(occurrence: Occurrence) -> Binding | None:
    """Return the definition that a reader at this place would look for: the last one above."""
    definitions = occurrence.variable.definitions
    if occurrence.is_definition:
        return next(
            definition for definition in definitions if definition.span.start == occurrence.start
        )
    above = [definition for definition in definitions if definition.place <= occurrence.start]
    above.sort(key=lambda binding: binding.place)
    if above:
        return above[-1]
    return definitions[0] if definitions else None


class _Resolver:
    """The state of one walk. Functions' bodies wait until everything around them is bound."""

    def __init__(self, library: NameScope, loads: Loads) -> None:
        self.main = NameScope(library)
        self.loads = loads
        self.found: list[Occurrence] = []
        self.scopes: list[tuple[Span | None, NameScope]] = [(None, self.main)]
        self.waiting: list[tuple[tuple[tree.Statement, ...], NameScope]] = []
        self.functions: dict[int, NameScope] = {}
        self.keywords: list[tuple[tree.Argument, ScopedName | None]] = []
        self.unknown: dict[str, ScopedName] = {}
        self.statement: int | None = None

    def resolve(self, statements: tuple[tree.Statement, ...]) -> Bindings:
        self.block(statements, self.main, frozenset(), is_main=True)
        self.statement = None
        for body, scope in self.waiting:  # grows while we go: functions may hold functions
            self.block(body, scope, frozenset())
        unclear = frozenset(self.unclear_keywords())
        in_order = tuple(sorted(self.found, key=lambda occurrence: occurrence.start))
        unknown = {variable.root for variable in self.unknown.values()}
        unbound = tuple(occurrence for occurrence in in_order if occurrence.variable in unknown)
        return Bindings(in_order, tuple(self.scopes), unclear, unbound)

    def block(
        self,
        statements: tuple[tree.Statement, ...],
        scope: NameScope,
        in_loop: frozenset[str],
        is_main: bool = False,
    ) -> None:
        for statement, doc in _documented(statements):
            if is_main:
                self.statement = statement.span.start
            self.one(statement, scope, in_loop, doc)

    def one(
        self, statement: tree.Statement, scope: NameScope, in_loop: frozenset[str], doc: str
    ) -> None:
        match statement:
            case tree.Assign(targets, value):
                self.read(value, scope, in_loop)
                self.bind_all(targets, scope, in_loop, "s-op or value", statement, doc)
            case tree.Unreadable(names):
                self.bind_all(names, scope, in_loop, "s-op or value", statement, doc)
            case tree.Define(name, parameters):
                for parameter in parameters:
                    if parameter.default is not None:
                        self.read(parameter.default, scope, in_loop)
                self.bind_all((name,), scope, in_loop, "function", statement, doc)
                self.enter(statement, scope)
            case tree.For(targets, source, body):
                self.read(source, scope, in_loop)
                inner = in_loop | {name.name for name, _ in tree.bound_by(statement)}
                self.bind_all(targets, scope, inner, "loop", statement, doc)
                self.block(body, scope, inner)
            case tree.Load():
                for definition in self.loads(statement):
                    scope.bind(definition, is_certain=not in_loop)
            case tree.Command():
                self.command(statement, scope)
            case _:
                self.read(statement, scope, in_loop)

    def bind_all(
        self, targets: tuple[tree.Name, ...], scope: NameScope, in_loop: frozenset[str],
        kind: str, binder: tree.Tree, doc: str,
    ) -> None:  # fmt: skip
        for target in targets:
            definition = Binding(target.name, target.span, kind, binder, self.statement, doc)
            self.note(target.name, target.span, scope.bind(definition, not in_loop), True)

    def enter(self, function: tree.Define, scope: NameScope) -> None:
        """Begin a function's scope with its parameters, and leave its body for later."""
        inner = NameScope(scope, scope.count)
        self.functions[id(function)] = inner
        self.scopes.append((function.span, inner))
        for parameter in function.parameters:
            definition = Binding(parameter.name, parameter.span, "parameter", parameter)
            self.note(parameter.name, parameter.span, inner.bind(definition), True)
        self.waiting.append((function.body, inner))

    def read(self, whole: tree.Tree, scope: NameScope, in_loop: frozenset[str]) -> None:
        """Note every name in an expression (or in a statement that binds nothing)."""
        stack = [(whole, scope)]
        while stack:
            part, inside = stack.pop()
            match part:
                case tree.Name(name):
                    self.note(name, part.span, self.look_up(name, inside, in_loop))
                case tree.Comprehension(item, targets, source, key):
                    inner = NameScope(inside, inside.count, is_inline=True)
                    self.scopes.append((part.span, inner))
                    self.bind_all(targets, inner, frozenset(), "loop", part, "")
                    stack.append((source, inside))
                    stack += [(piece, inner) for piece in (item, key) if piece is not None]
                case _:
                    stack += [(piece, inside) for piece in tree.parts_of(part)]
            if isinstance(part, tree.Call):
                self.call(part, inside, in_loop)

    def call(self, call: tree.Call, scope: NameScope, in_loop: frozenset[str]) -> None:
        """Keep the keyword arguments of a call until every function is known."""
        callee = call.function
        function = (
            self.look_up(callee.name, scope, in_loop) if isinstance(callee, tree.Name) else None
        )
        named = (argument for argument in call.arguments if argument.keyword)
        self.keywords += [(argument, function) for argument in named]

    def command(self, command: tree.Command, scope: NameScope) -> None:
        if command.argument is not None:
            self.read(command.argument, scope, frozenset())
        elif command.words[0] in ("doc", "arch", "help") and len(command.words) == 2:
            last = re.search(r"(\w+)\W*$", command.span.text)
            if last is not None and last[1] == command.words[1]:
                start = command.span.start + last.start(1)
                span = Span(command.span.source, start, start + len(last[1]))
                self.note(last[1], span, self.look_up(last[1], scope, frozenset()))

    def look_up(self, name: str, scope: NameScope, in_loop: frozenset[str]) -> ScopedName:
        return scope.find(name, in_loop) or self.unknown.setdefault(name, ScopedName())

    def note(self, name: str, span: Span, variable: ScopedName, binds: bool = False) -> None:
        self.found.append(Occurrence(name, span, binds, variable))

    def unclear_keywords(self) -> Iterator[str]:
        """Tie each keyword argument to the parameter it names, and give those that cannot be."""
        for argument, function in self.keywords:
            assert argument.keyword is not None
            start = argument.span.start
            span = Span(argument.span.source, start, start + len(argument.keyword))
            scopes = [
                self.functions.get(id(definition.tree))
                for definition in (function.root.definitions if function else [])
            ]
            parameters = [
                scope.variables[argument.keyword]
                for scope in scopes
                if scope is not None and argument.keyword in scope.variables
            ]
            if not parameters or len(parameters) < len(scopes):
                yield argument.keyword
                parameters = parameters or [ScopedName()]
            for other in parameters[1:]:
                parameters[0].join(other)
            self.note(argument.keyword, span, parameters[0])


def definitions_in(statements: tuple[tree.Statement, ...], kind: str) -> list[Binding]:
    """List what the main program of a file defines, as those see it who load it."""
    return [
        Binding(name.name, name.span, kind, binding, doc=doc)
        for statement, doc in _documented(statements)
        for name, binding in tree.bound_by(statement)
    ]


def _documented(statements: Iterable[tree.Statement]) -> Iterator[tuple[tree.Statement, str]]:
    """Give each statement with the comment on the line above it."""
    doc = ""
    for statement in statements:
        if isinstance(statement, tree.Remark):
            doc = statement.text.lstrip("# ")
        else:
            yield statement, doc
            doc = ""


def library_scope(definitions: list[Binding], built_in: dict[str, str]) -> NameScope:
    """Make the scope around every program: the language's own names, and the library's."""
    scope = NameScope()
    nowhere = Source("", "")
    for name, doc in built_in.items():
        scope.bind(Binding(name, Span(nowhere, 0, 0), "built in", doc=doc))
    for definition in definitions:
        scope.bind(definition)
    return scope
