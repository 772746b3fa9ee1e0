"""Next-token programs in, the prompts on which weights and program generate differently out.

Each program of `examples/generating` is compiled, exported to a stock GPT-2 folder, and asked to
generate by `transformers`, with and without its cache. `rasp.generate` runs the program itself.
Half of the prompts are those of the task, half are random tokens of any length up to the longest.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import rasp
from rasp.base.errors import RaspError
from rasp.insight.generation import outcomes_of, rules_of
from rasp.models.export import export

EXAMPLES = Path(__file__).parents[3] / "examples" / "generating"
TOGETHER = 1000
Prompt = list[str]


def letters(alphabet: str, most: int) -> Callable[[random.Random], Prompt]:
    """Some letters, and a bar."""
    return lambda chooser: [*chooser.choices(alphabet, k=chooser.randint(1, most)), "|"]


def two_numbers(chooser: random.Random) -> Prompt:
    return [str(chooser.randint(0, 11)), str(chooser.randint(0, 11)), ">"]


def sums(chooser: random.Random) -> Prompt:
    """Two numbers of one to three digits, a letter before each."""
    columns = "abc"[: chooser.randint(1, 3)]
    left, right = ([part for letter in columns for part in (letter, str(chooser.randint(0, 9)))]
                   for _ in range(2))  # fmt: skip
    return [*left, "+", *right, "="]


@dataclass(frozen=True)
class Example:
    """A program, what to compile it for, and prompts of its task."""

    name: str
    s_op: str
    alphabet: tuple[str, ...]
    max_length: int
    prompt: Callable[[random.Random], Prompt]

    @property
    def handle(self) -> rasp.Handle:
        return rasp.run((EXAMPLES / f"{self.name}.rasp").read_text(encoding="utf-8"))[self.s_op]

    def prompts(self, count: int, seed: int = 0) -> list[Prompt]:
        """Half of them from the task, the others random, up to the longest input."""
        chooser = random.Random(f"{self.name} {seed}")
        return [
            self.prompt(chooser)
            if number % 2
            else chooser.choices(self.alphabet, k=chooser.randint(1, self.max_length))
            for number in range(count)
        ]


EXAMPLE_LIST = (
    Example("copy", "copy", tuple("abc|"), 16, letters("abc", 8)),
    Example("count", "next_number", (*map(str, range(12)), ">"), 15, two_numbers),
    Example("mode", "mode", tuple("abc|"), 12, letters("abc", 11)),
    Example("sort", "next_letter", tuple("abcde|"), 14, letters("abcde", 9)),
    Example("parity", "parity", tuple("01|"), 16, letters("01", 8)),
    Example("addition", "addition", tuple("0123456789abc+="), 20, sums),
)


@dataclass
class Comparison:
    """How many prompts were compared, and those that differ."""

    prompts: int = 0
    tokens: int = 0
    failing: int = 0
    """Prompts on which the program itself fails; nothing is promised there."""
    different: list[Prompt] | None = None


def expected(example: Example, prompts: Sequence[Prompt]) -> list[list[str] | None]:
    """What `rasp generate` gives for prompts of one length, with "" at an end; None: it fails."""
    room = example.max_length - len(prompts[0]) + 1
    found: list[list[str] | None] = []
    for outcome in outcomes_of(example.handle, prompts, rules_of(most=room)):
        if isinstance(outcome, RaspError):
            found.append(None)
        else:
            found.append([*map(str, outcome.tokens), *[""] * outcome.stopped])
    return found


def generated(model: Any, ids: Sequence[list[int]], room: int, cache: bool) -> list[list[int]]:
    """What `generate` of transformers appends to prompts of one length, up to an end."""
    import torch

    end = model.config.eos_token_id
    given = torch.tensor(ids)
    longest = given.shape[1] + room
    mask = torch.ones_like(given)
    out = model.generate(given, attention_mask=mask, max_length=longest, use_cache=cache)
    rows = out[:, given.shape[1] :].tolist()
    return [row[: row.index(end) + 1] if end in row else row for row in rows]


def batches(prompts: list[Prompt]) -> Iterator[list[Prompt]]:
    for _, together in groupby(sorted(prompts, key=len), len):
        known = list(together)
        yield from (known[at : at + TOGETHER] for at in range(0, len(known), TOGETHER))


def compare(example: Example, folder: Path, prompts: list[Prompt]) -> Comparison:
    """Generate from the weights in a folder, cached and not, and from the program."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    between = "" if all(len(token) == 1 for token in example.alphabet) else " "
    result = Comparison(different=[])
    for batch in batches(prompts):
        room = example.max_length - len(batch[0]) + 1
        ids = [tokenizer(between.join(prompt)).input_ids for prompt in batch]
        answers = [generated(model, ids, room, cache) for cache in (True, False)]
        for number, tokens in enumerate(expected(example, batch)):
            if tokens is None:
                result.failing += 1
                continue
            result.prompts += 1
            result.tokens += len(tokens)
            wanted = [model.config.eos_token_id if token == "" else
                      tokenizer.convert_tokens_to_ids(token) for token in tokens]  # fmt: skip
            if any(found[number] != wanted for found in answers):
                result.different.append(batch[number])  # type: ignore[union-attr]
    return result


def write_folder(example: Example, folder: Path) -> Any:
    model = rasp.compile(example.handle, alphabet=list(example.alphabet),
                         max_length=example.max_length, next_token=True,
                         style="compact")  # fmt: skip
    export(model, "hf-gpt2", folder)
    return model
