"""A document and a cursor in, the names that can be there out, with their documentation."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from rasp.apps.lsp.document import Document
from rasp.language.syntax import print_expression
from rasp.language.syntax.lexer import Token, lex
from rasp.language.syntax.scopes import Binding, NameScope
from rasp.language.syntax.tree import Define
from rasp.language.words import COMMANDS, KEYWORDS

_OPENING = {")": "(", "]": "[", "}": "{"}


def completions(document: Document, offset: int) -> list[lsp.CompletionItem]:
    """Every word that can be at the cursor and begins as what is written there does."""
    lexed = lex(document.source)
    if any(comment.start < offset <= comment.end for comment in lexed.comments):
        return []
    before = [token for token in lexed.tokens if token.start < offset and token.kind != "end"]
    if before and before[-1].kind in ("string", "number") and offset <= before[-1].end:
        return []
    prefix = ""
    if before and before[-1].kind in ("name", "keyword") and offset <= before[-1].end:
        prefix = document.source.text[before.pop().start : offset]
    items: dict[str, lsp.CompletionItem] = {}
    for item in _items(document, offset, before):
        if item.label.startswith(prefix) and (prefix or not item.label.startswith("_")):
            items.setdefault(item.label, item)
    return list(items.values())


def _items(document: Document, offset: int, before: list[Token]) -> Iterator[lsp.CompletionItem]:
    yield from _parameters(document, offset, before)
    yield from _names(document, offset)
    for word in KEYWORDS:
        yield lsp.CompletionItem(word, kind=lsp.CompletionItemKind.Keyword)
    if not before or before[-1].text in (";", "{", "}"):
        yield _documented("load", lsp.CompletionItemKind.Keyword, 'load "file";: its public names')
        for word, usage in COMMANDS.items():
            yield _documented(word, lsp.CompletionItemKind.Keyword, usage)


def _names(document: Document, offset: int) -> Iterator[lsp.CompletionItem]:
    """Give what is in scope, the innermost first."""
    scope: NameScope | None = document.bindings.scope_at(offset)
    is_own = True
    while scope is not None:
        for variable in scope.variables.values():
            bound = [
                definition
                for definition in variable.root.definitions
                if not is_own or definition.place <= offset
            ]
            if bound:
                yield _item(document, bound[-1])
        is_own, scope = is_own and scope.is_inline, scope.parent


def _item(document: Document, definition: Binding) -> lsp.CompletionItem:
    fact = document.fact(definition)
    detail = fact.get("kind", definition.kind)
    kind = lsp.CompletionItemKind.Variable
    if isinstance(definition.tree, Define):
        kind = lsp.CompletionItemKind.Function
        given = ", ".join(parameter.name for parameter in definition.tree.parameters)
        detail = f"({given})"
    elif "(" in definition.doc and definition.kind == "built in":
        kind = lsp.CompletionItemKind.Function
        detail = definition.doc.partition(":")[0].removeprefix(definition.name)
    lines = [definition.doc] if definition.doc else []
    if fact.get("value"):
        lines.append(f"```text\n{fact['value']}\n```")
    item = _documented(definition.name, kind, "\n\n".join(lines))
    item.detail = str(detail)
    return item


def _parameters(
    document: Document, offset: int, before: list[Token]
) -> Iterator[lsp.CompletionItem]:
    """Give the parameters of the function in whose brackets the cursor is, as `name=`."""
    if not before or before[-1].text not in (",", "("):
        return
    closed: list[str] = []
    for number in range(len(before) - 1, 0, -1):
        text = before[number].text if before[number].kind == "symbol" else ""
        if text in _OPENING:
            closed.append(_OPENING[text])
        elif text in ("(", "[", "{"):
            if not closed:
                callee = before[number - 1]
                break
            closed.pop()
        elif text == ";" and not closed:
            return
    else:
        return
    variable = document.bindings.scope_at(offset).find(callee.text)
    for definition in variable.definitions if variable else []:
        if isinstance(definition.tree, Define):
            for parameter in definition.tree.parameters:
                default = f" = {print_expression(parameter.default)}" if parameter.default else ""
                yield _documented(
                    f"{parameter.name}=", lsp.CompletionItemKind.Property,
                    f"a parameter of `{definition.name}`{default}",
                )  # fmt: skip


def _documented(label: str, kind: lsp.CompletionItemKind, doc: str) -> lsp.CompletionItem:
    documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, doc) if doc else None
    return lsp.CompletionItem(label, kind=kind, documentation=documentation)
