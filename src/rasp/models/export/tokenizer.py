"""A compiled model in, a tokenizer out that `AutoTokenizer.from_pretrained` loads.

Text is split at blanks, or, where all tokens are single characters, into characters. The sink is
put first by itself. Text that holds anything but tokens of the vocabulary is an error: there is
no id for unknown tokens. No library is needed to write it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rasp.base.atoms import Atom
from rasp.base.errors import RaspUnsupportedError
from rasp.insight.generation.question import text_of
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.export.foreign_check import inputs_to_try
from rasp.models.export.next_token_head import end_id
from rasp.models.export.standard_stack import input_ids

MARKS = ("[]", "<>", "{}", "()", *(chr(place) * 2 for place in range(0xE000, 0xF8FF)))
"""What special tokens are written in: the first that no token of the vocabulary contains."""


@dataclass(frozen=True)
class Specials:
    """How the tokens that are not in the vocabulary are written."""

    sink: str | None
    last: str
    """The end of a next-token model; elsewhere padding, which attention leaves out."""


def specials_of(model: Transformer) -> Specials:
    """Choose names that are part of no input.

    >>> import rasp
    >>> specials_of(rasp.compile(rasp.tokens, alphabet="ab[", max_length=3))
    Specials(sink=None, last='<PAD>')
    """
    texts = [text_of(token) for token in model.settings.vocabulary]
    mark = next(mark for mark in MARKS if not any(mark[0] in text for text in texts))
    left, right = mark[0], mark[1]
    last = "END" if model.settings.next_token else "PAD"
    return Specials(f"{left}SINK{right}" if model.uses_sink else None, f"{left}{last}{right}")


def are_characters(vocabulary: Sequence[Atom]) -> bool:
    """Whether text is split into characters: all tokens are strings of one.

    >>> are_characters(("a", " ")), are_characters(("a", "cat")), are_characters((1, 2))
    (True, False, False)
    """
    return all(isinstance(token, str) and len(token) == 1 for token in vocabulary)


def text_for(tokens: Sequence[Atom], characters: bool) -> str:
    """Write an input as the text that the tokenizer reads.

    >>> text_for(("a", "b"), True), text_for((1, 2), False)
    ('ab', '1 2')
    """
    return ("" if characters else " ").join(text_of(token) for token in tokens)


def write_tokenizer(model: Transformer, folder: Path) -> None:
    """Write the tokenizer beside a model, load it as users do, and compare its ids with ours."""
    for name, data in tokenizer_files(model).items():
        text = json.dumps(data, ensure_ascii=False, indent=1)
        (folder / name).write_text(text, encoding="utf-8")
    _check(model, folder)


def tokenizer_files(model: Transformer) -> dict[str, dict[str, Any]]:
    """The two JSON files of a tokenizer, by name."""
    specials = specials_of(model)
    names: dict[str, Any] = {"pad_token": specials.last}
    if specials.sink is not None:
        names["bos_token"] = specials.sink
    if model.settings.next_token:
        names["eos_token"] = specials.last
    config = names | {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_input_names": ["input_ids", "attention_mask"],
        "clean_up_tokenization_spaces": False,
        "padding_side": "left" if model.settings.causal else "right",
    }
    return {"tokenizer.json": tokenizer_data(model, specials), "tokenizer_config.json": config}


def tokenizer_data(model: Transformer, specials: Specials) -> dict[str, Any]:
    """The tokenizer as the `tokenizers` library stores it."""
    vocabulary = model.settings.vocabulary
    ids = {text_of(token): place for place, token in enumerate(vocabulary)}
    added = {specials.last: end_id(model)}
    if specials.sink is not None:
        added = {specials.sink: len(vocabulary)} | added
    characters = are_characters(vocabulary)
    into_characters = {
        "type": "Split", "pattern": {"Regex": r"[\s\S]"}, "behavior": "Isolated", "invert": False,
    }  # fmt: skip
    joined = [{"type": "Fuse"}]
    # What is generated is decoded on its own and put behind the prompt, so a word brings its blank.
    blank = {"type": "Replace", "pattern": {"Regex": r"\A"}, "content": " "}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": place, "content": name, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True}
            for name, place in added.items()
        ],
        "normalizer": None,
        "pre_tokenizer": into_characters if characters else {"type": "WhitespaceSplit"},
        "post_processor": _template(specials.sink, len(vocabulary)),
        "decoder": {"type": "Sequence", "decoders": joined if characters else [blank, *joined]},
        "model": {"type": "WordLevel", "vocab": ids, "unk_token": f"no {specials.last}"},
    }  # fmt: skip


def _template(sink: str | None, place: int) -> dict[str, Any]:
    """Put the sink first."""
    first = [] if sink is None else [{"SpecialToken": {"id": sink, "type_id": 0}}]
    known = {} if sink is None else {sink: {"id": sink, "ids": [place], "tokens": [sink]}}
    given = [{"Sequence": {"id": name, "type_id": 0}} for name in "AB"]
    return {
        "type": "TemplateProcessing",
        "single": [*first, given[0]],
        "pair": [*first, *given],
        "special_tokens": known,
    }


def _check(model: Transformer, folder: Path) -> None:
    """Compare ids on the inputs that the model is tried on; a text that is another is left out."""
    from transformers import AutoTokenizer

    loaded = AutoTokenizer.from_pretrained(folder)
    vocabulary = model.settings.vocabulary
    characters = are_characters(vocabulary)
    if not characters and any(len(text_of(token).split()) != 1 for token in vocabulary):
        return  # such a token has no text
    for tokens in inputs_to_try(model.settings):
        ids = loaded(text_for(tokens, characters)).input_ids
        if ids != input_ids(model, list(tokens)).tolist():
            raise RaspUnsupportedError(
                "the tokenizer of this export does not read back its own vocabulary",
                hint="nothing was written; give tokens that differ as text",
            )
