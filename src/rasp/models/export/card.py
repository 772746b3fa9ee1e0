"""A compiled transformer in, `rasp.json` out: what a person needs to use an export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rasp.base.atoms import show
from rasp.models.certificate import Readout
from rasp.models.compiler.model.forward import logit_places
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.export.folders import CARD
from rasp.models.export.foreign_check import Checked


def labels(model: Transformer) -> list[str]:
    """What each logit means, in one line each."""
    several = len(model.readouts) > 1
    listed = []
    for readout in model.readouts:
        if not readout.scored:
            listed.append(readout.name)
            continue
        front = f"{readout.name}: " if several else ""
        listed += [front + show(atom) for atom in readout.atoms]
    return listed


def write_card(checked: Checked, target: dict[str, Any], folder: Path) -> None:
    """Write the card last, with what its target says: it names every file of the export."""
    files = sorted([CARD, *(path.name for path in folder.iterdir() if path.is_file())])
    data = (
        card(checked.model)
        | target
        | {
            "checked": f"loaded again, it agreed with the program on {checked.inputs} inputs",
            **({"layer_norms": checked.layer_norms} if checked.layer_norms else {}),
            "files": files,
        }
    )
    (folder / CARD).write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")


def card(model: Transformer) -> dict[str, Any]:
    """How to use a model, what was certified of it, and what each part of it is for."""
    described = model.description
    return {
        "made_by": "rasp",
        **usage(model),
        "certificate": _certificate(model),
        "labels": {
            "dimensions": list(described.dimensions),
            "heads": [list(heads) for heads in described.heads],
            "hidden": [list(units) for units in described.hidden],
        },
        "circuit": model.circuit,
    }


def usage(model: Transformer) -> dict[str, Any]:
    """The ids of tokens, and what each logit means."""
    settings = model.settings
    return {
        "tokens": {show(token): place for place, token in enumerate(settings.vocabulary)},
        "first_token_id": len(settings.vocabulary) if model.uses_sink else None,
        "first_token": "put this id before every input (a tokenizer beside this file does), and "
        "leave its logits out",
        "max_length": settings.max_length,
        "bos": None if settings.bos is None else show(settings.bos),
        "outputs": [_output(*readout_places) for readout_places in logit_places(model.readouts)],
    }


def _output(readout: Readout, logits: slice) -> dict[str, Any]:
    """Which logits belong to an output, and how they say its answer."""
    if readout.scored:
        note, codes = "the answer is the label of the largest logit", {}
    else:
        note = "one logit, a number; the answer is the label of the nearest code"
        codes = {"codes": list(readout.codes)}
    return {
        "name": readout.name,
        "logits": [logits.start, logits.stop],
        **codes,
        "labels": [show(atom) for atom in readout.atoms],
        "note": note,
    }


def _certificate(model: Transformer) -> str | None:
    """What was certified, of the compiled model: an export has other weights, which are scaled and
    padded as its library wants them.
    """
    if model.proof is None:
        return None
    robust = f"; {model.certificate.robust}" if model.certificate.robust else ""
    return f"of the compiled model, before the export: {model.certificate.statement}{robust}"
