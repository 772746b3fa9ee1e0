"""A compiled model and the example in, what happens inside the model out, beside the program.

Every s-op that the model holds has two rows: what the program gives, and what is read from the
residual stream. The attention of each head is beside the selection that it comes closest to.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rasp.apps.playground.budgets import LIMITS
from rasp.apps.playground.requests import read_example
from rasp.apps.playground.weights import Compiled, compiled, read_asked
from rasp.base.atoms import Atom, from_python
from rasp.insight.drawing.glyphs import in_cell, in_title
from rasp.language.embedding.handles import Handle
from rasp.language.evaluator import Values, evaluate_plain
from rasp.language.graph import Selector, SOp, expression, in_order

if TYPE_CHECKING:
    from rasp.models.compiler.model.transformer import Trace

MOST_HEADS = 24
MOST_NUMBERS = 60_000
"""Numbers of the residual stream that one answer holds."""
CLOSE = 0.01
Rows = list[list[float]]


def model_run(request: dict[str, Any]) -> dict[str, Any]:
    """Run the example through the model that the form asks for."""
    subject = compiled(read_asked(request))
    handle, model = subject.handle, subject.model
    tokens = read_example(request.get("example"))
    trace = model.trace(list(tokens))
    values = evaluate_plain(in_order([handle.node]), tokens, LIMITS)
    sink = ["sink"] if model.uses_sink else []
    return {
        "tokens": [in_cell(token) for token in tokens],
        "columns": [*sink, *(in_cell(token) for token in tokens)],
        "s_ops": _beside(subject, trace, values),
        "heads": _heads(subject, trace, _selections(handle, values, len(tokens))),
        "uses_sink": model.uses_sink,
        "dimensions": list(subject.words.dimensions),
        "stream": _stream(trace),
    }


def _beside(subject: Compiled, trace: Trace, values: Values) -> list[dict[str, Any]]:
    """Each s-op that can be read from the model, with the program's own values."""
    names, steps = subject.handle.program.names, subject.program.names
    by_words = {
        names.get(node) or expression(node, names): node for node in values if isinstance(node, SOp)
    }
    rows: dict[SOp, dict[str, Any]] = {}
    for label, row in trace.s_ops.items():  # an output's atoms come after its number
        node = by_words.get(re.sub(r" \(line \d+\)$", "", label))
        if node is not None:
            name = steps.get(node) or expression(node, steps, 4)
            pair = _row(name, [from_python(atom) for atom in row], list(values[node]))
            rows[node] = pair | {"row": name if name in subject.own else None}
    return list(rows.values())


def _row(name: str, model: list[Atom], program: list[Atom]) -> dict[str, Any]:
    pairs = list(zip(model, program, strict=True))
    return {
        "name": name,
        "program": [in_title(atom) for atom in program],
        "model": [in_title(shown if is_close(held, shown) else held) for held, shown in pairs],
        "numbers": [in_title(atom) for atom in model],
        "agrees": [is_close(held, shown) for held, shown in pairs],
    }


def is_close(held: Atom, wanted: Atom) -> bool:
    """Tell whether a model's number rounds to the program's value; other atoms must be the same.

    >>> is_close(1.9999, 2), is_close("a", "b"), is_close(1.0, True)
    (True, False, True)
    """
    if isinstance(held, str) or isinstance(wanted, str):
        return held == wanted
    return abs(float(held) - float(wanted)) <= CLOSE * max(1.0, abs(float(wanted)))


def _stream(trace: Trace) -> list[dict[str, Any]]:
    """The residual stream after each block: (dimension, position), four digits each."""
    blocks, count = [], 0
    for name, array in trace.residual.items():
        count += array.size
        if count > MOST_NUMBERS:
            break
        rows = [[float(f"{number:.4g}") for number in row] for row in array.T.tolist()]
        blocks.append({"after": _in_words(name), "rows": rows})
    return blocks


def _in_words(block: str) -> str:
    """Write the name of a block as people do.

    >>> _in_words("layer1.feed_forward"), _in_words("embedding")
    ('layer 1, feed-forward', 'the embedding')
    """
    layer, _, part = block.partition(".")
    if not part:
        return f"the {layer}"
    return f"layer {layer.removeprefix('layer')}, {part.replace('_', '-')}"


def _heads(subject: Compiled, trace: Trace, named: list[tuple[str, Rows]]) -> list[dict[str, Any]]:
    heads = []
    for name, attention in list(trace.attention.items())[:MOST_HEADS]:
        layer, _, head = name.removeprefix("layer").partition(".head")
        shares = _shares(attention.tolist(), subject.model.uses_sink)
        selector, selection = min(named, key=lambda one: _difference(shares, one[1]))
        heads.append(
            {
                "layer": int(layer),
                "number": int(head),
                "purpose": subject.words.heads[int(layer) - 1][int(head) - 1],
                "attention": [[round(share, 4) for share in row] for row in shares],
                "selection": [[round(share, 4) for share in row] for row in selection],
                "selector": selector,
                "difference": _difference(shares, selection),
            }
        )
    return heads


def _selections(handle: Handle, values: Values, length: int) -> list[tuple[str, Rows]]:
    """Every selection of the program on the example: each row's picks as equal shares."""
    names = handle.program.names
    selections = [
        (
            names.get(node) or expression(node, names, 4)[:120],
            [[picked / max(1, sum(row)) for picked in row] for row in values[node]],
        )
        for node in values
        if isinstance(node, Selector)
    ]
    return selections or [("", [[0.0] * length for _ in range(length)])]


def _shares(attention: Rows, has_sink: bool) -> Rows:
    """What each key got of the attention that stayed in the input.

    A head that counts leaves nearly all of it on the sink, a hidden token before the input, and
    the count is in the little that remains.
    """
    if not has_sink:
        return attention
    kept = [row[1:] for row in attention[1:]]
    return [[share / sum(row) for share in row] if sum(row) > 1e-37 else row for row in kept]


def _difference(shares: Rows, selection: Rows) -> float:
    """The largest difference in a row that picks anything; an empty row has no shares."""
    return max(
        (
            abs(share - picked)
            for row, wanted in zip(shares, selection, strict=True)
            if any(wanted)
            for share, picked in zip(row, wanted, strict=True)
        ),
        default=1.0,
    )
