"""What is typed in, what is answered out: the REPL without its terminal."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from rasp.apps.repl.saving import save_definitions
from rasp.apps.shown_results import show_named, show_result
from rasp.base.atoms import kind_name
from rasp.base.errors import RaspError, all_of
from rasp.base.source import INPUT, Source, Span
from rasp.language.graph import Node, Program
from rasp.language.graph.origins import Definition
from rasp.language.meaning.builtins import DrawRequest
from rasp.language.meaning.calls import signature
from rasp.language.meaning.session import Result, Session
from rasp.language.meaning.value_kinds import BROKEN, MISSING, BuiltIn, Function, Scope
from rasp.language.syntax import parse_with_errors
from rasp.language.syntax.lint import read_otherwise
from rasp.language.syntax.tree import (
    Assign,
    Command,
    Evaluate,
    For,
    Literal,
    Load,
    Remark,
    Statement,
)
from rasp.language.words import COMMANDS, KEYWORD_DOCS

HELP = """\
Enter runs a statement, with or without `;`. New s-ops and selectors are shown on an example.

    hist = selector_width(select(tokens, tokens, ==))
    hist("hello")                        apply it to an input
    draw(hist)                           see the computation, layer by layer
    ?selector_width                      what a name is for
    _ + 1                                `_` is the last value

