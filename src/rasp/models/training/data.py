"""A task and a seed in, examples out: tokens, lengths and targets as arrays.

Targets come from the program, through the batched evaluator. A target is the number of its class;
the classes are what the program gives on the training examples, in order. Nothing is written to
disk, and the same task, seed and size give the same examples anywhere.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rasp.base.atoms import Atom, from_python, show, to_python
from rasp.base.errors import RaspError, RaspValueError
from rasp.language.evaluator import EvaluationError, pointing
from rasp.language.evaluator.fast.evaluate import evaluate
from rasp.language.graph import Node
from rasp.models.training.random_inputs import WAYS
from rasp.models.training.tasks import TrainingTask

IGNORED = -1
UNSEEN = -2
MOST_CLASSES = 1_000
MOST_APPENDED_PER_TOKEN = 20
"""How much a program may append, for each token of the longest prompt."""
SPLITS = {"train": 0, "validation": 1, "test": 2, "longer": 3}


@dataclass(frozen=True)
class Examples:
    """Inputs sorted by length, with their targets."""

    tokens: np.ndarray  # (inputs, longest): numbers in the task's vocabulary, 0 past the end
    lengths: np.ndarray  # (inputs,), the BOS counted
    targets: np.ndarray  # (inputs, longest): classes, IGNORED at the BOS and past the end

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True)
class Data:
    """A task's examples, and the atom of each of its classes."""

    task: TrainingTask
    classes: tuple[Atom, ...]
    splits: dict[str, Examples]


@dataclass(frozen=True)
class DrawnExamples:
    """Inputs as atoms, sorted by length, and what is right at each position; None: not learnt."""

    inputs: list[tuple[Atom, ...]]
    wanted: list[list[Atom | None]]


def make_data(task: TrainingTask, seed: int, sizes: dict[str, int]) -> Data:
    """Draw examples for each split, and let the program say what is right.

    >>> from rasp.models.training.paper_tasks import TASKS
    >>> data = make_data(TASKS["dyck_1"], 0, {"train": 50, "test": 10})
    >>> data.classes, len(data.splits["test"])
    (('F', 'P', 'T'), 10)
    """
    drawn = {split: draw_examples(task, seed, split, size) for split, size in sizes.items()}
    classes = _classes(task, drawn["train"].wanted)
    number = {atom: place for place, atom in enumerate(classes)}
    return Data(task, classes, {split: _as_examples(task, drawn[split], number) for split in sizes})


def draw_examples(task: TrainingTask, seed: int, split: str, size: int) -> DrawnExamples:
    """Draw inputs, and ask the program what is right: an answer, or the next token.

    >>> task = TrainingTask("again", 'next = "b" if indices < 2 else "";', "next", ("a", "b"),
    ...                     lengths=(2, 2), causal=True, after="|")
    >>> drawn = draw_examples(task, 0, "train", 1)
    >>> drawn.inputs[0][1:], drawn.wanted
    (('|', 'b'), [[None, 'b', '']])
    """
    tokens, lengths = draw_inputs(task, seed, split, size)
    if task.after is not None:
        return _continued(task, as_inputs(task, tokens, lengths))
    wanted: list[list[Atom | None]] = [list(row) for row in targets_of(task, tokens, lengths)]
    if task.bos is not None:
        wanted = [[None, *row[1:]] for row in wanted]
    return DrawnExamples(as_inputs(task, tokens, lengths), wanted)


def _continued(task: TrainingTask, drawn: list[tuple[Atom, ...]]) -> DrawnExamples:
    """Prompts with what the program appends, which is to be learnt, and where it ends."""
    from rasp.insight.generation import generate

    end = from_python(task.after or "")
    prompts = [(*tokens[:-1], end) for tokens in drawn]
    examples: list[tuple[tuple[Atom, ...], list[Atom | None]]] = []
    given = [[to_python(atom) for atom in prompt] for prompt in prompts]
    most = MOST_APPENDED_PER_TOKEN * task.lengths[1]
    for prompt, made in zip(prompts, generate(task.handle, given, most=most), strict=True):
        appended = [from_python(token) for token in made.tokens]
        for atom in appended:
            if atom not in task.vocabulary:
                raise RaspValueError(
                    f"`{task.output}` appends {show(atom)}, which is not among the tokens",
                    hint="add it to `--alphabet`",
                )
        unasked: list[Atom | None] = [None] * (len(prompt) - 1)
        examples.append(((*prompt, *appended), [*unasked, *appended, ""]))
    examples.sort(key=lambda example: len(example[0]))
    return DrawnExamples([tokens for tokens, _ in examples], [wanted for _, wanted in examples])


