"""What is typed in, what is answered out: the REPL without its terminal."""

from __future__ import annotations

from dataclasses import dataclass, field

from rasp.errors import RaspError
from rasp.frontend.builtins import DrawRequest
from rasp.frontend.session import Result, Session
from rasp.frontend.show import show_named, show_result
from rasp.frontend.values import MISSING
from rasp.graph import Node, Program
from rasp.graph.origins import Definition
from rasp.source import Source
from rasp.syntax import parse_with_errors
from rasp.syntax.tree import Command, For, Load
from rasp.words import COMMANDS

HELP = """\
Statements end in `;`. New s-ops and selectors are shown on the running example.

    hist = selector_width(select(tokens, tokens, ==));
    hist("hello");                       apply it to an input
    draw(hist, "hello");                 see the computation, layer by layer

Words for the prompt:
"""


class Leave(Exception):
    """The user said goodbye."""


@dataclass
class Conversation:
    """A session, and what is needed to take definitions back."""

    session: Session = field(default_factory=Session)
    failures: int = 0

    def __post_init__(self) -> None:
        self._past: list[_Snapshot] = []

    def needs_more(self, text: str) -> bool:
        """Tell whether a text stops in the middle of a statement."""
        if self._is_goodbye(text) or self._half_a_command(text):
            return False
        _, errors = parse_with_errors(Source("<input>", text), self.session.limits)
        return bool(errors) and all(error.incomplete for error in errors)

    def respond(self, text: str) -> str:
        """Run what was typed and return what there is to say; raise `Leave` at the end."""
        if not text.strip():
            return ""
        if self._is_goodbye(text):
            raise Leave
        if usage := self._half_a_command(text):
            self.failures += 1
            return f"error: `{text.strip()}` is only half of what to say\nhint: write `{usage}`"
        answers: list[str] = []
        snapshot = _Snapshot.of(self.session)
        try:
            for result in self.session.run_each(Source("<input>", text)):
                answers += self._warnings()
                answers.append(self._answer(result))
                if result.names or isinstance(result.statement, (For, Load)):
                    self._past.append(snapshot)
                    snapshot = _Snapshot.of(self.session)
        except RaspError as error:
            self.failures += 1
            answers += self._warnings()
            answers.append(str(error))
        return "\n".join(answer for answer in answers if answer)

    def _is_goodbye(self, text: str) -> bool:
        """Tell `exit()`, as Python's prompt has it, from a call of what somebody called `exit`."""
        word = text.strip().rstrip(";").removesuffix("()")
        return word in ("exit", "quit") and self.session.scope.find(word) is MISSING

    def _half_a_command(self, text: str) -> str:
        """Return how to go on after a lone `arch` or `show`, unless that is somebody's own name."""
        word = text.strip()
        usage = COMMANDS.get(word, "").partition(":")[0]
        return "" if usage == word or self.session.scope.find(word) is not MISSING else usage

    def _warnings(self) -> list[str]:
        found = [f"warning: {warning.message}" for warning in self.session.warnings]
        self.session.warnings.clear()
        return found

    def _answer(self, result: Result) -> str:
        if isinstance(result.value, DrawRequest):
            return self._drawing(result.value, result.program)
        if not isinstance(result.statement, Command):
            return show_result(result, self.session)
        match result.statement.words:
            case ("exit" | "quit",):
                raise Leave
            case ("help",):
                return HELP + "\n".join(f"    {usage}" for usage in COMMANDS.values())
            case ("help" | "doc", name):
                return self._doc(name)
            case ("names",):
                return self._names()
            case ("undo",):
                return self._undo()
            case ("arch", name):
                return self._architecture(name)
        return show_result(result, self.session)

    def _doc(self, name: str) -> str:
        if name in COMMANDS and self.session.scope.find(name) is MISSING:
            return f"     {COMMANDS[name]}"
        value = self.session.find(name)
        doc = self.session.doc(name)
        shown = show_named(name, value, self.session, self.session.program_of(name))
        return shown if not doc or f"doc: {doc}" in shown else f"{shown}\n          doc: {doc}"

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

    def _architecture(self, name: str) -> str:
        from rasp.architecture import explain
        from rasp.frontend.handles import Handle

        value = self.session.find(name)
        if not isinstance(value, Node):
            return f"     `{name}` is neither s-op nor selector: it needs no transformer"
        return str(explain(Handle(value, self.session.program_of(name))))

    def _drawing(self, request: DrawRequest, program: Program) -> str:
        from rasp.drawing import draw

        limits = self.session.limits
        return str(draw(request.node, list(request.tokens), program, limits=limits))


@dataclass(frozen=True)
class _Snapshot:
    """What a session's names were before a statement."""

    names: dict[str, object]
    definitions: dict[str, Definition]

    @staticmethod
    def of(session: Session) -> _Snapshot:
        return _Snapshot(dict(session.scope.names), dict(session.scope.definitions or {}))

    def restore(self, session: Session) -> None:
        session.scope.names = dict(self.names)
        session.scope.definitions = dict(self.definitions)


def _wrapped(names: list[str], indent: str, width: int = 88) -> str:
    lines = [""]
    for name in names:
        if len(lines[-1]) + len(name) + 2 > width - len(indent):
            lines.append("")
        lines[-1] += f"{name}, "
    return ("\n" + indent).join(line.rstrip() for line in lines).rstrip(",")
