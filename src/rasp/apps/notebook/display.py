"""A handle and an input in, HTML for a notebook out: strips of values, grids of selections.

Tables with styles of their own, and letters in every cell: they read well in any theme, and
still where styles are taken away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from rasp.base.atoms import PLURALS, Atom, kind_name, kind_of_sequence, read_input, show_input
from rasp.base.atoms import show as show_atom
from rasp.base.errors import RaspError
from rasp.insight.schedule import Explanation, Schedule
from rasp.language.embedding.function_handles import FunctionHandle
from rasp.language.embedding.handles import Handle
from rasp.language.evaluator import apply
from rasp.language.graph import Scorer, Selector, expression
from rasp.language.meaning.calls import signature
from rasp.language.meaning.shown_values import show_values

MOST_COLUMNS = 40
LONGEST_EXPRESSION = 90
SHORT_EXPRESSION = 50
LONGEST_NAME = 24
MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
BLOCK = f"{MONO};font-size:13px;line-height:1.35;overflow-x:auto;margin:2px 0"
TABLE = "border-collapse:separate;border-spacing:1px;margin:3px 0;border:0;width:auto"
CELL = "text-align:center;min-width:1.5em;padding:2px 5px;border:0;border-radius:2px"
SOFT = "opacity:.65"
PLAIN = "background:rgba(127,127,127,.12)"
KEYS = "background:rgba(46,139,64,.18)"
QUERIES = "background:rgba(222,135,32,.2)"
RESULT = "background:rgba(200,60,70,.18)"
PICKED = "background:#7a3fb5;color:#7a3fb5"
NOT_PICKED = "background:rgba(127,127,127,.1);color:rgba(127,127,127,.55)"


@dataclass(frozen=True)
class Display:
    """A handle shown on an input. In a notebook it is a picture, elsewhere text.

    >>> from rasp.language.embedding.constructors import indices
    >>> Display(indices, ("a", "b"))
    indices on "ab" = [0, 1]
    """

    handle: Handle
    tokens: tuple[Atom, ...]

    def _repr_html_(self) -> str:
        return html_of(self.handle, self.tokens)

    def __repr__(self) -> str:
        return text_of(self.handle, self.tokens)


def show(handle: Handle, given: object) -> Display:
    """Show an s-op, selector or scorer on an input.

    >>> from rasp.language.embedding.constructors import indices
    >>> show(indices + 1, "hey")
    indices + 1 on "hey" = [1, 2, 3]
    """
    return Display(handle, read_input(given))


def text_of(handle: Handle, tokens: tuple[Atom, ...]) -> str:
    """Write a handle's values on an input as text."""
    called = f"{_label(handle)} on {show_input(tokens)}"
    try:
        values = apply(handle.node, list(tokens), handle.program, handle.budgets)
    except RaspError as error:
        return f"{called} fails: {error.message}"
    return show_values(called, values, tokens)


def html_of(handle: Handle, tokens: tuple[Atom, ...]) -> str:
    """Draw a handle's values on an input."""
    try:
        values = apply(handle.node, list(tokens), handle.program, handle.budgets)
    except RaspError as error:
        return _block(_title(handle) + _misfit(tokens, error))
    match handle.node:
        case Selector() | Scorer():
            return _block(_title(handle) + _grid(values, tokens) + _cut_note(tokens))
    kinds = PLURALS[kind_of_sequence(values)]
    return _block(_title(handle, kinds) + _strip(handle, values, tokens) + _cut_note(tokens))


def function_html(function: FunctionHandle) -> str:
    """Show a function's signature and what it is for."""
    doc = f'<div style="{SOFT}">{escape(function.__doc__ or "")}</div>'
    return _block(f"<div>function <b>{escape(signature(function.function))}</b></div>{doc}")


