"""A model that was read from files in; what its settings say of it, and is not so, out."""

from __future__ import annotations

from operator import gt

from rasp.architecture.schedule import schedule
from rasp.compiler.emitting.next_token import END, token_id
from rasp.compiler.model.transformer import Transformer
from rasp.graph import expression
from rasp.words import KEYWORDS


def false_setting(model: Transformer) -> str:
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
    robust = model.certificate.robust if model.certificate else None
    if robust and robust.too_steep:
        return f"the model is not robust: {robust.too_steep}"
    name, where = settings.where_name, settings.where
    is_name = name.isidentifier() and name not in KEYWORDS
    if where is not None and not is_name and name != expression(where, {}, depth=3):
        return "`settings` calls a promise by the text of another one"
    return ""


def _fits_schedule(model: Transformer) -> bool:
    """Whether no layer has more heads than the schedule; extra feed-forward blocks are no layers.

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
