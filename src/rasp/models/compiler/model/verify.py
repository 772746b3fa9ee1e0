"""The folder of a model in; a certificate out, of what its files alone say and prove."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isclose
from operator import gt
from pathlib import Path
from secrets import randbits
from typing import Any

from rasp.base.file_reading import parse_json
from rasp.base.progress import Progress, ignore, part_of
from rasp.insight.schedule.schedule import schedule
from rasp.language.graph import expression
from rasp.language.words import KEYWORDS
from rasp.models.compiler.emitting.next_token import END, token_id
from rasp.models.compiler.model.certificate import (
    CHECKED,
    Certificate,
    certify,
    proved,
    run_randomly,
)
from rasp.models.compiler.model.store import content, loaded
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.compiler.model.vocabulary_inputs import is_name_of_another


def verify(folder: str | Path, seed: int | None = None, progress: Progress = ignore) -> Certificate:
    """Check a model again from its files alone.

    The stored claims about the stored weights are checked; nothing is compiled. Whatever else the
    folder says (labels, circuit, sizes, the statement) must be what follows from that. Then random
    inputs are tried, each time others: the certificate says with which seed.

    >>> import rasp, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rasp.compile(rasp.length - 1, vocabulary="ab", max_length=5).save(folder)
    ...     verify(folder).statement
    'exact for all inputs up to length 5 over this vocabulary, in float32'
    """
    model, data = loaded(folder)
    progress(0.0, "checking")
    verdict, seed_then = proved(model), data["certificate"]["seed"]
    rest = part_of(progress, CHECKED, 1.0)
    model.proof = certificate = certify(model, verdict, seed_then, rest)
    if certificate.trust == "none":
        return certificate
    refused = _false_setting(model, certificate) or _changed(model, data)
    if refused:
        wrong = replace(certificate.settings, tested=False)
        return replace(certificate, refused=refused, settings=wrong)
    return run_randomly(certificate, model, randbits(32) if seed is None else seed)


def _false_setting(model: Transformer, certificate: Certificate) -> str:
    """What is said that no claim about the weights says, and that is not so; else nothing."""
    settings, heads = model.settings, model.heads_per_layer
    if model.uses_sink and not settings.sink:
        return "the model has a sink, and `settings` says that it has none"
    if not 0 <= settings.extra_feed_forwards <= heads.count(0):
        return "the model has fewer feed-forward blocks without heads than `settings` says"
    if settings.heads == "paper" and not _fits_schedule(model):
        return "the model has more heads than the schedule, and `settings` says that it has not"
    if settings.next_token and not _gives_next_tokens(model):
        return "`settings` says that the model gives next tokens, and it does not"
    name, where = settings.where_name, settings.where
    if where is not None and name != expression(where, {}, depth=3):
        is_name = name.isidentifier() and name not in KEYWORDS
        if not is_name or is_name_of_another(name, where, model.outputs, model.words.names):
            return "`settings` calls a promise by the text or the name of another s-op"
    return ""


def _fits_schedule(model: Transformer) -> bool:
    """Whether no layer has more heads than the schedule; extra feed-forward blocks are not layers.

    With these between them, each layer with heads must have its own in the schedule, in order.
    """
    allowed, heads = schedule(list(model.outputs.values())).heads_per_layer, model.heads_per_layer
    if len(allowed) < model.layers:
        return False
    if not model.extra_feed_forwards:
        return not any(map(gt, heads, allowed))
    left = iter(allowed)
    return all(any(count <= most for most in left) for count in heads if count)


def _gives_next_tokens(model: Transformer) -> bool:
    """Whether a causal model's one output gives tokens of its inputs, or the end, each by one
    score.
    """
    settings, (first, *others) = model.settings, model.readouts
    places = [token_id(atom, settings) for atom in first.atoms]
    is_causal = settings.causal and END not in settings.vocabulary
    return (is_causal and first.scored and not others and None not in places
            and len({*places}) == len(places))  # fmt: skip


def _changed(model: Transformer, data: dict[str, Any]) -> str:
    """Which part of the description is not the one that follows; margins may differ in a digit."""
    _, description = content(model)  # with the fingerprint of nothing but its weights
    derived = parse_json(description)
    for key in sorted({*derived, *data}):
        alike = _are_close if key == "certificate" else _are_equal
        if key not in data or key not in derived or not alike(derived[key], data[key]):
            return f"`{key}` is not what follows from the weights and the claims"
    return ""


def _are_equal(derived: Any, stored: Any) -> bool:
    """Whether both are the same, where 1 is neither 1.0 nor true."""
    return json.dumps(derived, sort_keys=True) == json.dumps(stored, sort_keys=True)


def _are_close(derived: Any, stored: Any) -> bool:
    if isinstance(derived, list) and isinstance(stored, list):
        return len(derived) == len(stored) and all(map(_are_close, derived, stored))
    if isinstance(derived, dict) and isinstance(stored, dict):
        return derived.keys() == stored.keys() and all(
            _are_close(derived[key], stored[key]) for key in derived
        )
    if isinstance(derived, float) and isinstance(stored, float):
        return isclose(derived, stored, rel_tol=1e-6)
    return _are_equal(derived, stored)
