"""A program's s-op, a vocabulary and a length in, its compiled transformer described out.

The model is run on the example, and the attention of each of its heads is put beside the
selection of the program that it comes closest to.
"""

from __future__ import annotations

import base64
import io
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rasp.atoms import Atom, from_python
from rasp.errors import RaspUnsupportedError
from rasp.evaluator import evaluate_batch
from rasp.frontend.handles import Handle
from rasp.frontend.show import show_sequence
from rasp.graph import Node, Selector, SOp, expression, in_order
from rasp.playground.budgets import LIMITS
from rasp.playground.requests import find_handle, read_example, read_number, read_word, run_text
from rasp.token_lists import read_alphabet

if TYPE_CHECKING:
    from rasp.compiler import Transformer

LONGEST = 64
USUAL_LENGTH = 10
MOST_HEADS = 24
LARGEST_ZIP = 20_000_000
Rows = list[list[float]]


def weights(request: dict[str, Any]) -> dict[str, Any]:
    """Compile an s-op and compare what the model does on the example with the program."""
    if find_spec("numpy") is None:
        raise RaspUnsupportedError(
            "weights need numpy, which is not here",
            hint='install the full edition: pip install "rasp-lang[play]"',
        )
    from rasp.compiler import compile

    handle = find_handle(run_text(request.get("program")), request.get("name"))
    if not isinstance(handle.node, SOp):
        raise RaspUnsupportedError("only s-ops are compiled", hint="choose an s-op")
    tokens = read_example(request.get("example"))
    length = read_number(request.get("max_length"), "the length", 1, LONGEST)
    bos = read_word(request, "bos")
    vocabulary = _vocabulary(request, tokens, bos)
    model = compile(
        handle,
        vocabulary=vocabulary,
        max_length=length or max(USUAL_LENGTH, len(tokens)),
        bos=bos,
    )
    told = _described(model) | _on_example(model, handle, tokens)
    return told | {"name": request.get("name"), "files": _zipped(model)}


def _zipped(model: Transformer) -> str | None:
    """The folder that `rasp compile` writes, as a zip in base64; nothing if it is too large."""
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(packed, "w") as archive:
        model.save(folder)
        for path in sorted(Path(folder).iterdir()):
            archive.write(path, path.name, zipfile.ZIP_DEFLATED)
    content = packed.getvalue()
    return base64.b64encode(content).decode() if len(content) <= LARGEST_ZIP else None


def _vocabulary(request: dict[str, Any], tokens: tuple[Atom, ...], bos: str | None) -> list[Atom]:
    given = read_word(request, "vocabulary")
    listed = read_alphabet(given, LIMITS) if given else tokens
    return [token for token in dict.fromkeys(listed) if token != bos] or list(listed)


def _described(model: Transformer) -> dict[str, Any]:
    certificate = model.certificate
    assert certificate is not None
    return {
        "parameters": model.parameter_count,
        "layers": model.layers,
        "heads_per_layer": list(model.heads_per_layer),
        "d_model": model.d_model,
        "hidden": sum(model.hidden_per_layer) + model.input_feed_forward,
        "is_exact": certificate.exact,
        "statement": certificate.statement if certificate.exact else certificate.reason,
        "certificate": str(certificate),
    }


def _on_example(model: Transformer, handle: Handle, tokens: tuple[Atom, ...]) -> dict[str, Any]:
    """Run the model on the example, if its vocabulary and length allow that."""
    from rasp.drawing.glyphs import in_cell

    given = list(tokens)
    trace = model.trace(given)
    named = _selections(handle, given)
    heads = []
    for name, attention in list(trace.attention.items())[:MOST_HEADS]:
        layer, _, head = name.removeprefix("layer").partition(".head")
        shares = _shares(attention.tolist(), model.uses_sink)
        best = min(named, key=lambda each: _difference(shares, each[1]))
        heads.append(
            {
                "layer": int(layer),
                "number": int(head),
                "attention": [[round(share, 4) for share in row] for row in shares],
                "selection": [[round(share, 4) for share in row] for row in best[1]],
                "selector": best[0],
                "difference": _difference(shares, best[1]),
                "picks": [],
                "conditions": [],
            }
        )
    return {
        "tokens": [in_cell(token) for token in tokens],
        "heads": heads,
        "uses_sink": model.uses_sink,
        "model_answer": show_sequence([from_python(atom) for atom in model(given)], full=True),
        "program_answer": show_sequence([from_python(atom) for atom in handle(given)], full=True),
    }


def _selections(handle: Handle, given: list[Atom]) -> list[tuple[str, Rows]]:
    """Every selection of the program on the example: each row's picks as equal shares."""
    found: list[Node] = [node for node in in_order([handle.node]) if isinstance(node, Selector)]
    if not found:
        return [("", [[0.0] * len(given) for _ in given])]
    values = evaluate_batch(found, [given], handle.program, LIMITS)[0]
    return [
        (
            handle.program.names.get(node) or expression(node, handle.program.names, 4)[:120],
            [[picked / max(1, sum(row)) for picked in row] for row in values[node]],
        )
        for node in found
    ]


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
