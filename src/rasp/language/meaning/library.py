"""`library.rasp` in, its names, their documentation and their definition out, once for all."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache

from rasp.base.limits import DEFAULT_LIMITS
from rasp.base.source import Source, Span
from rasp.language.graph import Node
from rasp.language.graph.origins import Definition
from rasp.language.meaning.builtins import language_scope
from rasp.language.meaning.elaborate import Elaborator
from rasp.language.meaning.value_kinds import Function, Scope
from rasp.language.syntax import parse, tree

LIBRARY = "library.rasp"


@cache
def read_library() -> tuple[tree.Statement, ...]:
    """Read the library's text."""
    path = os.path.join(os.path.dirname(__file__), LIBRARY)
    with open(path, encoding="utf-8") as file:
        return parse(Source(LIBRARY, file.read()))


@cache
def library_places() -> dict[str, Span]:
    """Where each name of the library is defined.

    >>> library_places()["length"].text
    'length = round(1 / aggregate(full_s, indicator(indices == 0)));'
    """
    statements = read_library()
    return {name: statement.span for statement in statements for name in bound_names(statement)}


@cache
def run_library() -> tuple[Scope, dict[str, str], Definition]:
    """Run the library once; every session shares it, and none can change it."""

    def no_loads(statement: tree.Load, scope: Scope) -> None:
        raise AssertionError("the library loads nothing")

    elaborator = Elaborator(DEFAULT_LIMITS, no_loads)
    scope = Scope(language_scope(), is_given=True)
    docs: dict[str, str] = {}
    doc = ""
    for statement in read_library():
        elaborator.statement(statement, scope)
        if isinstance(statement, tree.Remark):
            doc = statement.text.lstrip("# ")
        else:
            docs.update(dict.fromkeys(bound_names(statement), doc))
    named: dict[str, Node] = {}
    for name, value in scope.names.items():
        if isinstance(value, Function):
            scope.names[name] = replace(value, is_library=True)
        elif isinstance(value, Node):
            named[name] = value
    return scope, docs, Definition(names=named, is_library=True)


def bound_names(statement: tree.Statement) -> tuple[str, ...]:
    """The names that a definition binds."""
    if isinstance(statement, tree.Assign):
        return tuple(target.name for target in statement.targets)
    if isinstance(statement, tree.Define):
        return (statement.name.name,)
    return ()
