"""Program text in, names and their values out: a conversation with the language.

A session keeps what has been defined so far. Every app that runs text uses one, and so does
`rasp.run`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from rasp.base.atoms import Atom
from rasp.base.errors import (
    RaspError,
    RaspLimitError,
    RaspNameError,
    RaspValueError,
    Rebinding,
    Warned,
    all_of,
)
from rasp.base.limits import DEFAULT_LIMITS, Limits, too_much_memory
from rasp.base.source import Source, Span
from rasp.language.graph import Node, Program, SOp
from rasp.language.meaning.builtins import DrawRequest
from rasp.language.meaning.elaborate import BrokenName, Elaborator
from rasp.language.meaning.hints import hint_for_unknown
from rasp.language.meaning.library import bound_names, library_places, run_library
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.repl_settings import obey
from rasp.language.meaning.value_kinds import BROKEN, MISSING, Function, Scope, Value
from rasp.language.syntax import parse, parse_with_errors, tree
from rasp.language.syntax.bindings import bindings_of
from rasp.language.syntax.lint import read_otherwise
from rasp.language.words import BUILT_IN_DOCS

RECURSION_LIMIT = 30_000


@dataclass
class DisplaySettings:
    """What the REPL's words change: what new s-ops and selectors are shown on, and how."""

    s_op_example: tuple[Atom, ...] = tuple("hello")
    selector_example: tuple[Atom, ...] = tuple("hello")
    show_s_op_examples: bool = True
    show_selector_examples: bool = True
    full_display: bool = False

    def example_for(self, node: Node) -> tuple[Atom, ...]:
        """The running example of an s-op, or of a selector or scorer."""
        return self.s_op_example if isinstance(node, SOp) else self.selector_example

    def shows(self, node: Node) -> bool:
        """Whether new s-ops, or new selectors, are shown on the running example."""
        return self.show_s_op_examples if isinstance(node, SOp) else self.show_selector_examples


@dataclass(frozen=True)
class Result:
    """What one statement did: the names it bound, and its value."""

    statement: tree.Statement
    value: Value = None
    names: tuple[str, ...] = ()
    program: Program = field(default_factory=Program)
    """What is known of the nodes it made."""


