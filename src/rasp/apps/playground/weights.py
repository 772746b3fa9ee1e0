"""A program's s-op, a vocabulary and a length in, its compiled transformer described out.

The same settings give the same model, so a worker keeps the last ones: running another input
through a model, or looking at one of its matrices, does not compile it again.
"""

from __future__ import annotations

import base64
import io
import json
import tempfile
import zipfile
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rasp.apps.playground.intended_attention import as_written
from rasp.apps.playground.requests import (
    find_handle,
    read_example,
    read_number,
    read_word,
    run_text,
)
from rasp.apps.playground.shown import selection_label, with_steps_named
from rasp.base.atoms import to_python
from rasp.base.errors import RaspUnsupportedError
from rasp.base.input_text import read_alphabet
from rasp.language.embedding.handles import Handle
from rasp.language.graph import Aggregate, Node, Program, SOp, in_order

if TYPE_CHECKING:
    from rasp.models.compiler import Transformer
    from rasp.models.compiler.model.describe import Description

LONGEST = 256
USUAL_LENGTH = 10
LARGEST_ZIP = 20_000_000
MOST_EXTRA = 16
OPTIONS = ("max_length", "bos", "causal", "next_token", "sink", "heads", "style",
           "extra_feed_forwards")  # fmt: skip
"""What `compile` takes as the form has it."""
KEPT = 3
"""Models that a worker keeps."""


@dataclass(frozen=True)
class Asked:
    """Everything that a compiled model depends on, as texts and numbers."""

    program: str
    name: str
    vocabulary: str
    max_length: int
    bos: str | None
    causal: bool
    next_token: bool
    sink: bool
    heads: str
    where: str | None
    """The bool s-op that is promised to hold at every position of every input."""
    style: str
    extra_feed_forwards: int


def weights(request: dict[str, Any]) -> dict[str, Any]:
    """Compile an s-op: its size, what is certified, and the files that `rasp compile` writes."""
    asked = read_asked(request)
    model = compiled(asked).model
    from rasp.apps.playground.matrices import names_of

    return _described(model) | {
        "name": asked.name,
        "vocabulary": asked.vocabulary,
        "max_length": asked.max_length,
        "matrices": names_of(compiled(asked)),
        "files": _zipped(model),
    }


def read_asked(request: dict[str, Any]) -> Asked:
    """Read the form; what is left empty follows from the example."""
    if find_spec("numpy") is None:
        raise RaspUnsupportedError(
            "weights need numpy, which is not here",
            hint="use the full edition: install rasp and start `rasp play`",
        )
    length = read_number(request.get("max_length"), "the length", 1, LONGEST)
    bos, given = read_word(request, "bos"), read_word(request, "vocabulary")
    extra = read_number(request.get("extra_feed_forwards"), "extra feed-forwards", 0, MOST_EXTRA)
    if length is None or given is None:
        tokens = read_example(request.get("example"))
        length = length or max(USUAL_LENGTH, len(tokens))
        listed = [to_python(one) for one in dict.fromkeys(tokens) if one != bos]
        given = given or json.dumps(listed or [bos], ensure_ascii=False)
    return Asked(
        str(request.get("program")), str(request.get("name")), given, length, bos,
        bool(request.get("causal")), bool(request.get("next_token")),
        not request.get("no_sink"), read_word(request, "heads") or "paper",
        read_word(request, "where"), read_word(request, "style") or "auto", extra or 0,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Compiled:
    """A program's s-op, its model, and the words for the model's parts."""

    handle: Handle
    model: Transformer
    program: Program
    """The program with names for the steps on the way, as the picture of the flow has them."""
    words: Description
    own: frozenset[str]
    """The names that the program itself defines."""


@lru_cache(maxsize=KEPT)
def compiled(asked: Asked) -> Compiled:
    """Compile what is asked for; the last models are kept."""
    from rasp.models.compiler import compile

    ran = run_text(asked.program)
    handle = find_handle(ran, asked.name)
    if not isinstance(handle.node, SOp):
        raise RaspUnsupportedError("only s-ops are compiled", hint="choose an s-op")
    model = compile(
        handle,
        vocabulary=list(read_alphabet(asked.vocabulary)),
        where=find_handle(ran, asked.where) if asked.where else None,
        **{option: getattr(asked, option) for option in OPTIONS},
    )
    program = with_steps_named(handle.program, [handle.node])
    words = _in_words(model, handle, program)
    return Compiled(handle, model, program, words, frozenset(ran.session.names()))


def _in_words(model: Transformer, handle: Handle, program: Program) -> Description:
    """Describe the model's parts with the program's own words."""
    from rasp.models.compiler.model.describe import Words

    counted: dict[Node, str] = {
        node.selector: selection_label(as_written(node), program)
        for node in in_order([handle.node])
        if isinstance(node, Aggregate) and as_written(node) is not node.selector
    }
    names = {**program.names, **counted}
    lines = {node: span.line for node, span in program.origins.items()}
    return replace(model, words=Words(model.outputs, names, lines)).description


def _zipped(model: Transformer) -> str | None:
    """The folder that `rasp compile` writes, as a zip in base64; nothing if it is too large."""
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(packed, "w") as archive:
        model.save(folder)
        for path in sorted(Path(folder).iterdir()):
            archive.write(path, path.name, zipfile.ZIP_DEFLATED)
    content = packed.getvalue()
    return base64.b64encode(content).decode() if len(content) <= LARGEST_ZIP else None


def _described(model: Transformer) -> dict[str, Any]:
    certificate = model.certificate
    return {
        "parameters": model.parameter_count,
        "layers": model.layers,
        "heads_per_layer": list(model.heads_per_layer),
        "d_model": model.d_model,
        "hidden": sum(model.hidden_per_layer) + model.input_feed_forward,
        "is_exact": certificate.exact,
        "trust": certificate.trust,
        "statement": certificate.reason if certificate.trust == "none" else certificate.statement,
        "certificate": str(certificate),
    }
