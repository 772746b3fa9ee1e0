"""A case that fails in, the smallest one found that fails in the same way out.

One step takes a statement, an item or an input away, puts a part in the place of the whole, or
a simple thing in the place of a part. Steps are taken as long as the failure stays.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from rasp.apps.fuzzing.cases import Case
from rasp.apps.fuzzing.judges import Judge, Judgement, verdict
from rasp.apps.fuzzing.trees import literal, name
from rasp.base.atoms import Atom
from rasp.language.syntax.tree import Argument, Expression, Literal, Name, Parameter, Sign, Tree

SIMPLE: tuple[Expression, ...] = (literal(0), literal(1), name("indices"), name("tokens"))
SIMPLE_KINDS = (Name, Literal)
SECONDS = 20.0
"""How long a case is made smaller."""


def shrink(case: Case, judge: Judge) -> tuple[Case, Judgement]:
    """Make a failing case smaller until nothing can be taken away or the time is over."""
    until = time.monotonic() + SECONDS
    told = verdict(judge, case)
    signature = told.signature
    while True:
        for candidate in smaller_cases(case):
            if time.monotonic() > until:
                return case, told
            judgement = verdict(judge, candidate, seconds=5.0)
            if judgement.is_failure and judgement.signature == signature:
                case, told = candidate, judgement
                break
        else:
            return case, told


def smaller_cases(case: Case) -> Iterator[Case]:
    """Every case that is one step smaller, large steps first."""
    for statements in _without(case.statements):
        yield replace(case, statements=statements)
    for inputs in _without(case.inputs):
        if inputs:
            yield replace(case, inputs=inputs)
    for statements in _smaller_items(case.statements):
        yield replace(case, statements=statements)
    for at, tokens in enumerate(case.inputs):
        for fewer in (*_without(tokens), *_simpler_tokens(tokens)):
            if fewer:
                yield replace(case, inputs=(*case.inputs[:at], fewer, *case.inputs[at + 1 :]))


def _without(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The items without a stretch of them: halves, quarters, … one."""
    size = len(items)
    length = max(size // 2, 1)
    while items:
        for start in range(0, size, length):
            yield items[:start] + items[start + length :]
        if length == 1:
            return
        length //= 2


def _smaller_items(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for at, item in enumerate(items):
        for smaller in _smaller(item):
            yield (*items[:at], smaller, *items[at + 1 :])


def _smaller(part: Any) -> Iterator[Any]:
    """Everything that can replace a part and is smaller."""
    if isinstance(part, tuple):  # a pair of a dict
        yield from _smaller_items(part)
    if not isinstance(part, Tree):
        return
    if isinstance(part, Expression) and not isinstance(part, SIMPLE_KINDS):
        yield from SIMPLE
        yield from _expressions_in(part)
    if isinstance(part, Literal):
        yield from _simpler_literals(part)
    for field in fields(part):
        value = getattr(part, field.name)
        if field.name == "span":
            continue
        for smaller in _smaller_values(field.name, value):
            yield replace(part, **{field.name: smaller})


def _smaller_values(field: str, value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        if field not in ("targets", "words"):
            yield from _without(value)
            yield from _smaller_items(value)
    elif isinstance(value, Tree):
        yield from _smaller(value)
    if value is not None and field in ("default", "keyword", "trailing", "key", "argument"):
        yield None


def _expressions_in(part: Any) -> Iterator[Expression]:
    """The expressions directly inside a part."""
    values = (
        part if isinstance(part, tuple) else [getattr(part, field.name) for field in fields(part)]
    )
    for value in values:
        if isinstance(value, (Argument, Parameter, tuple)):
            yield from _expressions_in(value)
        elif isinstance(value, Expression) and not isinstance(value, Sign):
            yield value  # a bare sign can only be an argument


def _simpler_literals(part: Literal) -> Iterator[Expression]:
    value = part.value
    candidates: list[Atom] = []
    if isinstance(value, str):
        candidates = ["", "a", value[: len(value) // 2]]
    elif not isinstance(value, bool):
        candidates = [0, 1, int(value) // 2]
    for simpler in candidates:
        if _weight(simpler) < _weight(value):
            yield literal(simpler)


def _simpler_tokens(tokens: tuple[Atom, ...]) -> Iterator[tuple[Atom, ...]]:
    """The tokens with one of them, or all, made simpler."""
    for at, token in enumerate(tokens):
        simple: Atom = "a" if isinstance(token, str) else 0
        if _weight(simple) < _weight(token):
            yield (*tokens[:at], simple, *tokens[at + 1 :])


def _weight(atom: Atom) -> tuple[int, int]:
    if isinstance(atom, str):
        return len(atom), sum(map(ord, atom))
    return isinstance(atom, Fraction), abs(int(atom))
