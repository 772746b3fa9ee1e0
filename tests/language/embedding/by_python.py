"""A program text in, the same program built with Python's operators out.

The tree is walked with handles, and every step on an s-op or selector is the Python expression
that a person would write: `a + b`, `rasp.where(c, x, y)`, `rasp.lib.sort(tokens, tokens)`. So
the text's own elaboration and the embedding can be compared node by node.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pkgutil import resolve_name
from typing import Any

import rasp
from rasp.base.source import Source
from rasp.language.embedding.handles import Handle
from rasp.language.evaluator import apply
from rasp.language.graph import apply_operator
from rasp.language.operators import COMPARISONS, written
from rasp.language.syntax import parse, tree

COMPILE_TIME = {
    "range": lambda *ints: list(range(*ints)),
    "zip": lambda *lists: [list(items) for items in zip(*lists, strict=True)],
    "len": len,
}


def functions(how: str) -> dict[str, Callable[..., Any]]:
    """The Python functions that build the operators written so."""
    return {row.text: resolve_name(row.python) for row in written(how)}


INFIX, UNARY, CALLS = map(functions, ("infix", "prefix", "call"))

Names = dict[str, Any]


class Returned(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


def built_by_python(text: str) -> Names:
    """Run a program text with Python's operators; return what its names are bound to."""
    names: Names = {}
    for statement in parse(Source("<text>", text)):
        execute(statement, [names])
    return names


def execute(statement: tree.Statement, scopes: list[Names]) -> None:
    match statement:
        case tree.Assign(targets, value):
            assign(targets, evaluate(value, scopes), scopes)
        case tree.Return(value):
            raise Returned(evaluate(value, scopes))
        case tree.Define(name, parameters, body):
            scopes[-1][name.name] = function(parameters, body, list(scopes))
        case tree.For(targets, source, body):
            for item in evaluate(source, scopes):
                assign(targets, item, scopes)
                for inner in body:
                    execute(inner, scopes)
        case tree.Load():
            raise NotImplementedError("a program that loads another")


def assign(targets: tuple[tree.Name, ...], value: Any, scopes: list[Names]) -> None:
    if len(targets) == 1:
        scopes[-1][targets[0].name] = value
    else:
        for target, item in zip(targets, value, strict=True):
            scopes[-1][target.name] = item


def function(parameters: Any, body: Any, scopes: list[Names]) -> Callable[..., Any]:
    defaults = {each.name: evaluate(each.default, scopes) for each in parameters if each.default}

    def called(*arguments: Any, **keywords: Any) -> Any:
        given = dict(zip((each.name for each in parameters), arguments, strict=False))
        inner = [*scopes, defaults | given | keywords]
        try:
            for statement in body:
                execute(statement, inner)
        except Returned as returned:
            return returned.value
        return None

    return called


def evaluate(expression: tree.Expression, scopes: list[Names]) -> Any:
    match expression:
        case tree.Literal(value):
            return value
        case tree.Name(name):
            return look_up(name, scopes)
        case tree.Bracketed(inner):
            return evaluate(inner, scopes)
        case tree.Sign(op):
            return op
        case tree.Unary(op, operand):
            value = evaluate(operand, scopes)
            if isinstance(value, Handle):
                return UNARY[op](value)
            return not value if op == "not" else UNARY[op](value)
        case tree.Binary(op, left, right):
            return binary(op, evaluate(left, scopes), evaluate(right, scopes))
        case tree.Ternary(condition, then, otherwise):
            chosen = evaluate(condition, scopes)
            if isinstance(chosen, Handle):
                return rasp.where(chosen, evaluate(then, scopes), evaluate(otherwise, scopes))
            return evaluate(then if chosen else otherwise, scopes)
        case tree.Index(base, position):
            return index(evaluate(base, scopes), evaluate(position, scopes))
        case tree.ListDisplay(items):
            return [evaluate(item, scopes) for item in items]
        case tree.DictDisplay(pairs):
            return {evaluate(key, scopes): evaluate(item, scopes) for key, item in pairs}
        case tree.Comprehension():
            return comprehension(expression, scopes)
        case tree.Call(called, arguments):
            return call(evaluate(called, scopes), arguments, scopes)
    raise AssertionError(type(expression).__name__)


def look_up(name: str, scopes: list[Names]) -> Any:
    for scope in reversed(scopes):
        if name in scope:
            return scope[name]
    if name in COMPILE_TIME:
        return COMPILE_TIME[name]
    if name in CALLS:
        return partial(apply_call, name)
    if name == "tokens_asis":
        return rasp.tokens
    return getattr(rasp.lib if hasattr(rasp.lib, name) else rasp, name)


def apply_call(name: str, *operands: Any) -> Any:
    if any(isinstance(operand, Handle) for operand in operands):
        return CALLS[name](*operands)
    return apply_operator(name, operands)


def binary(op: str, left: Any, right: Any) -> Any:
    if op == "not in":
        held = binary("in", left, right)
        return ~held if isinstance(held, Handle) else not held
    if op == "in":
        if isinstance(right, Handle):
            return rasp.contains(right, left)
        return left.is_in(right) if isinstance(left, Handle) else left in right
    if not isinstance(left, Handle) and not isinstance(right, Handle):
        if op in ("and", "or"):
            return (left and right) if op == "and" else (left or right)
        if isinstance(left, list) or isinstance(right, list):
            return INFIX[op](left, right)
        return apply_operator(op, (left, right))
    if not isinstance(left, Handle) and op in COMPARISONS:
        left = rasp.constant(left)
    if op in ("and", "or"):
        left, right = (rasp.constant(side) if isinstance(side, (int, str)) else side
                       for side in (left, right))  # fmt: skip
    return INFIX[op](left, right)


def index(base: Any, position: Any) -> Any:
    if isinstance(position, Handle):
        return rasp.table(base)[position]
    return base[position]


def comprehension(expression: tree.Comprehension, scopes: list[Names]) -> Any:
    pairs = []
    for item in evaluate(expression.source, scopes):
        inner = [*scopes, {}]
        assign(expression.targets, item, inner)
        key = evaluate(expression.key, inner) if expression.key else None
        pairs.append((key, evaluate(expression.item, inner)))
    return dict(pairs) if expression.key else [value for _, value in pairs]


def call(called: Any, arguments: tuple[tree.Argument, ...], scopes: list[Names]) -> Any:
    values = [(each.keyword, evaluate(each.value, scopes)) for each in arguments]
    positional = [value for keyword, value in values if keyword is None]
    keywords = {keyword: value for keyword, value in values if keyword}
    if isinstance(called, Handle):
        return apply(called.node, positional[0])
    return called(*positional, **keywords)
