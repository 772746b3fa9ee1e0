"""IPython in, RASP in it out: the magic, the displays, and errors without tracebacks."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import TracebackType
from typing import Any

from rasp.apps.notebook.cells import Cells
from rasp.apps.notebook.display import (
    Display,
    explanation_html,
    function_html,
    html_of,
    schedule_html,
)
from rasp.apps.shown_results import show_result
from rasp.base.errors import RaspError, RaspNameError, RaspSyntaxError
from rasp.base.source import Source, Span
from rasp.insight.drawing import draw
from rasp.insight.schedule import Explanation, Schedule, explain
from rasp.language.embedding.function_handles import FunctionHandle, to_handle
from rasp.language.embedding.handle_operators import ScorerHandle, SelectorHandle, SOpHandle
from rasp.language.embedding.handles import Handle
from rasp.language.embedding.python_places import Place
from rasp.language.graph import Node, Program
from rasp.language.meaning.builtins import DrawRequest
from rasp.language.meaning.session import DisplaySettings, Result
from rasp.language.meaning.shown_values import show_value
from rasp.language.syntax.tree import Command, Evaluate

MAGIC = "rasp"


def load_ipython_extension(shell: Any) -> None:
    """Set a notebook up; IPython calls this for `%load_ext rasp`."""
    Notebook(shell).set_up()


def unload_ipython_extension(shell: Any) -> None:
    """Take the displays and the error display away again."""
    html = shell.display_formatter.formatters["text/html"]
    for kind in _HTML_KINDS:
        html.pop(kind, None)
    shell.set_custom_exc((), None)
    for place in ("cell", "line"):
        shell.magics_manager.magics[place].pop(MAGIC, None)


_HTML_KINDS = (SOpHandle, SelectorHandle, ScorerHandle, FunctionHandle, Schedule, Explanation)


class Notebook:
    """One notebook's RASP: its session, and how it shows things."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.cells = Cells()

    @property
    def settings(self) -> DisplaySettings:
        return self.cells.session.settings

    def set_up(self) -> None:
        self.shell.register_magic_function(self.magic, "line_cell", MAGIC)
        self.shell.set_custom_exc((RaspError,), self.show_error)
        html = self.shell.display_formatter.formatters["text/html"]
        for kind in (SOpHandle, SelectorHandle, ScorerHandle):
            html.for_type(kind, self.handle_html)
        html.for_type(FunctionHandle, function_html)
        html.for_type(Schedule, schedule_html)
        html.for_type(Explanation, explanation_html)
        text = self.shell.display_formatter.formatters["text/plain"]
        text.for_type(Explanation, lambda value, printer, cycle: printer.text(str(value)))

    def magic(self, line: str, cell: str | None = None) -> None:
        """Run RASP: `%%rasp` takes the whole cell, `%rasp` the rest of its line.

        Names cross over: RASP sees Python's handles, atoms, lists and functions, and Python
        sees what RASP defines. `set example "…"` changes what things are shown on.
        """
        if cell is not None and line.strip():
            raise RaspSyntaxError(
                "`%%rasp` must be alone on its line", hint="put the program on the lines below"
            )
        text = cell if cell is not None else _as_statement(line)
        source = Source(self._cell_name(), text)
        results = self.cells.run(source, self.shell.user_ns)
        for number, result in enumerate(results):
            self.show_result(result, is_last=number == len(results) - 1)
        self.show_warnings()

    def show_result(self, result: Result, is_last: bool) -> None:
        """Show what was asked for: expressions, drawings, words; and the last definition."""
        if isinstance(result.statement, Command):
            self.show_answer(result)
        elif isinstance(result.value, DrawRequest):
            request = result.value
            self.display(draw(request.node, list(request.tokens), result.program))
        elif isinstance(result.statement, Evaluate) or is_last:
            session, names = self.cells.session, result.names
            programs = [session.program_of(name) for name in names] or [result.program]
            values = result.value if len(names) > 1 else [result.value]
            for value, program in zip(values, programs, strict=False):
                self.show_value(value, program)

    def show_value(self, value: Any, program: Program) -> None:
        held = to_handle(value, self.cells.session, program)
        if isinstance(held, Handle):
            self.display(Display(held, self.settings.example_for(held.node)))
        elif isinstance(held, FunctionHandle):
            self.display(held)
        elif value is not None:
            self.write(show_value(value, self.settings.full_display))

    def show_answer(self, result: Result) -> None:
        """Answer a word to the REPL."""
        assert isinstance(result.statement, Command)
        session = self.cells.session
        match result.statement.words:
            case ("arch", name):
                value = session.find(name)
                if not isinstance(value, Node):
                    raise RaspNameError(
                        f"`{name}` is neither s-op nor selector", result.statement.span
                    )
                self.display(explain(to_handle(value, session, session.program_of(name))))
            case ("doc" | "help", name):
                self.write(session.doc(name) or f"`{name}` has no documentation")
            case ("names",):
                self.write(", ".join(session.names()) or "nothing is defined yet")
            case _:
                text = show_result(result, session)
                if text:
                    self.write(text)

    def show_warnings(self) -> None:
        for warning in self.cells.session.warnings:
            self.write(f"warning: {warning.message}\nhint: {warning.hint}")
        self.cells.session.warnings.clear()

    def handle_html(self, handle: Handle) -> str:
        """Show a handle on the running example."""
        return html_of(handle, self.settings.example_for(handle.node))

    def display(self, value: Any) -> None:
        data, metadata = self.shell.display_formatter.format(value)
        self.shell.display_pub.publish(data=data, metadata=metadata)

    def write(self, text: str) -> None:
        print(text)  # noqa: T201

    def _cell_name(self) -> str:
        """What IPython calls the cell that is running."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__") != "__main__":
            frame = frame.f_back  # type: ignore[assignment]
        label = frame and self.shell.compile.format_code_name(frame.f_code.co_filename)
        return label[1] if label else "<cell>"

    # Errors

    def show_error(
        self,
        shell: Any,
        kind: type[RaspError],
        error: RaspError,
        trace: TracebackType | None,
        tb_offset: int | None = None,
    ) -> list[str]:
        """Show a mistake as RASP does: what, where, and the way out."""
        if error.span is None:
            error.span = _place_outside(trace)
        for mistake in error.everything:
            mistake.span = self._with_cell_name(mistake.span)
        lines = _coloured(str(error)).splitlines()
        shell._showtraceback(kind, error, lines)
        return lines

    def _with_cell_name(self, span: Span | None) -> Span | None:
        """Call a cell by its number, not by the file that IPython pretends it is."""
        if span is None:
            return None
        label = self.shell.compile.format_code_name(span.source.name)
        if label is None:
            return span
        return replace(span, source=Source(label[1], span.source.text))


def _as_statement(line: str) -> str:
    """`%rasp hist("hello")` needs no semicolon."""
    text = line.strip()
    return text if not text or text.endswith((";", "}")) else text + ";"


def _place_outside(trace: TracebackType | None) -> Span | None:
    """The last line of somebody else's code that led to an error."""
    span: Span | None = None
    while trace is not None:
        module: str = trace.tb_frame.f_globals.get("__name__", "")
        if module == "__main__":
            span = Place(trace.tb_frame.f_code, trace.tb_lasti).span
        trace = trace.tb_next
    return span


def _coloured(text: str) -> str:
    """Red for what is wrong, bold for where; a terminal and a notebook both read these."""
    lines = []
    for line in text.splitlines():
        if line.startswith("error: "):
            line = f"\x1b[31;1merror:\x1b[0m {line.removeprefix('error: ')}"
        elif line.startswith("hint: "):
            line = f"\x1b[32;1mhint:\x1b[0m {line.removeprefix('hint: ')}"
        elif set(line.partition("|")[2].strip()) == {"^"}:
            before, bar, carets = line.partition("|")
            line = f"{before}{bar}\x1b[31;1m{carets}\x1b[0m"
        lines.append(line)
    return "\n".join(lines)