Words for the prompt:
"""
_QUESTION = re.compile(r"\s*\?\s*([\w-]*)\s*;?\s*|\s*([^\W\d]\w*)\s*\?\s*;?\s*")
SHELL_COMMANDS = (
    "run", "eval", "test", "check", "fit", "dialect", "find", "diff", "grade", "compile", "export",
    "verify", "prove", "testbed", "gallery", "fmt", "train", "reproduce", "play", "lsp",
    "completion",
)  # fmt: skip
"""Commands of the shell, `rasp fit …`: the prompt knows that they are not its own."""
SHELL_LINE = re.compile(r"(?:rasp +)?([a-z]+)(?: +[\w./-].*)?")
"""A word, alone or before something that cannot come after a name of the language."""
MOST_LINES = 30
"""Lines of a definition that are shown."""
WIDTH = 88
"""Columns of a list of names."""


class Leave(Exception):
    """The user said goodbye."""


@dataclass
class Conversation:
    """A session, and what is needed to take definitions back."""

    session: Session = field(default_factory=Session)
    failures: int = 0

    def __post_init__(self) -> None:
        self.session.keeps_what_is_right = True
        self._past: list[_Snapshot] = []
        self._saved: set[str] = set()

    def needs_more(self, text: str) -> bool:
        """Tell whether a text stops in the middle of a statement."""
        return bool(self.what_is_open(text))

    def what_is_open(self, text: str) -> str:
        """Say what a text that stops in the middle of a statement waits for."""
        if self._is_goodbye(text) or self._half_a_command(text) or _QUESTION.fullmatch(text):
            return ""
        _, errors = parse_with_errors(Source(INPUT, text), self.session.limits, at_prompt=True)
        return next((error.message for error in errors if error.incomplete), "")

    def could_continue(self, text: str) -> bool:
        """Tell whether a text is a whole statement that another line could continue."""
        if self._is_goodbye(text) or self._half_a_command(text) or _QUESTION.fullmatch(text):
            return False
        source = Source(INPUT, text)
        statements, errors = parse_with_errors(source, self.session.limits, at_prompt=True)
        code = [each for each in statements if not isinstance(each, Remark)]
        if errors or not code or not isinstance(code[-1], (Assign, Evaluate)):
            return False
        return text[code[-1].span.end - 1] != ";"

    def open(self, source: Source) -> str:
        """Run a file before the first prompt, as far as it is right, and say what it brought."""
        before = _Snapshot.of(self.session)
        _, errors = self.session.check(source)
        statements, _ = parse_with_errors(source, self.session.limits)
        self.session.warnings += read_otherwise(statements)
        self.failures += len(errors)
        self._forget_broken()
        answers = self._warnings()
        answers += [str(all_of(errors))] if errors else []
        return "\n".join([*answers, self._brought(before, source.name)])

    def respond(self, text: str) -> str:
        """Run what was typed and return what there is to say; raise `Leave` at the end."""
        if not text.strip(" \t\n;"):
            return ""
        if question := _QUESTION.fullmatch(text):
            return self._explained(question.group(1) or question.group(2) or "")
        if self._is_goodbye(text):
            raise Leave
        if usage := self._half_a_command(text):
            self.failures += 1
            return f"error: `{text.strip()}` is only half of what to say\nhint: write `{usage}`"
        if command := self._command_of_the_shell(text):
            self.failures += 1
            return (
                f"error: `rasp {command}` is a command of the shell, not of this prompt\n"
                f"hint: leave with `exit`; `rasp {command} --help` says what it takes"
            )
        answers: list[str] = []
        snapshot = _Snapshot.of(self.session)
        try:
            for result in self.session.run_each(Source(INPUT, text), at_prompt=True):
                answers += self._warnings()
                answers.append(self._answer(result, snapshot))
                self._keep_last(result)
                if result.names or isinstance(result.statement, (For, Load)):
                    self._past.append(replace(snapshot, statement=result.statement))
                snapshot = _Snapshot.of(self.session)
        except RaspError as error:
            self.failures += 1
            answers += self._warnings()
            answers.append(str(error))
            if dict(self.session.scope.names) != snapshot.names:  # what a loaded file has right
                answers.append(self._brought(snapshot, "it", "kept"))
                self._past.append(snapshot)
        return "\n".join(answer for answer in answers if answer)

    def _keep_last(self, result: Result) -> None:
        """Keep the last value as `_` as well, but for a request to draw."""
        names, is_drawn = self.session.last.names, isinstance(result.value, DrawRequest)
        if isinstance(result.statement, (Assign, Evaluate)) and "out" in names and not is_drawn:
            names["_"] = names["out"]

    def _forget_broken(self) -> None:
        names = self.session.scope.names
        for name in [name for name, value in names.items() if value is BROKEN]:
            del names[name]

    def _brought(self, before: _Snapshot, source: str, verb: str = "loaded") -> str:
        """Say which names a file has given."""
        new = {
            name: value
            for name, value in self.session.names().items()
            if before.names.get(name) is not value
        }
        if not new:
            return f"     {verb}: no names from {source}"
        by_kind: dict[str, list[str]] = {}
        for name, value in new.items():
            is_function = isinstance(value, (Function, BuiltIn))
            by_kind.setdefault(kind_name(value), []).append(
                signature(value) if is_function else name
            )
        lines = [f"     {verb}: {len(new)} name{'s' * (len(new) != 1)} from {source}"]
        lines += [f"{kind:>10}s: " + _wrapped(names, " " * 13) for kind, names in by_kind.items()]
        return "\n".join(lines)

    def _explained(self, name: str) -> str:
        """`?name`: what a name is for."""
        try:
            return self._doc(name) if name else self._help()
        except RaspError as error:
            self.failures += 1
            return str(error)

    def _help(self) -> str:
        return HELP + "\n".join(f"    {usage}" for usage in COMMANDS.values())

    def _is_goodbye(self, text: str) -> bool:
        """Tell `exit()`, as Python's prompt has it, from a call of what somebody called `exit`."""
        word = text.strip().rstrip(";").removesuffix("()")
        return word in ("exit", "quit") and self.session.scope.find(word) is MISSING

    def _half_a_command(self, text: str) -> str:
        """Return how to go on after a lone `arch` or `show`, unless that is somebody's own name."""
        word = text.strip()
        usage = COMMANDS.get(word, "").partition(":")[0]
        return "" if usage == word or self.session.scope.find(word) is not MISSING else usage

    def _command_of_the_shell(self, text: str) -> str:
        """Return the command of `fit reverse` or `rasp fit reverse`, unless it is a name here."""
        words = SHELL_LINE.fullmatch(text.strip())
        if words is None or words[1] not in SHELL_COMMANDS:
            return ""
        return words[1] if self.session.scope.find(words[1]) is MISSING else ""

    def _warnings(self) -> list[str]:
        told = [
            f"warning: {warning.message}\nhint: {warning.hint}" for warning in self.session.warnings
        ]
        self.session.warnings.clear()
        return told

    def _answer(self, result: Result, before: _Snapshot) -> str:
        if isinstance(result.value, DrawRequest):
            return self._drawing(result.value, result.program)
        if not isinstance(result.statement, Command):
            if isinstance(result.statement, Load):
                return self._brought(before, f'"{result.statement.path}"')
            return show_result(result, self.session)
        match result.statement.words:
            case ("exit" | "quit",):
                raise Leave
            case ("help",):
                return self._help()
            case ("save",):
                return self._save(result.statement)
            case ("help" | "doc", name):
                return self._doc(name)
            case ("names",):
                return self._names()
            case ("undo",):
                return self._undo()
            case ("arch", name):
                return self._architecture(name)
            case ("generate", _):
                from rasp.apps.repl.generating import generated

                return generated(result.statement, self.session)
        return show_result(result, self.session)

    def _doc(self, name: str) -> str:
        if name in COMMANDS and self.session.scope.find(name) is MISSING:
            return f"     {COMMANDS[name]}"
        if name in KEYWORD_DOCS:
            return f"     {KEYWORD_DOCS[name]}"
        value = self.session.find(name)
        doc = self.session.doc(name)
        shown = show_named(name, value, self.session, self.session.program_of(name))
        if doc and f"doc: {doc}" not in shown:
            shown += f"\n          doc: {doc}"
        return shown + self._source(name)

    def _source(self, name: str) -> str:
        """The statement that gave a name its value, and the file that it is in."""
        span = self.session.place(name)
        if span is None:
            return ""
        place = "typed here" if span.source.name == INPUT else f"{span.source.name}:{span.line}"
        lines = span.text.split("\n")
        if len(lines) > MOST_LINES:
            lines = [*lines[:MOST_LINES], f"… {len(lines)} lines in all"]
        return "\n".join([f"\n       source: {place}", *(f"         {line}" for line in lines)])

    def _names(self) -> str:
        own = list(self.session.names())
        library = sorted(name for name in self.session.library.every_name())
        yours = "     yours:   " + (", ".join(own) or "nothing yet")
        return yours + "\n     library: " + _wrapped(library, " " * 14)

    def _undo(self) -> str:
        if not self._past:
            return "     there is nothing to take back"
        before = self._past.pop()
        gone = [name for name in self.session.names() if name not in before.names]
        changed = [
            name
            for name, value in self.session.names().items()
            if name in before.names and before.names[name] is not value
        ]
        before.restore(self.session)
        told = [f"`{name}` is gone" for name in gone]
        told += [f"`{name}` is what it was before" for name in changed]
        return "     " + (", ".join(told) or "it is taken back")

    def _save(self, command: Command) -> str:
        argument = command.argument
        path = argument.value if isinstance(argument, Literal) else ""
        statements = [past.statement for past in self._past if past.statement is not None]
        place = save_definitions(str(path), statements, self._saved)
        return f"     saved: {len(statements)} definition{'s' * (len(statements) != 1)} to {place}"

    def _architecture(self, name: str) -> str:
        from rasp.insight.schedule import explain
        from rasp.language.embedding.handles import Handle

        value = self.session.find(name)
        if not isinstance(value, Node):
            return f"     `{name}` is neither s-op nor selector: it needs no transformer"
        return str(explain(Handle(value, self.session.program_of(name))))

    def _drawing(self, request: DrawRequest, program: Program) -> str:
        from rasp.insight.drawing import draw

        limits = self.session.limits
        return str(draw(request.node, list(request.tokens), program, limits=limits))


@dataclass(frozen=True)
class _Snapshot:
    """What a session's names were before a statement."""

    names: dict[str, object]
    definitions: dict[str, Definition]
    places: dict[str, tuple[object, Span]]
    last: Scope
    """What held the last value."""
    statement: Statement | None = None
    """The statement that came then, where it was a definition."""

    @staticmethod
    def of(session: Session) -> _Snapshot:
        own, last = session.scope, session.last
        kept = replace(last, names=dict(last.names), definitions=dict(last.definitions or {}))
        return _Snapshot(dict(own.names), dict(own.definitions or {}), dict(session.places), kept)

    def restore(self, session: Session) -> None:
        session.scope.names = dict(self.names)
        session.scope.definitions = dict(self.definitions)
        session.places = dict(self.places)
        session.last.names, session.last.definitions = self.last.names, self.last.definitions


def _wrapped(names: list[str], indent: str) -> str:
    import textwrap  # starting is to be quick

    return f"\n{indent}".join(textwrap.wrap(", ".join(names), WIDTH - len(indent)))
