"""One submission in, what came of each exercise out: this runs in a worker process with limits."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from rasp.base.atoms import Atom, describe, show_input, to_python
from rasp.base.errors import RaspError, RaspLimitError
from rasp.base.file_reading import read_json
from rasp.base.limits import Limits
from rasp.base.source import Source
from rasp.insight.equivalence.answering import answers
from rasp.insight.equivalence.sides import Compared
from rasp.insight.equivalence.suitable_inputs import with_tokens_of
from rasp.insight.schedule.fitting import fit
from rasp.insight.schedule.reasons import count
from rasp.insight.schedule.schedule import schedule
from rasp.language.graph import Node, SOp
from rasp.language.graph.portable import atom_from_json, atom_to_json
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.session import Session
from rasp.language.meaning.shown_values import show_answer
from rasp.language.meaning.value_kinds import MISSING

BATCH = 500
LARGEST_CASES = 1_000_000_000
"""Bytes of the inputs and answers that submissions are compared with."""
FIRST_LOOK = 40
"""Inputs tried before anything else: a wrong program is mostly wrong on one of them."""
Finding = dict[str, Any]


def grade_submission(request: dict[str, Any]) -> dict[str, Any]:
    """Run a submission's definitions, and compare what each exercise asks for."""
    exercises = _read_cases(request["cases"])
    folder = request["folder"]
    loader = Loader(root=folder, enabled=folder is not None)
    session = Session(Limits(**request["limits"]), loader)
    _, errors = session.check(Source(request["name"], request["text"]), only_definitions=True)
    outcomes = [_outcome(session, errors, exercise) for exercise in exercises]
    untold = errors[any("layers" not in outcome for outcome in outcomes) :]
    if untold:
        more = f", and {len(untold) - 1} more" if len(untold) > 1 else ""
        outcomes[0]["other_lines"] = f"another line fails: {_with_place(untold[0])}{more}"
    return {"outcomes": outcomes}


@lru_cache(maxsize=2)
def _read_cases(path: str) -> list[dict[str, Any]]:
    """Read the exercises, once for all submissions that this process grades."""
    exercises: list[dict[str, Any]] = read_json(path, LARGEST_CASES)
    for exercise in exercises:
        for key in ("inputs", "answers"):
            exercise[key] = [tuple(map(_value_from_json, values)) for values in exercise[key]]
        if exercise["alphabet"] is not None:
            exercise["alphabet"] = {
                key: None if tokens is None else [atom_from_json(token) for token in tokens]
                for key, tokens in exercise["alphabet"].items()
            }
    return exercises


def _value_from_json(data: Any) -> Any:
    return data if data is None or isinstance(data, float) else atom_from_json(data)


def _outcome(session: Session, errors: list[RaspError], exercise: dict[str, Any]) -> Finding:
    name = exercise["name"]
    value = session.names().get(name, MISSING)
    if isinstance(value, SOp):
        try:
            return _compared(value, exercise) | _size(value, exercise) | _wider(value, exercise)
        except RaspError as error:
            return _failed("stopped" if isinstance(error, RaspLimitError) else "error", error)
    if errors:
        spent = next((error for error in errors if isinstance(error, RaspLimitError)), None)
        return _failed("stopped" if spent else "error", spent or errors[0])
    if value is MISSING:
        defined = ", ".join(f"`{name}`" for name in list(session.names())[:5]) or "nothing"
        return {"verdict": "missing", "note": f"there is no `{name}`; it defines {defined}"}
    return {"verdict": "error", "note": f"`{name}` is {describe(value)}, not an s-op"}


def _failed(verdict: str, error: RaspError) -> Finding:
    return {"verdict": verdict, "note": _with_place(error), "text": str(error)}


def _with_place(error: RaspError) -> str:
    return error.message + (f" ({error.span})" if error.span is not None else "")


