"""A module's text in, its mutants out: small changes, each of which a test should notice.

Comparisons, arithmetic, `and`/`or`, `min`/`max` and constants give way to their neighbours,
conditions are negated, statements removed, results replaced by None. Left alone are texts of
messages, types, default arguments, `assert`, and what is in a class outside its methods.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import CodeType
from typing import Any

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt,
    ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift, ast.USub: ast.UAdd,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
LEFT_ALONE = {"annotation", "returns", "decorator_list", "defaults", "kw_defaults", "bases"}
BLOCKS = ("body", "orelse", "finalbody")
SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Raise, ast.Break, ast.Continue, ast.Delete)


@dataclass(frozen=True)
class Mutant:
    """One change in a function, or (where `function` is empty) in a statement of the module."""

    key: str
    """What is changed, whatever its line."""
    function: str
    line: int
    code: CodeType
    """The whole module, changed."""
    names: tuple[str, ...] = ()
    """What the changed statement of the module assigns."""
    digest: str = ""
    """What tells it apart for as long as its function's text stays what it is."""


@dataclass(frozen=True)
class Place:
    """A field (or an item of a list) of the tree, and what to put there."""

    shown: ast.AST
    holder: Any
    field: Any
    new: Any


def mutants(text: str, path: str = "module") -> Iterator[Mutant]:
    """Give every mutant of a module.

    >>> for mutant in mutants("def f(a): return a + 1"):
    ...     print(mutant.key)
    f: `return a + 1` becomes `return None`
    f: `a + 1` becomes `a - 1`
    f: `a + 1` becomes `a + 2`
    """
    tree = ast.parse(text, path)
    seen: Counter[str] = Counter()
    for function, names, part in _parts(tree):
        whole = ast.unparse(part)
        for place in _places(part, part):
            before, line = _text(place.shown), _line(place)
            old = _put(place, place.new)
            after = _text(place.shown) if place.shown is not old else _text(place.new)
            code = compile(ast.fix_missing_locations(tree), path, "exec")
            _put(place, old)
            key = f"{function or 'module'}: `{before}` becomes `{after}`"
            seen[key] += 1
            key += f" ({seen[key]})" if seen[key] > 1 else ""
            told = "\n".join((Path(path).name, whole, key))
            digest = sha256(told.encode()).hexdigest()[:8]
            yield Mutant(key, function, line, code, names, digest)


def _parts(tree: ast.Module) -> Iterator[tuple[str, tuple[str, ...], ast.AST]]:
    """Give functions and methods by name, and the module's own assignments."""
    for statement in tree.body:
        match statement:
            case ast.FunctionDef():
                yield statement.name, (), statement
            case ast.ClassDef():
                for inner in statement.body:
                    if isinstance(inner, ast.FunctionDef):
                        yield f"{statement.name}.{inner.name}", (), inner
            case ast.Assign() | ast.AnnAssign() if "TypeAlias" not in ast.dump(statement):
                names = [each.id for each in ast.walk(statement) if isinstance(each, ast.Name)
                         and isinstance(each.ctx, ast.Store)]  # fmt: skip
                yield "", tuple(names), statement


def _places(node: ast.AST, parent: ast.AST) -> Iterator[Place]:
    if isinstance(node, (ast.JoinedStr, ast.Assert)) or _is_impossible(node):
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":  # as good as an `assert`
        return
    yield from _changes(node, parent if isinstance(parent, (ast.expr, ast.Slice)) else node)
    for field, value in ast.iter_fields(node):
        if field in LEFT_ALONE:
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield from _places(each, node)


def _is_impossible(node: ast.AST) -> bool:
    """Tell what is raised only where the reader is told that it cannot happen."""
    return isinstance(node, ast.Raise) and "AssertionError" in ast.dump(node)


def _changes(node: ast.AST, shown: ast.AST) -> Iterator[Place]:
    match node:
        case ast.Compare():
            for at, op in enumerate(node.ops):
                yield Place(node, node.ops, at, SWAPS[type(op)]())
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign() if type(node.op) in SWAPS:
            yield Place(node, node, "op", SWAPS[type(node.op)]())
        case ast.UnaryOp(op=ast.USub()):
            yield Place(node, node, "op", ast.UAdd())
        case ast.UnaryOp(op=(ast.Not() | ast.Invert()) as op, operand=operand):
            yield Place(node, node, "operand", ast.UnaryOp(op, operand))
        case ast.Constant(value=bool(value)):
            yield Place(shown, node, "value", not value)
        case ast.Constant(value=int(value)):
            yield Place(shown, node, "value", value + 1)
        case ast.Call(func=ast.Name(id=name) as function) if name in NAMES:
            yield Place(node, function, "id", NAMES[name])
        case ast.If() | ast.While() | ast.IfExp():
            yield Place(node.test, node, "test", _negated(node.test))
        case ast.match_case(guard=ast.expr() as guard):
            yield Place(guard, node, "guard", _negated(guard))
        case ast.comprehension():
            for at, test in enumerate(node.ifs):
                yield Place(test, node.ifs, at, _negated(test))
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield Place(node, node, "value", ast.Constant(None))
    for block in BLOCKS:
        statements = getattr(node, block, None)
        for at, statement in enumerate(statements if isinstance(statements, list) else []):
            is_call = isinstance(statement, ast.Expr) and not isinstance(
                statement.value, ast.Constant
            )
            if (is_call or isinstance(statement, SIMPLE)) and not _is_impossible(statement):
                yield Place(statement, statements, at, ast.Pass())


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _put(place: Place, value: Any) -> Any:
    """Put a value in its place and return what was there."""
    if isinstance(place.holder, list):
        old, place.holder[place.field] = place.holder[place.field], value
    else:
        old = getattr(place.holder, place.field)
        setattr(place.holder, place.field, value)
    return old


def _line(place: Place) -> int:
    return getattr(place.shown, "lineno", 0)


def _text(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 120 else text[:117] + "..."
