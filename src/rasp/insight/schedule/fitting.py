"""Outputs and an architecture in, whether they fit into it out, or the reason why not.

An architecture is any of: so many layers, so many heads in each, an order of sublayers, an
attention pattern. The first three are decided by scheduling; a pattern by proof where every
selection stays inside it, and else by looking for an input whose answer it changes. The
paper's section 4 discusses both kinds of restriction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rasp.base.atoms import plain_lists, to_python
from rasp.base.errors import RaspError, RaspValueError
from rasp.base.terminal_text import visibly
from rasp.insight.equivalence.result import Difference
from rasp.insight.schedule.demand_verdicts import (
    FitVerdict,
    order_verdict,
    pattern_verdict,
    size_verdict,
)
from rasp.insight.schedule.naming import Naming
from rasp.insight.schedule.problem import refuse_scorers
from rasp.insight.schedule.reasons import input_work
from rasp.insight.schedule.schedule import Outputs, output_nodes, program_of, schedule
from rasp.language.graph import Program


@visibly
@dataclass(frozen=True)
class Fit:
    """Whether a program fits into an architecture; true in a condition where it does.

    >>> import rasp
    >>> found = rasp.fit(rasp.programs.load("reverse"), attention="causal")
    >>> found.fits, found.counterexample.tokens
    (False, ('a', 'b'))
    """

    verdicts: tuple[FitVerdict, ...]
    notes: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        return all(verdict.fits for verdict in self.verdicts)

    @property
    def counterexample(self) -> Difference | None:
        """An input on which a restricted attention changes the answer, if one was found."""
        examples = (verdict.counterexample for verdict in self.verdicts)
        return next((example for example in examples if example is not None), None)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able data.

        >>> import rasp
        >>> rasp.fit(rasp.programs.load("reverse"), layers=1).as_dict()["verdicts"][0]["question"]
        '1 layer'
        """
        return {
            "fits": self.fits,
            "verdicts": [
                {
                    "question": verdict.question,
                    "fits": verdict.fits,
                    "is_proved": verdict.is_proved,
                    "reason": verdict.reason,
                    "counterexample": _counterexample_record(verdict.counterexample),
                }
                for verdict in self.verdicts
            ],
            "notes": list(self.notes),
        }

    def __bool__(self) -> bool:
        return self.fits

    def __str__(self) -> str:
        return "\n".join([*map(str, self.verdicts), *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__


def _counterexample_record(example: Difference | None) -> dict[str, Any] | None:
    if example is None:
        return None
    meant, got = example.left, example.right
    assert isinstance(meant, list)
    return {
        "input": [to_python(token) for token in example.tokens],
        "meant": plain_lists(meant)[0],
        "got": None if isinstance(got, RaspError) else plain_lists(got)[0],
        "error": got.message if isinstance(got, RaspError) else None,
        "is_shortest": example.is_shortest,
    }


def fit(
    outputs: Outputs,
    layers: int | None = None,
    heads: int | None = None,
    order: str | None = None,
    attention: str | None = None,
    alphabet: object = None,
    program: Program | None = None,
) -> Fit:
    """Say whether the outputs fit into an architecture.

    `layers` and `heads` (in each layer) ask for a plain stack, `order` for sublayers such as
    `sfsfff`, `attention` for a pattern such as `window:2`, tested on inputs over `alphabet`.

    >>> from rasp.language.graph import Aggregate, Indices, Select, Tokens
    >>> example = Aggregate(Select(Tokens(), Tokens(), "=="), Indices())
    >>> print(fit(example, layers=1, heads=1))
    1 layer of 1 head: yes
      heads per layer: 1
    """
    nodes = output_nodes(outputs)
    refuse_scorers(nodes)
    _refuse_nonsense(layers, heads, order, attention)
    naming = Naming(nodes, program or program_of(outputs))
    verdicts: list[FitVerdict] = []
    notes: list[str] = []
    if order is not None:
        verdicts.append(order_verdict(naming, order, heads))
    elif layers is not None or heads is not None:
        verdicts.append(size_verdict(naming, layers, heads))
        first = schedule(nodes).input_feed_forward
        notes += [input_work(naming, first, nodes)] if first else []
    if attention is not None:
        verdicts.append(pattern_verdict(naming, attention, alphabet))
    return Fit(tuple(verdicts), tuple(notes))


def _refuse_nonsense(
    layers: int | None, heads: int | None, order: str | None, attention: str | None
) -> None:
    if layers is None and heads is None and order is None and attention is None:
        raise RaspValueError(
            "fit into what? No architecture is given",
            hint="give a number of layers or heads, an order such as `sfsf`, or an attention "
            "pattern such as `causal`",
        )
    if layers is not None and order is not None:
        raise RaspValueError(
            "an order of sublayers says itself how many layers there are",
            hint="give either the layers or the order",
        )
    if any(number is not None and number < 0 for number in (layers, heads)):
        raise RaspValueError(
            "there are no fewer than 0 layers or heads", hint="give a number from 0 on"
        )
