"""A program that has run in, the s-ops and selectors that the page shows out, with their labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rasp.apps.playground.budgets import LIMITS, MOST_NAMES
from rasp.apps.playground.intended_attention import as_written
from rasp.apps.playground.page_records import error_record
from rasp.apps.playground.requests import Ran
from rasp.base.atoms import Atom, kind_name
from rasp.base.errors import RaspError
from rasp.insight.drawing.choice import read_by
from rasp.insight.drawing.glyphs import printable
from rasp.insight.schedule import schedule
from rasp.insight.schedule.naming import Naming, shortened
from rasp.language.evaluator import apply
from rasp.language.graph import Aggregate, Node, Program, Selector, SOp, expression, in_order
from rasp.language.meaning.calls import signature
from rasp.language.meaning.session import Session
from rasp.language.meaning.value_kinds import BuiltIn, Function

Named = list[tuple[str, Node]]
LONGEST_LABEL = 60
LONGEST_WORDS = 200
LONGEST_STEP = 26
"""Letters of an expression that is its own name; a longer one is a numbered step of a name."""
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def name_record(name: str, session: Session) -> dict[str, Any]:
    """A name of the program, the library or the language: what it is, and what it is for."""
    value = session.scope.find(name)
    is_function = isinstance(value, (Function, BuiltIn))
    return {
        "name": name,
        "kind": kind_name(value),
        "detail": signature(value) if is_function else "",
        "doc": session.doc(name),
    }


def named_s_ops(ran: Ran) -> Named:
    """Every s-op that the program names, in order."""
    own = ran.session.names().items()
    return [(name, value) for name, value in own if isinstance(value, SOp)]


def fitting_s_ops(ran: Ran, tokens: tuple[Atom, ...]) -> tuple[Named, list[dict[str, Any]]]:
    """Split the s-ops into those that have a value on the example and the errors of the others."""
    fitting: Named = []
    failed: list[dict[str, Any]] = []
    for name, node in named_s_ops(ran)[:MOST_NAMES]:
        try:
            apply(node, list(tokens), ran.session.program_of(name), LIMITS)
            fitting.append((name, node))
        except RaspError as error:
            failed.append({"name": name} | error_record(error, ran.source))
    return fitting, failed


def joined_program(ran: Ran, named: Named) -> Program:
    """The definitions of several names together."""
    return Program.joined(ran.session.program_of(name) for name, _ in named)


def shown_selectors(ran: Ran, fitting: Named, program: Program) -> Named:
    """The selectors that have a name, then those written inside expressions, as written there."""
    own = ran.session.names().items()
    named: Named = [(name, value) for name, value in own if isinstance(value, Selector)]
    shown = {node for _, node in named}
    inline = dict.fromkeys(
        as_written(node)
        for node in in_order([node for _, node in fitting])
        if isinstance(node, Aggregate)
    )
    labelled = [(selection_label(node, program), node) for node in inline if node not in shown]
    return named + labelled


def makes_of(fitting: Named, program: Program) -> dict[Node, list[str]]:
    """What each selector is used for: the names that its heads lead to."""
    naming = Naming(tuple(node for _, node in fitting), program)
    purposes: dict[Node, dict[str, None]] = {}
    for node in in_order([node for _, node in fitting]):
        if isinstance(node, Aggregate):
            purposes.setdefault(as_written(node), {})[naming.purpose(node)] = None
    return {selector: [printable(name) for name in names] for selector, names in purposes.items()}


def selection_label(selector: Node, program: Program) -> str:
    """A selector's name, or what it selects."""
    name = program.names.get(selector)
    text = name or shortened(expression(selector, program.names, 4), LONGEST_LABEL)
    return printable(text)


def words_of(node: Node, program: Program) -> str:
    """The words of the program that made a node, or what it computes; nothing for an input."""
    if not node.needs:
        return ""
    span = program.origins.get(node)
    text = span.text if span else expression(node, program.names, 4)
    return printable(shortened(" ".join(text.split()), LONGEST_WORDS))


def with_steps_named(program: Program, outputs: Sequence[Node]) -> Program:
    """Name what heads read and make on the way to a name: `hist₁` and `hist₂` lead to `hist`.

    So a picture says everything in the program's words, and no name is nobody's.

    >>> import rasp
    >>> hist = rasp.run("hist = selector_width(select(tokens, tokens, ==));")["hist"]
    >>> named = with_steps_named(hist.program, [hist.node]).names
    >>> sorted(set(named.values()) - set(hist.program.names.values()))
    ['hist₁', 'hist₂']
    """
    naming = Naming(tuple(outputs), program)
    names, taken = dict(program.names), set(program.names.values())
    numbers: dict[str, int] = {}
    for node in _steps(outputs):
        if node in names or not node.needs:
            continue
        if len(expression(node, names, 4)) <= LONGEST_STEP and not isinstance(node, Aggregate):
            continue
        names[node] = _step_name(naming.purpose(node), numbers, taken)
    steps = {node: name for node, name in names.items() if node not in program.names}
    return Program.joined([program, Program.named(steps)]) if steps else program


def _steps(outputs: Sequence[Node]) -> Iterator[Node]:
    """What the heads of each layer read, then what they make."""
    for layer in schedule(outputs).layer_list:
        for head in layer.heads:
            yield from read_by(head.selector)
            yield from (aggregate.values for aggregate in head.aggregates)
        for head in layer.heads:
            yield from (node for node in head.aggregates if node not in outputs)


def _step_name(purpose: str, numbers: dict[str, int], taken: set[str]) -> str:
    """The next number of a name that nobody has."""
    whole = shortened(purpose.removeprefix("a step of "), LONGEST_STEP)
    while True:
        numbers[whole] = numbers.get(whole, 0) + 1
        name = f"{whole}{str(numbers[whole]).translate(SUBSCRIPTS)}"
        if name not in taken:
            taken.add(name)
            return name
