"""A document and a place in it in, what an editor shows there out: one function a feature."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp

from rasp.apps.lsp.analysis import Record
from rasp.apps.lsp.document import Document
from rasp.apps.lsp.positions import Places
from rasp.language.syntax import format_program, print_expression
from rasp.language.syntax.bindings import definition_before
from rasp.language.syntax.scopes import Binding
from rasp.language.syntax.tree import Assign, Define, For, Statement, bound_by


def diagnostics(document: Document, answer: Record) -> list[lsp.Diagnostic]:
    """Every mistake and warning that running the program has told, with its hint."""
    listed = []
    for severity, records in (
        (lsp.DiagnosticSeverity.Error, answer["errors"]),
        (lsp.DiagnosticSeverity.Warning, answer["warnings"]),
    ):
        for record in records:
            hint = f"\nhint: {record['hint']}" if record["hint"] else ""
            listed.append(
                lsp.Diagnostic(
                    range=document.places.range(record["start"], record["end"]),
                    message=record["message"] + hint,
                    severity=severity,
                    code=record.get("kind", "warning"),
                    source="rasp",
                    related_information=_elsewhere(record),
                )
            )
    return listed


def _elsewhere(record: Record) -> list[lsp.DiagnosticRelatedInformation] | None:
    if "elsewhere" not in record:
        return None
    there = record["elsewhere"]
    where = Places(there["text"]).range(there["start"], there["end"])
    location = lsp.Location(uri_of(there["file"]), where)
    return [lsp.DiagnosticRelatedInformation(location, "here")]


def hover(document: Document, offset: int) -> lsp.Hover | None:
    """What a name is: its value on the running example, its layer, its documentation."""
    occurrence = document.bindings.at(offset)
    if occurrence is None:
        return None
    definition = definition_before(occurrence)
    fact = document.fact(definition)
    parts = [_title(occurrence.name, definition, fact)]
    if definition is not None and definition.doc:
        parts.append(definition.doc)
    if fact.get("value") and fact["kind"] != "function":
        parts.append(f"```text\n{fact['value']}\n```")
    if fact.get("layers"):
        best = "" if fact["exact"] else " (perhaps fewer heads would do)"
        parts.append(f"Computed in layer {fact['layer']}. Needs {fact['needs']}{best}.")
    elif "layers" in fact:
        parts.append("Layer 0: no attention is needed.")
    content = lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n".join(parts))
    return lsp.Hover(content, document.places.range(occurrence.start, occurrence.end))


def _title(name: str, definition: Binding | None, fact: Record) -> str:
    if definition is None:
        return f"`{name}` is not defined here"
    if isinstance(definition.tree, Define):
        return f"```rasp\n{_signature(definition.tree)}\n```"
    if definition.kind == "parameter":
        return f"`{name}`: a parameter"
    return f"`{name}`: {_kind(definition, fact)}"


def _kind(definition: Binding, fact: Record) -> str:
    origin = {"library": " of the library", "built in": " of the language"}
    if "kind" in fact:
        return str(fact["kind"]) + origin.get(definition.kind, "")
    where = {"loop": "name of a loop", "library": "name of the library", "loaded": "loaded name"}
    return where.get(definition.kind, "name") if definition.kind != "built in" else "built in"


def _signature(function: Define) -> str:
    given = (
        parameter.name
        if parameter.default is None
        else f"{parameter.name}={print_expression(parameter.default)}"
        for parameter in function.parameters
    )
    return f"def {function.name.name}({', '.join(given)})"


def go_to(document: Document, offset: int) -> list[lsp.Location]:
    """Where the name under the cursor was bound, in this file or another."""
    occurrence = document.bindings.at(offset)
    definition = definition_before(occurrence) if occurrence else None
    if definition is None or not definition.span.source.name:
        return []
    span = definition.span
    places = Places(span.source.text, document.encoding)
    return [lsp.Location(uri_of(span.source.name), places.range(span.start, span.end))]


def references(document: Document, offset: int, with_definitions: bool) -> list[lsp.Location]:
    """Every place where the variable under the cursor is used."""
    occurrence = document.bindings.at(offset)
    if occurrence is None:
        return []
    uri = uri_of(document.source.name)
    return [
        lsp.Location(uri, document.places.range(reference.start, reference.end))
        for reference in document.bindings.of(occurrence.variable)
        if with_definitions or not reference.is_definition
    ]


def formatted(document: Document) -> list[lsp.TextEdit] | None:
    """The whole text formatted; nothing while it has mistakes that formatting could hide."""
    if document.parsed[1]:
        return None
    tidy = format_program(document.source)
    if tidy == document.source.text:
        return []
    return [lsp.TextEdit(document.places.range(0, len(document.source.text)), tidy)]


def inlay_hints(document: Document, start: int, end: int) -> list[lsp.InlayHint]:
    """Layers × heads at the end of each definition of the main program."""
    hints = []
    for statement in document.parsed[0]:
        at = statement.span.end
        if not (isinstance(statement, (Assign, For)) and start <= at <= end):
            continue
        names = (name.name for name, _ in bound_by(statement))
        facts = {name: document.facts.get(f"{statement.span.start}:{name}", {}) for name in names}
        shown = {name: fact for name, fact in facts.items() if fact.get("layers")}
        if not shown:
            continue
        alone = len(facts) == 1
        label = ", ".join(
            ("" if alone else f"{name}: ") + _size(fact) for name, fact in shown.items()
        )
        tooltip = "\n".join(f"{name}: {fact['needs']}" for name, fact in shown.items())
        hints.append(
            lsp.InlayHint(document.places.position(at), label, tooltip=tooltip, padding_left=True)
        )
    return hints


def _size(fact: Record) -> str:
    layers, width = fact["layers"], fact["width"]
    return f"{layers} layer{'' if layers == 1 else 's'} × {width} head{'' if width == 1 else 's'}"


def symbols(document: Document) -> list[lsp.DocumentSymbol]:
    """The outline: what the main program defines."""
    listed = []
    for statement in document.parsed[0]:
        for name, kind in _outline(statement):
            whole = document.places.range(statement.span.start, statement.span.end)
            own = document.places.range(name.span.start, name.span.end)
            listed.append(lsp.DocumentSymbol(name.name, kind, whole, own))
    return listed


def _outline(statement: Statement) -> Iterator[tuple[Any, lsp.SymbolKind]]:
    match statement:
        case Assign(targets):
            yield from ((target, lsp.SymbolKind.Variable) for target in targets)
        case Define(name):
            yield name, lsp.SymbolKind.Function


def uri_of(name: str) -> str:
    """The address of a file by its path; names that are addresses already stay."""
    if "://" in name or name.startswith("untitled:"):
        return name
    return Path(os.path.abspath(name)).as_uri()
