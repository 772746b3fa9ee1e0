"""A next-token model in, the same with logits over the ids of tokens out.

The compiled read-out has a logit for each value that the program can give. Here each of them
moves to the id of its token: the vocabulary, the sink where there is one, the end. A token that
the program never gives has a constant logit below all that can be the largest. Logits are scaled
by a power of two, which is exact, so that even sampling gives the program's answer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rasp.base.atoms import Atom
from rasp.models.certificate import Readout, ReadoutWeights
from rasp.models.compiler.emitting.next_token import END, token_id
from rasp.models.compiler.model.transformer import Transformer

SURE = 128.0
"""By how much the largest logit exceeds the others: e^-128 is nothing, at any temperature."""


def in_vocabulary(model: Transformer) -> Transformer:
    """Give a next-token model a logit for each id; any other model stays as it is.

    >>> import rasp
    >>> same = rasp.run("same = tokens;")["same"]
    >>> model = rasp.compile(same, alphabet="ba", max_length=3, next_token=True)
    >>> in_vocabulary(model).readouts[0].atoms
    ('b', 'a', '')
    """
    if not model.settings.next_token:
        return model
    [readout], [weights] = model.readouts, model.weights.readouts
    places = [_place(model, atom) for atom in readout.atoms]
    lead = min(1.0, model.certificate.blocks[-1].margin)  # of the right score over all others
    scale = 2.0 ** np.ceil(np.log2(SURE / lead))
    matrix = np.zeros((end_id(model) + 1, model.d_model))
    bias = np.full(len(matrix), -scale)
    matrix[places] = weights.weight * scale
    bias[places] = weights.bias * scale
    atoms: list[Atom] = [*model.settings.vocabulary, *["sink"] * model.uses_sink, END]
    for place, atom in zip(places, readout.atoms, strict=True):
        atoms[place] = atom
    return replace(
        model,
        readouts=(Readout(readout.name, tuple(atoms), (), True),),
        weights=replace(model.weights, readouts=[ReadoutWeights(matrix, bias)]),
    )


def end_id(model: Transformer) -> int:
    """The id after all others: the end of a next-token model, padding elsewhere.

    >>> import rasp
    >>> end_id(rasp.compile(rasp.tokens, alphabet="ab", max_length=3))
    2
    """
    return len(model.settings.vocabulary) + model.uses_sink


def _place(model: Transformer, atom: Atom) -> int:
    place = token_id(atom, model.settings)
    assert place is not None, "the compiler refuses what is not in the vocabulary"
    return end_id(model) if atom == END else place
