"""A statement that failed in, the names in it that nobody defined out.

Running ends at the first mistake of a statement; a misspelt name further on is told all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rasp.language.meaning.value_kinds import MISSING, Scope
from rasp.language.syntax import tree


def missing_names(statement: tree.Statement, scope: Scope) -> Iterator[tree.Name]:
    """Give each name of a statement that is not defined, once; a function's body is not read."""
    match statement:
        case tree.Assign(_, value) | tree.Evaluate(value):
            own: set[str] = set()
            parts: list[tree.Expression] = [value]
        case tree.For(_, source):
            own = {name.name for name, _ in tree.bound_by(statement)}
            parts = [source]
        case _:
            return
    for name in _names(parts, own):
        if scope.find(name.name) is MISSING and name.name not in own:
            own.add(name.name)
            yield name


def missing_in_functions(statements: Iterable[tree.Statement], scope: Scope) -> Iterator[tree.Name]:
    """Give the names in functions, called or not, that are defined neither there nor outside."""
    for statement in statements:
        for node in tree.walk(statement):
            if isinstance(node, tree.Define):
                own = {name for inner in tree.walk(statement) for name in _bound_in(inner)}
                for name in _names(list(node.body), own):
                    if name.name not in own and scope.find(name.name) is MISSING:
                        yield name


def _bound_in(part: tree.Tree) -> Iterator[str]:
    """The names that a part of a function binds itself, in whatever scope of it."""
    if isinstance(part, tree.Define):
        yield from (parameter.name for parameter in part.parameters)
    if isinstance(part, tree.Comprehension):
        yield from (target.name for target in part.targets)
    if isinstance(part, tree.Statement):
        yield from (name.name for name, _ in tree.bound_by(part))


def _names(parts: Sequence[tree.Tree], own: set[str]) -> Iterator[tree.Name]:
    """The names in expressions, in order; those that a comprehension binds become one's own."""
    waiting: list[tree.Tree] = list(reversed(parts))
    while waiting:
        part = waiting.pop()
        if isinstance(part, tree.Comprehension):
            own.update(target.name for target in part.targets)
        if isinstance(part, tree.Name):
            yield part
        waiting.extend(reversed(list(tree.parts_of(part))))