@dataclass
class Session:
    """A running program: run text in it, look names up, take definitions back."""

    limits: Limits = DEFAULT_LIMITS
    loader: Loader = field(default_factory=Loader)
    settings: DisplaySettings = field(default_factory=DisplaySettings)
    warnings: list[Warned] = field(default_factory=list)
    keeps_what_is_right: bool = False
    """Whether a loaded file with mistakes still gives the names that are right (at a prompt)."""
    places: dict[str, tuple[Value, Span]] = field(default_factory=dict)
    """Where each name was bound last, and to which value."""

    def __post_init__(self) -> None:
        self.library, self.docs, definition = run_library()
        self.elaborator = Elaborator(self.limits, self._load, definition, self.warnings)
        self.last = Scope(self.library, definitions={})
        """Holds the last value as `out`, which a program may have for a name of its own."""
        self.scope = Scope(self.last, definitions={})
        self._loading: list[str] = []
        self._started = ""

    def program_of(self, name: str) -> Program:
        """Return the program of a name: its own definition and those that it refers to."""
        holder = self.scope.holding(name)
        value, definition = self.scope.find(name), holder and holder.definition_of(name)
        definition = definition or self.elaborator.notes.library
        outputs = {name: value} if isinstance(value, Node) and holder is not self.last else {}
        return Program(outputs, (definition,) if definition else ())

    @property
    def library_names(self) -> Mapping[Node, str]:
        """What the library calls its s-ops and selectors."""
        library = self.elaborator.notes.library
        return Program({}, (library,) if library else ()).names

    def rest(self) -> Limits:
        """The budgets, less the time that has gone by since the last text began to run."""
        return replace(self.limits, spent=self.elaborator.meter.spent())

    def run(self, source: Source) -> list[Result]:
        """Run a whole text; raise its first mistake."""
        return list(self.run_each(source))

    def run_each(self, source: Source, at_prompt: bool = False) -> Iterator[Result]:
        """Run a text statement by statement, giving each result as it comes."""
        self.elaborator.begin()
        statements = parse(source, self.limits, at_prompt)
        if not at_prompt:
            self.warnings += read_otherwise(statements)
        for statement in statements:
            with deep_recursion():
                result = self.execute(statement)
            yield result

    def check(
        self, source: Source, only_definitions: bool = False
    ) -> tuple[list[Result], list[RaspError]]:
        """Run a text and go on after mistakes; return what worked and every mistake, in order.

        With `only_definitions`, examples are not run: a wrong program may well fail on them.
        """
        results: list[Result] = []

        def run(statement: tree.Statement) -> None:
            if not (only_definitions and isinstance(statement, tree.Evaluate)):
                results.append(self.execute(statement))

        self.elaborator.begin()
        with deep_recursion():
            errors = self._go_on(source, self.scope, run)
        return results, errors

    def _go_on(
        self, source: Source, scope: Scope, run: Callable[[tree.Statement], object]
    ) -> list[RaspError]:
        """Run a text statement by statement, on after mistakes; return every one, in order."""
        statements, unread = parse_with_errors(source, self.limits)
        if self._loading:
            self.warnings += read_otherwise(statements)
        errors = [(error.span.start if error.span else 0, error) for error in unread]
        for statement in statements:
            try:
                run(statement)
            except (BrokenName, RaspError) as error:
                told = self._mistakes(error, statement, scope)
                errors += [(_place_in(source, mistake, statement), mistake) for mistake in told]
                self._mark_broken(statement, scope)
                if isinstance(error, RaspLimitError) and self.elaborator.meter.is_spent():
                    break
        return [error for _, error in sorted(errors, key=lambda placed: placed[0])]

    def _mistakes(
        self, error: BrokenName | RaspError, statement: tree.Statement, scope: Scope
    ) -> list[RaspError]:
        """Return what is wrong with a statement; a name that is broken has been told of before."""
        mistakes = list(error.everything) if isinstance(error, RaspError) else []
        for mistake in mistakes:
            mistake.others = ()  # each is told on its own
        if not isinstance(error, (BrokenName, RaspNameError)):
            return mistakes
        is_read = isinstance(statement, (tree.Assign, tree.Evaluate, tree.For))
        for name in bindings_of((statement,)).unknown if is_read else ():
            try:
                self.elaborator.look_up(name.name, scope)
            except RaspNameError as missing:
                missing.located(name.span)
                if missing.message not in (told.message for told in mistakes):
                    mistakes.append(missing)
            except BrokenName:
                pass
        return mistakes

    def _mark_broken(self, statement: tree.Statement, scope: Scope) -> None:
        for name, _ in tree.bound_by(statement):
            scope.names[name.name] = BROKEN
        if isinstance(statement, tree.Load) and not self.keeps_what_is_right:
            self.elaborator.has_unknown_names = True

    def execute(self, statement: tree.Statement) -> Result:
        """Run one statement at the top level."""
        if isinstance(statement, tree.Command):
            if not self._is_own_name(statement):
                obey(statement, self)
                return Result(statement)
            name = tree.Name(statement.words[0], span=statement.span)
            statement = tree.Evaluate(name, span=statement.span, trailing=statement.trailing)
        names = bound_names(statement)
        self._warn_of_rebinding(names, statement)
        try:
            value, definition = self.elaborator.run(statement, self.scope)
        except RecursionError:
            raise RaspLimitError(
                "the program is nested too deeply to run",
                statement.span,
                "give the inner parts names of their own",
            ) from None
        except MemoryError:
            raise too_much_memory().located(statement.span) from None
        except RaspError as error:
            raise error.located(statement.span) from None
        self._remember(statement, self.scope)
        value = None if value is MISSING else value
        if isinstance(value, DrawRequest) and not value.tokens:
            value = replace(value, tokens=self.settings.example_for(value.node))
        if isinstance(statement, (tree.Assign, tree.Evaluate)) and value is not None:
            self.elaborator.notes.keep("out", value, definition, self.last)
        return Result(statement, value, names, Program({}, (definition,)))

    def _is_own_name(self, command: tree.Command) -> bool:
        """Tell the word `names` from a variable that somebody called `names`."""
        return len(command.words) == 1 and self.scope.find(command.words[0]) is not MISSING

    def find(self, name: str) -> Value:
        """Return the value of a name that somebody asks for, or raise."""
        if self.scope.find(name) is MISSING and not self.elaborator.has_unknown_names:
            own = ", ".join(f"`{own}`" for own in self.names())
            hint = f"the names are {own}" if own else "nothing is defined yet"
            hint = hint_for_unknown(name, self.scope.every_name(), hint)
            raise RaspNameError(f"`{name}` is not defined", hint=hint)
        return self.elaborator.look_up(name, self.scope)

    def names(self) -> dict[str, Value]:
        """Return what the user has defined, private names left aside."""
        return {
            name: value
            for name, value in self.scope.names.items()
            if not name.startswith("_") and value is not BROKEN
        }

    def doc(self, name: str) -> str:
        """Return the one-line documentation of a name, if it has one."""
        value = self.scope.find(name)
        if isinstance(value, Function):
            return value.doc
        if name in self.scope.names:
            return ""
        return self.docs.get(name) or BUILT_IN_DOCS.get(name, "")

    def _warn_of_rebinding(self, names: tuple[str, ...], statement: tree.Statement) -> None:
        for name in names:
            if name not in self.scope.names and self.library.find(name) is not MISSING:
                message = f"`{name}` hides the library's `{name}` from here on"
                hint = "choose another name if you did not mean to"
                self.warnings.append(Rebinding(message, statement.span, hint))

    def _load(self, statement: tree.Load, scope: Scope) -> None:
        """Run a file in a scope of its own, and take its public names over."""
        beside = statement.span.source.name
        if not self._loading:
            self._started = beside
        source = self.loader.read(statement.path, beside, self.limits, self._started)
        if source.name in self._loading:
            raise RaspValueError(
                f"`{statement.path}` loads itself, by way of {len(self._loading)} file(s)",
                statement.span,
                "move what both need into a third file",
            )
        if len(self._loading) >= 50:
            raise RaspLimitError(
                "files load one another more than 50 deep",
                statement.span,
                "put the definitions into fewer files",
            )
        loaded, before = Scope(self.library, definitions={}), len(self.warnings)
        self._loading.append(source.name)
        try:
            errors = self._go_on(source, loaded, lambda inner: self._run_loaded(inner, loaded))
        finally:
            self._loading.pop()
        self.warnings[before:] = [
            replace(warned, message=f"in {warned.span}: {warned.message}", span=statement.span)
            for warned in self.warnings[before:]
        ]
        if errors and not self.keeps_what_is_right:
            raise all_of(errors)
        for name, value in loaded.names.items():
            if not name.startswith("_") and value is not BROKEN:
                self.elaborator.notes.keep(name, value, loaded.definition_of(name), scope)
        if errors:
            raise all_of(errors)

    def _run_loaded(self, statement: tree.Statement, scope: Scope) -> None:
        if isinstance(statement, tree.Command):
            return
        try:
            self.elaborator.run(statement, scope)
        except RaspError as error:
            raise error.located(statement.span) from None
        self._remember(statement, scope)

    def _remember(self, statement: tree.Statement, scope: Scope) -> None:
        for name in bound_names(statement):
            self.places[name] = scope.names[name], statement.span

    def place(self, name: str) -> Span | None:
        """Return the statement that gave a name its value, in the program or in the library."""
        value, span = self.places.get(name, (MISSING, None))
        if span is not None and value is self.scope.find(name):
            return span
        is_library = self.scope.holding(name) is self.library
        return library_places().get(name) if is_library else None


def _place_in(source: Source, error: RaspError, statement: tree.Statement) -> int:
    """Where an error belongs among others; one in a loaded file belongs where it is loaded."""
    is_here = error.span is not None and error.span.source is source
    return error.span.start if error.span and is_here else statement.span.start


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Let Python recurse as deep as our own budgets allow, for the time of a run."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