def draw_inputs(
    task: TrainingTask, seed: int, split: str, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw token numbers and lengths, sorted by length.

    >>> task = TrainingTask("copy", "same = tokens;", "same", ("a", "b"), lengths=(2, 2), bos="§")
    >>> tokens, lengths = draw_inputs(task, seed=0, split="train", size=3)
    >>> tokens[:, 0].tolist(), lengths.tolist()
    ([2, 2, 2], [3, 3, 3])
    """
    low, high = task.lengths
    if split == "longer":
        low, high = high + 1, 2 * high
    name = zlib.crc32(task.name.encode())
    random = np.random.Generator(np.random.Philox([seed, name, SPLITS[split]]))
    lengths = np.sort(random.integers(low, high + 1, size))
    tokens = WAYS[task.way](random, lengths, high, task.alphabet)
    if task.bos is not None:
        lengths = lengths + 1
        tokens = np.concatenate([np.full((size, 1), len(task.alphabet)), tokens], axis=1)
    return tokens.astype(np.int16), lengths


def as_inputs(
    task: TrainingTask, tokens: np.ndarray, lengths: np.ndarray
) -> list[tuple[Atom, ...]]:
    """Return token numbers as the inputs that they number.

    >>> task = TrainingTask("copy", "same = tokens;", "same", ("a", "b"))
    >>> as_inputs(task, np.array([[1, 0, 0]]), np.array([2]))
    [('b', 'a')]
    """
    atoms = task.vocabulary
    rows = zip(tokens.tolist(), lengths.tolist(), strict=True)
    return [tuple(atoms[number] for number in row[:length]) for row, length in rows]


def values_of(
    task: TrainingTask, nodes: Sequence[Node], inputs: Sequence[tuple[Atom, ...]]
) -> dict[Node, list[list[Atom]]]:
    """Compute nodes of a task's program; an error says that it was the task's own input."""
    try:
        return evaluate(nodes, inputs)
    except EvaluationError as failed:
        raise _failed(failed, task) from None


def targets_of(task: TrainingTask, tokens: np.ndarray, lengths: np.ndarray) -> list[list[Atom]]:
    """Compute what the program gives on each input, clipped as the task says.

    >>> task = TrainingTask("last", "last = length - 1;", "last", ("a", "b"), clip=1)
    >>> targets_of(task, np.array([[1, 0, 0], [0, 0, 1]]), np.array([1, 3]))
    [[0], [1, 1, 1]]
    """
    node = task.handle.node
    wanted = values_of(task, [node], as_inputs(task, tokens, lengths))[node]
    if task.clip is None:
        return wanted
    return [[_clipped(atom, task.clip) for atom in atoms] for atoms in wanted]


def _clipped(atom: Atom, most: int) -> Atom:
    return most if not isinstance(atom, str) and atom > most else atom


def _classes(task: TrainingTask, wanted: list[list[Atom | None]]) -> tuple[Atom, ...]:
    atoms_seen = {atom for atoms in wanted for atom in atoms if atom is not None}
    if len(atoms_seen) > MOST_CLASSES:
        raise RaspValueError(
            f"`{task.output}` takes more than {MOST_CLASSES} values, too many for classes "
            f"({', '.join(show(atom) for atom in sorted(atoms_seen, key=atom_order)[:3])}, …)",
            hint="round or clip what it gives, or take a smaller alphabet or shorter inputs",
        )
    return tuple(sorted(atoms_seen, key=atom_order))


def atom_order(atom: Atom) -> tuple[bool, str, Fraction]:
    """What to sort atoms by: numbers before strings."""
    return (True, atom, Fraction(0)) if isinstance(atom, str) else (False, "", Fraction(atom))


def _as_examples(task: TrainingTask, drawn: DrawnExamples, number: dict[Atom, int]) -> Examples:
    """Write atoms as numbers, padded at the end."""
    lengths = np.array([len(tokens) for tokens in drawn.inputs])
    inside = np.arange(max(lengths)) < lengths[:, None]
    token = {atom: place for place, atom in enumerate(task.vocabulary)}
    tokens, targets = np.zeros(inside.shape, np.int16), np.full(inside.shape, IGNORED, np.int16)
    tokens[inside] = [token[atom] for row in drawn.inputs for atom in row]
    targets[inside] = [
        IGNORED if atom is None else number.get(atom, UNSEEN) for row in drawn.wanted
        for atom in row
    ]  # fmt: skip
    return Examples(tokens, lengths, targets)


def _failed(failed: EvaluationError, task: TrainingTask) -> RaspError:
    error = pointing(failed, task.handle.program)
    error.about = ("the program fails on an input of its own task",)
    hint = "the inputs are drawn from the alphabet, lengths and BOS given: do they suit it?"
    error.hints += (hint,)
    return error
