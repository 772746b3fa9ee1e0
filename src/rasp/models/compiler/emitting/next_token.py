"""What a next-token program can give in, the ids of these tokens out, or why it cannot generate.

The outputs of a next-token model share the vocabulary of its inputs. Numbers become their text, as
in `rasp generate`, and the empty string is the end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rasp.base.atoms import Atom, show_first
from rasp.base.errors import RaspUnsupportedError
from rasp.insight.generation.question import text_of
from rasp.language.graph import Node, Program
from rasp.models.compiler.compile_refusals import Refusal, Refusals
from rasp.models.compiler.emitting.emitter import is_scored
from rasp.models.compiler.heads.model_plan import ModelPlan
from rasp.models.compiler.settings import Settings

END = ""
MOST_SHOWN = 5


def check_next_token(nodes: Sequence[Node], settings: Settings) -> None:
    """Refuse what can be seen of a program without planning it."""
    if len(nodes) != 1:
        raise RaspUnsupportedError(
            f"a next-token model has one output, but {len(nodes)} were given",
            hint="name the s-op that says the next token",
        )
    if END in settings.vocabulary:
        raise RaspUnsupportedError(
            "the vocabulary holds the empty string, which ends what a next-token model generates",
            hint="take it out of the vocabulary: inputs hold no end",
        )


def check_outputs(plan: ModelPlan, program: Program) -> None:
    """Refuse a plan whose output may be something else than a token of the inputs, or the end."""
    [output] = plan.outputs
    refusals = Refusals(program, [output.node])
    atoms = [atom for _, atom in output.atoms]
    ids = [token_id(atom, plan.settings) for atom in atoms]
    with refusals.blaming(output.node):
        if None in ids:
            foreign = [atom for atom, place in zip(atoms, ids, strict=True) if place is None]
            why = f"as the next token it may give {show_first(foreign, MOST_SHOWN)}"
            raise Refusal(
                f"{why}, which the vocabulary does not hold",
                "add it to the vocabulary, or give `aggregate` a default that is in it; "
                "the empty string ends the generation",
            )
        if len(ids) > len(set(ids)):
            twice = [atom for atom, place in zip(atoms, ids, strict=True) if ids.count(place) > 1]
            why = f"it gives {show_first(twice, MOST_SHOWN)}, which are one token"
            raise Refusal(why, "give one of them, say the string")
        if not is_scored(np.array([float(code) for code, _ in output.atoms])):
            why = f"float32 cannot tell {len(atoms)} next tokens apart"
            raise Refusal(why, "use a smaller vocabulary")
    refusals.raise_all()


def token_id(atom: Atom, settings: Settings) -> int | None:
    """The place of the token that an atom becomes; the end comes after the vocabulary.

    >>> from rasp.models.compiler.settings import read_settings
    >>> settings = read_settings("a4", 5, None, True, True, "paper")
    >>> token_id(4, settings), token_id("", settings), token_id("b", settings)
    (1, 2, None)
    """
    vocabulary = settings.vocabulary
    if atom == END:
        return len(vocabulary)
    if isinstance(atom, str) != isinstance(vocabulary[0], str) and isinstance(atom, str):
        return None  # an input of numbers grows by numbers
    places = {text_of(token): place for place, token in enumerate(vocabulary)}
    return places.get(text_of(atom))