def schedule_html(schedule: Schedule) -> str:
    """Show layers as rows and heads as cells."""
    rows = []
    for number, layer in enumerate(schedule.layer_list, 1):
        heads = "".join(
            _cell(_short(expression(head.selector, depth=4)), f"{KEYS};text-align:left")
            for head in layer.heads
        )
        rows.append(f"<tr>{_cell(f'layer {number}', f'{SOFT};text-align:left')}{heads}</tr>")
    return _block(f"<div>{escape(str(schedule))}</div>{_table(rows)}")


def explanation_html(explanation: Explanation) -> str:
    return _block(f'<pre style="margin:0">{escape(str(explanation))}</pre>')


def _strip(handle: Handle, values: Sequence[Atom], tokens: tuple[Atom, ...]) -> str:
    """Two rows: the input, and what is computed from it."""
    names = ("input", _short(handle.name or "value", LONGEST_NAME))
    cells = ([_text(token) for token in tokens], [_text(value) for value in values])
    rows = []
    for name, row, style in zip(names, cells, (PLAIN, RESULT), strict=True):
        label = _cell(name, f"{SOFT};text-align:right")
        rows.append(f"<tr>{label}{''.join(_cell(c, style) for c in row[:MOST_COLUMNS])}</tr>")
    return _table(rows)


def _grid(rows: Sequence[Sequence[Any]], tokens: tuple[Atom, ...]) -> str:
    """Rows ask, columns answer: `selection[query][key]`."""
    shown = [_text(token) for token in tokens[:MOST_COLUMNS]]
    lines = [f"<tr>{_cell('', '')}{''.join(_cell(token, KEYS) for token in shown)}</tr>"]
    for token, row in zip(shown, rows, strict=False):
        cells = "".join(_mark(value) for value in row[:MOST_COLUMNS])
        lines.append(f"<tr>{_cell(token, QUERIES)}{cells}</tr>")
    note = f'<div style="{SOFT}">each row a query, each column a key</div>'
    return _table(lines) + note


def _mark(value: Any) -> str:
    if isinstance(value, bool):
        return _cell("■", PICKED) if value else _cell("·", NOT_PICKED)
    return _cell(show_atom(value), PLAIN)


def _title(handle: Handle, kinds: str = "") -> str:
    written = escape(_short(_written(handle)))
    name = f"<b>{escape(handle.name)}</b> = " if handle.name and handle.name != written else ""
    kind = f"{kind_name(handle.node)}{f' of {kinds}' if kinds else ''}"
    return f'<div>{name}{written} <span style="{SOFT}">({kind})</span></div>'


def _written(handle: Handle) -> str:
    """The expression; where that is long, as it is in the source it came from."""
    text = expression(handle.node, handle.program.names, depth=5)
    origin = handle.program.origins.get(handle.node)
    if len(text) > SHORT_EXPRESSION and origin is not None and "\n" not in origin.text:
        return origin.text
    return text


def _misfit(tokens: tuple[Atom, ...], error: RaspError) -> str:
    hint = f"<br>hint: {escape(error.hint)}" if error.hint else ""
    shown = escape(show_input(tokens))
    return (
        f'<div style="{SOFT}">does not fit the example {shown}: {escape(error.message)}{hint}</div>'
    )


def _cut_note(tokens: tuple[Atom, ...]) -> str:
    if len(tokens) <= MOST_COLUMNS:
        return ""
    return f'<div style="{SOFT}">the first {MOST_COLUMNS} of {len(tokens)} positions</div>'


def _label(handle: Handle) -> str:
    return handle.name or expression(handle.node, handle.program.names, depth=5)


def _text(token: Atom) -> str:
    return token if isinstance(token, str) and token.strip() else show_atom(token)


def _short(text: str, most: int = LONGEST_EXPRESSION) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _cell(text: str, style: str) -> str:
    return f'<td style="{CELL};{style}">{escape(text)}</td>'


def _table(rows: Sequence[str]) -> str:
    return f'<table style="{TABLE}"><tbody>{"".join(rows)}</tbody></table>'


def _block(inner: str) -> str:
    return f'<div style="{BLOCK}">{inner}</div>'