def _wider(node: SOp, exercise: dict[str, Any]) -> Finding:
    """Say over which alphabet it must be tried, too: with the tokens that it mentions itself."""
    alphabet = exercise["alphabet"]
    if alphabet is None:
        return {}
    wider = with_tokens_of(
        node, alphabet["tokens"], alphabet["known"], alphabet["prefix"], alphabet["pool"]
    )
    is_same = len(wider) == len(alphabet["tokens"])
    return {} if is_same else {"wider": [atom_to_json(token) for token in wider]}


def _compared(node: Node, exercise: dict[str, Any]) -> Finding:
    """Look for the first input, of the shortest ones, that is answered wrongly."""
    inputs, right = exercise["inputs"], exercise["answers"]
    pair = Compared(node, list, exercise["ignored"])
    hidden = len(inputs) - exercise["hidden"]
    starts = sorted({0, *range(FIRST_LOOK, len(inputs), BATCH), hidden} - {len(inputs)})
    for start, end in zip(starts, [*starts[1:], len(inputs)], strict=True):
        try:
            for number, answer in enumerate(_answers(node, inputs[start:end]), start=start):
                if not pair.agree(answer, list(right[number])):
                    return _wrong(pair, node, exercise, number, answer)
        except RaspLimitError:
            if start < hidden:
                raise
            return {"verdict": "stopped", "note": "it takes too much on a hidden input"}
    return {"verdict": "right", "note": ""}


def _answers(node: Node, inputs: list[tuple[Atom, ...]]) -> list[list[Any] | RaspError]:
    outcomes = answers([node], inputs)
    return [outcome if isinstance(outcome, RaspError) else outcome[0] for outcome in outcomes]


def _wrong(
    pair: Compared, node: Node, exercise: dict[str, Any], number: int, answer: list[Any] | RaspError
) -> Finding:
    tokens, right = exercise["inputs"][number], list(exercise["answers"][number])
    first_hidden = len(exercise["inputs"]) - exercise["hidden"]
    outcome: Finding = {"verdict": "wrong", "is_shortest": number < exercise["shortest"]}
    if number >= first_hidden:
        outcome["note"] = "it is wrong on a hidden input"
    else:
        wanted, given = show_answer(right), show_answer(answer)
        outcome["note"] = f"on {show_input(tokens)} it " + (
            f"should give {wanted}, but {given}" if isinstance(answer, RaspError) else
            f"gives {given}, not {wanted}"
        )  # fmt: skip
        shown = [to_python(atom) for atom in tokens]
        outcome |= {"input": shown, "wanted": wanted, "got": given}
    if exercise["partial"]:
        outcome["share"] = _share(pair, node, exercise, first_hidden)
    return outcome


def _share(pair: Compared, node: Node, exercise: dict[str, Any], first_hidden: int) -> float:
    """The share of the hidden inputs that are answered rightly."""
    answered = _answers(node, exercise["inputs"][first_hidden:])
    wanted = exercise["answers"][first_hidden:]
    right = [
        not isinstance(one, RaspLimitError) and pair.agree(one, list(other))
        for one, other in zip(answered, wanted, strict=True)
    ]
    return sum(right) / len(right) if right else 0.0


def _size(node: SOp, exercise: dict[str, Any]) -> Finding:
    """Say how large the s-op is, and whether it keeps to the limits."""
    placed = schedule(node)
    note = too_large(node, exercise["layers"], exercise["heads"])
    size: Finding = {"layers": placed.layers, "heads": placed.width, "fits": not note}
    return size | ({"size_note": note} if note else {})


def too_large(node: SOp, layers: int | None, heads: int | None) -> str:
    """Say which limits an s-op exceeds; return an empty text if it keeps to them.

    >>> from rasp.language.graph import Tokens
    >>> too_large(Tokens(), layers=0, heads=None)
    ''
    """
    if (layers is None and heads is None) or fit(node, layers=layers, heads=heads).fits:
        return ""
    placed = schedule(node)
    taken = count(placed.layers, "layer"), count(placed.width, "head")
    most = [count(limit, what) for limit, what in ((layers, "layer"), (heads, "head"))
            if limit is not None]  # fmt: skip
    return f"it takes {' of up to '.join(taken)}; at most {' of '.join(most)} may be used"
