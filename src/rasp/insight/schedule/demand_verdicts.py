"""Outputs and one demand on the architecture in, a verdict out: yes or no, and why."""

from __future__ import annotations

from dataclasses import dataclass

from rasp.base.atoms import Atom, show_input
from rasp.base.input_text import read_alphabet
from rasp.base.terminal_text import visibly
from rasp.insight.equivalence.answering import show_alphabet
from rasp.insight.equivalence.result import Difference
from rasp.insight.equivalence.suitable_inputs import suitable_alphabets
from rasp.insight.schedule.counterexample import (
    cannot_be_computed,
    look_for_counterexample,
    what_was_tried,
)
from rasp.insight.schedule.naming import Naming
from rasp.insight.schedule.patterns import Pattern, stays_within
from rasp.insight.schedule.placing import place
from rasp.insight.schedule.problem import heads_per_slot, problem_of
from rasp.insight.schedule.reasons import chain_lines, count, why_so_deep, why_so_wide
from rasp.insight.schedule.schedule import front, schedule, show_counts
from rasp.insight.schedule.sublayer_order import Order, earliest_layers, earliest_times
from rasp.language.graph import Elementwise, Node, in_order
from rasp.language.meaning.shown_values import show_answer


@visibly
@dataclass(frozen=True)
class FitVerdict:
    """The answer to one question."""

    question: str
    fits: bool
    reason: str
    is_proved: bool = True
    """False where the answer rests on inputs tested, or on a search that was cut short."""
    counterexample: Difference | None = None
    """Where a pattern changes the answers: on the left what each output gives without it."""

    def __str__(self) -> str:
        lines = [f"{self.question}: {'yes' if self.fits else 'no'}", *self.reason.splitlines()]
        return "\n  ".join(lines)

    __repr__ = __str__


def size_verdict(naming: Naming, layers: int | None, heads: int | None) -> FitVerdict:
    """Say whether the outputs fit into so many layers of so many heads."""
    outputs = naming.outputs
    question = _size_question(layers, heads)
    least = max(earliest_layers(outputs).values())
    if layers is not None and layers < least:
        return FitVerdict(question, False, "\n".join(
            [f"{_needed(least, 'layer')}: {why_so_deep(naming, outputs)[0]}",
             *why_so_deep(naming, outputs)[1:]]))  # fmt: skip
    if heads is None:
        return FitVerdict(question, True, _heads_line(schedule(outputs).heads_per_layer))
    if heads == 0 and least:
        return FitVerdict(question, False, "\n".join(why_so_deep(naming, outputs)))
    if layers is None:
        deep_enough = next(placed for placed in front(outputs) if placed.width <= heads)
        told = f"in {count(deep_enough.layers, 'layer')}: "
        return FitVerdict(question, True, told + _heads_line(deep_enough.heads_per_layer))
    return _width_verdict(naming, question, Order.layered(layers), heads, "layer")


def order_verdict(naming: Naming, text: str, heads: int | None) -> FitVerdict:
    """Say whether the outputs can be computed by sublayers in this order."""
    order = Order.read(text)
    of_heads = "" if heads is None else f", {count(heads, 'head')} in each `s`"
    question = f"order {text}{of_heads}"
    times = earliest_times(naming.outputs, order)
    for node in in_order(naming.outputs):
        if times[node] > order.end:
            return FitVerdict(question, False, _misfit(naming, order, times, node))
    most = len(times) if heads is None else heads
    return _width_verdict(naming, question, order, most, "`s`")


def _width_verdict(
    naming: Naming, question: str, order: Order, heads: int, slot_word: str
) -> FitVerdict:
    """Place everything in an order that is long enough, and look at the width."""
    placed = place(problem_of(naming.outputs, order))
    counts = heads_per_slot(placed.problem, placed.placement)
    width = max(counts, default=0)
    if width <= heads:
        return FitVerdict(question, True, _heads_line(counts, slot_word))
    reason = [f"{_needed(width, 'head')} in one {slot_word}"]
    reason += [] if placed.exact else [f"({placed.remark})"]
    reason += why_so_wide(naming, placed.problem, width, placed.exact)
    return FitVerdict(question, False, "\n".join(reason), is_proved=placed.exact)


def _size_question(layers: int | None, heads: int | None) -> str:
    if layers is None:
        return f"layers of {count(heads or 0, 'head')}"
    return count(layers, "layer") + ("" if heads is None else f" of {count(heads, 'head')}")


def _needed(number: int, thing: str) -> str:
    return f"{count(number, thing)} {'is' if number == 1 else 'are'} needed"


def _heads_line(counts: tuple[int, ...], slot_word: str = "layer") -> str:
    if not counts:
        return "no attention is needed"
    return f"heads per {slot_word}: {show_counts(counts)}"


def _misfit(naming: Naming, order: Order, times: dict[Node, int], node: Node) -> str:
    """Say why a node has no place in an order."""
    name, line = naming.quoted(node), naming.line(node)
    place = f"{name} ({line})" if line else name
    if not isinstance(node, Elementwise):
        start = f"{place} comes out of `s` number {times[node] // 2} at the earliest, and there "
        start += f"{'is' if order.slots == 1 else 'are'} {order.slots}. By `s`:"
        return "\n".join([start, *chain_lines(naming, times, [node])])
    ready = max(times[needed] for needed in node.needs) // 2
    if ready == 0:
        return f"{place} needs work on tokens and indices together, which takes an `f`"
    return (
        f"{place} needs elementwise work on what `s` number {ready} makes, "
        "and no `f` comes after that"
    )


def pattern_verdict(naming: Naming, text: str, alphabet: object) -> FitVerdict:
    """Say whether a restricted attention leaves every answer as it is."""
    pattern = Pattern.read(text)
    outputs, question = naming.outputs, f"attention {pattern}"
    free = pattern.unrestricted_length()
    if free is None:
        return FitVerdict(question, True, "this pattern allows every pair")
    if stays_within(pattern, outputs):
        return FitVerdict(question, True, "every selection stays inside the pattern, at any length")
    alphabets = suitable_alphabets(outputs) if alphabet is None else [read_alphabet(alphabet)]
    searches = []
    for tokens in alphabets:
        search = look_for_counterexample(outputs, pattern, free, tokens)
        searches.append(search)
        if search.difference is not None:
            reason = _told(search.difference, tokens, naming)
            return FitVerdict(question, False, reason, True, search.difference)
    telling = [search for search in searches if search.failing < search.tested + search.at_random]
    if not telling:
        raise cannot_be_computed(searches[0])
    reason = "\n".join(f"no answer changes {what_was_tried(search)}" for search in telling)
    return FitVerdict(question, True, reason, is_proved=False)


def _told(example: Difference, alphabet: tuple[Atom, ...], naming: Naming) -> str:
    given, meant, answer = show_input(example.tokens), example.left, example.right
    assert isinstance(meant, list)
    lines = []
    for number, output in enumerate(naming.outputs):
        if isinstance(answer, list) and answer[number] == meant[number]:
            continue
        name = naming.label(output, 30)
        lines.append(f"{name}({given}) = {show_answer(meant[number])}")
        if isinstance(answer, list):
            lines.append(f"under the pattern it gives {show_answer(answer[number])}")
        else:
            lines.append(f"under the pattern it {show_answer(answer)}")
    how = "no shorter input over" if example.is_shortest else "no shorter input was found over"
    shows = " shows a difference" if example.is_shortest else ""
    return "\n".join([*lines, f"({how} {show_alphabet(alphabet)}{shows})"])
