"""The tokenizer of a Hugging Face folder in, an adapter out: a guess, which is always printed.

Only the files are read (`tokenizer.json`, `vocab.json` or `vocab.txt`): a token of the alphabet
must be one id, and a template says what is put before and after an input.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rasp.base.atoms import Atom, from_python
from rasp.base.errors import RaspError, RaspValueError
from rasp.base.file_reading import parse_json, read_file
from rasp.models.proving.adapter import Adapter
from rasp.models.proving.network_table import Network
from rasp.models.proving.stock_models import is_sequence_classifier

LARGEST = 200_000_000


def guessed_adapter(place: Path, config: Mapping[str, Any], network: Network) -> Adapter | None:
    """Guess an adapter; None where there is no tokenizer."""
    found = _vocabulary(place)
    if found is None:
        return None
    vocabulary, special, before, after = found
    tokens = [token for token in vocabulary if token not in special]
    answers, at = _answers(config, network, vocabulary)
    longest = None if network.longest is None else network.longest - len(before) - len(after)
    return Adapter(
        tuple(tokens), tuple(vocabulary[token] for token in tokens), answers, at, before, after,
        longest=longest, source="guessed from the folder's tokenizer and configuration",
        logits=(0, len(answers)),
    )  # fmt: skip


def _vocabulary(
    place: Path,
) -> tuple[dict[str, int], set[str], tuple[int, ...], tuple[int, ...]] | None:
    """Ids by token, special tokens, and what is put before and after."""
    try:
        if (place / "tokenizer.json").is_file():
            return _fast(parse_json(read_file(place / "tokenizer.json", LARGEST)))
        if (place / "vocab.json").is_file():
            ids = parse_json(read_file(place / "vocab.json", LARGEST))
            return _checked_ids(ids), _marks(ids), (), ()
        if (place / "vocab.txt").is_file():
            lines = read_file(place / "vocab.txt", LARGEST).decode().splitlines()
            ids = {token: number for number, token in enumerate(lines)}
            start, end = ids.get("[CLS]"), ids.get("[SEP]")
            return ids, _marks(ids), _one(start), _one(end)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise RaspValueError(
            f"the tokenizer in `{place}` cannot be read", hint="give an `Adapter` instead"
        ) from None
    return None


def _fast(data: Any) -> tuple[dict[str, int], set[str], tuple[int, ...], tuple[int, ...]]:
    """`tokenizer.json`, as the `tokenizers` library writes it."""
    words = data["model"]["vocab"]
    if isinstance(words, list):  # a Unigram model: tokens with scores
        words = {token: number for number, (token, _) in enumerate(words)}
    special = {token["content"] for token in data.get("added_tokens", ()) if token.get("special")}
    ids = _checked_ids(words | {each["content"]: each["id"] for each in data["added_tokens"]})
    before: list[int] = []
    after: list[int] = []
    for processor in _processors(data.get("post_processor")):
        match processor["type"]:
            case "TemplateProcessing":
                known, seen = processor["special_tokens"], before
                for part in processor["single"]:
                    if "Sequence" in part:
                        seen = after
                    else:
                        seen += known[part["SpecialToken"]["id"]]["ids"]
            case "BertProcessing" | "RobertaProcessing":
                before, after = [processor["cls"][1]], [processor["sep"][1]]
    return ids, special | _marks(ids), tuple(before), tuple(after)


def _processors(processor: Any) -> list[Any]:
    if processor is None:
        return []
    return processor["processors"] if processor["type"] == "Sequence" else [processor]


def _checked_ids(words: Any) -> dict[str, int]:
    ids = {str(token): int(number) for token, number in words.items()}
    return dict(sorted(ids.items(), key=lambda item: item[1]))


def _marks(ids: Mapping[str, int]) -> set[str]:
    """Tokens in brackets: no letters of an alphabet."""
    return {token for token in ids if len(token) > 2 and token[0] + token[-1] in ("[]", "<>")}


def _one(number: int | None) -> tuple[int, ...]:
    return () if number is None else (number,)


def _answers(
    config: Mapping[str, Any], network: Network, vocabulary: Mapping[str, int]
) -> tuple[tuple[Atom, ...], str]:
    """What logits mean: labels of a classifier, or tokens of a language model."""
    names = config.get("architectures") or [""]
    count = network.logits
    if "Classification" not in str(names[0]):
        by_id = {number: token for token, number in vocabulary.items()}
        return tuple(by_id.get(number, f"<{number}>") for number in range(count)), "each"
    labels = {int(number): str(label) for number, label in (config.get("id2label") or {}).items()}
    texts = [labels.get(number, f"LABEL_{number}") for number in range(count)]
    is_unnamed = all(text == f"LABEL_{number}" for number, text in enumerate(texts))
    at = "each"
    if is_sequence_classifier(config):
        at = "first" if config.get("model_type") == "bert" else "last"
    if is_unnamed:
        return ((False, True) if count == 2 else tuple(range(count))), at
    return tuple(_atom(text) for text in texts), at


def _atom(text: str) -> Atom:
    """A label as an atom: `true`, a number, a quoted string, or the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return from_python(json.loads(text))
    except (ValueError, RaspError):
        return text
