"""A statement that failed in, the names in it that nobody defined out.

Running ends at the first mistake of a statement; a misspelt name further on is told all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rasp.frontend.values import MISSING, Scope
from rasp.syntax.tree import (
    Assign,
    Comprehension,
    Define,
    Evaluate,
    Expression,
    For,
    Name,
    Statement,
    Tree,
    bound_by,
    parts_of,
    walk,
)


def missing_names(statement: Statement, scope: Scope) -> Iterator[Name]:
    """Give each name of a statement that is not defined, once; a function's body is not read."""
    match statement:
        case Assign(_, value) | Evaluate(value):
            own: set[str] = set()
            trees: list[Expression] = [value]
        case For(_, source):
            own = {name.name for name, _ in bound_by(statement)}
            trees = [source]
        case _:
            return
    for name in _names(trees, own):
        if scope.find(name.name) is MISSING and name.name not in own:
            own.add(name.name)
            yield name


def missing_in_functions(statements: Iterable[Statement], scope: Scope) -> Iterator[Name]:
    """Give the names in functions, called or not, that are defined neither there nor outside."""
    for statement in statements:
        for node in walk(statement):
            if isinstance(node, Define):
                own = {name for part in walk(statement) for name in _bound_in(part)}
                for name in _names(list(node.body), own):
                    if name.name not in own and scope.find(name.name) is MISSING:
                        yield name


def _bound_in(tree: Tree) -> Iterator[str]:
    """The names that a part of a function binds itself, in whatever scope of it."""
    if isinstance(tree, Define):
        yield from (parameter.name for parameter in tree.parameters)
    if isinstance(tree, Comprehension):
        yield from (target.name for target in tree.targets)
    if isinstance(tree, Statement):
        yield from (name.name for name, _ in bound_by(tree))


def _names(trees: Sequence[Tree], own: set[str]) -> Iterator[Name]:
    """The names in expressions, in order; those that a comprehension binds become one's own."""
    waiting: list[Tree] = list(reversed(trees))
    while waiting:
        tree = waiting.pop()
        if isinstance(tree, Comprehension):
            own.update(target.name for target in tree.targets)
        if isinstance(tree, Name):
            yield tree
        waiting.extend(reversed(list(parts_of(tree))))
