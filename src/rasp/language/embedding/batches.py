"""Handles and many inputs in, plain Python lists out: `rasp.evaluate` and `rasp.explain_plan`."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rasp.base.errors import RaspTypeError
from rasp.base.limits import DEFAULT_LIMITS, tightest
from rasp.language.embedding.handles import Handle
from rasp.language.evaluator import evaluate_chunks
from rasp.language.evaluator import explain_plan as explain_nodes
from rasp.language.graph import Node, Program


def evaluate(program: Handle | Mapping[str, Any], inputs: Iterable[Any]) -> list[Any]:
    """Apply a handle, or every handle of a program, to many inputs of any lengths in one pass.

    A handle gives one list for each input; a mapping of names (what `rasp.run` returns, or a
    dict of handles) gives one dict for each input, and its outputs share their work.

    >>> import rasp
    >>> names = rasp.run("hist = histf(tokens); first = not has_prev(tokens);")
    >>> evaluate(names["hist"], ["hello", "aa"])
    [[1, 1, 2, 2, 1], [2, 2]]
    >>> evaluate(names, ["aa"])
    [{'hist': [2, 2], 'first': [True, False]}]
    """
    handles = handles_of(program)
    nodes, definitions = _joined(handles)
    limits = tightest(handle.limits for handle in handles.values()) or DEFAULT_LIMITS
    with _no_collection():
        chunks = evaluate_chunks(nodes, _inputs(inputs), definitions, limits, as_python=True)
        if isinstance(program, Handle):
            return [values for chunk in chunks for values in chunk[program.node]]
        return [
            dict(zip(handles, values, strict=True))
            for chunk in chunks
            for values in zip(*(chunk[node] for node in nodes), strict=True)
        ]


def _joined(handles: Mapping[str, Handle]) -> tuple[list[Node], Program]:
    """What several handles compute, and what is known of it."""
    program = Program.joined(handle.program for handle in handles.values())
    return [handle.node for handle in handles.values()], program


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the search for cycles: it would visit every list made so far, again and again."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


class PlanText(str):
    """A plan in words, which Python's prompt shows as it is."""

    __repr__ = str.__str__


def explain_plan(program: Handle | Mapping[str, Any]) -> str:
    """Say how each aggregate is computed on long inputs, and what that costs.

    >>> import rasp
    >>> print(explain_plan(rasp.run("hist = histf(tokens, assume_bos=True);")["hist"]))
    aggregate(select(tokens, tokens, ==) or select(indices, 0, ==), indicator(indices == 0))
      groups          all keys; keys where indices == 0
      groups          tokens == tokens; keys where indices != 0
    <BLANKLINE>
    groups: equal keys and queries meet in a group, and each group is summed once
    time O(n) but for numbering what occurs, memory O(n)
    """
    return PlanText(explain_nodes(*_joined(handles_of(program))))


def handles_of(program: Handle | Mapping[str, Any]) -> dict[str, Handle]:
    """Return the s-ops, selectors and scorers among the names of a program."""
    if isinstance(program, Handle):
        return {"": program}
    if not isinstance(program, Mapping):
        raise RaspTypeError(
            "what is evaluated is a handle, or the names of a program",
            hint='give `names["hist"]`, or all that `rasp.run` returned',
        )
    return {name: value for name, value in program.items() if isinstance(value, Handle)}


def _inputs(inputs: Iterable[Any]) -> list[Any]:
    if isinstance(inputs, str):
        raise RaspTypeError(
            "many inputs are a list of inputs, but this is one string",
            hint='write `["hello"]` for one input, or call the handle itself: `hist("hello")`',
        )
    return list(inputs)
