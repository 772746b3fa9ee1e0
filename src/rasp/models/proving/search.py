"""A model and a program in, a `ModelComparison` out: all inputs up to a length, shortest first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from random import Random
from typing import Any, TypeAlias

import numpy as np

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError, RaspLimitError, RaspValueError
from rasp.base.input_text import read_alphabet
from rasp.models.compiler import Transformer
from rasp.models.proving.adapter import Adapter
from rasp.models.proving.comparison import (
    DIFFERENT,
    PROVED,
    RUN,
    TESTED,
    LengthResult,
    ModelComparison,
    ModelDifference,
)
from rasp.models.proving.model_files import Model, open_model
from rasp.models.proving.prefixes import parts
from rasp.models.proving.proof_task import (
    DIGITS,
    LEVELS,
    NOTHING,
    PartDone,
    ProofTask,
    answer_part,
    answer_places,
    ask,
    measure,
    run_rows,
)
from rasp.models.proving.specification import classes, specification_of

Progress: TypeAlias = Callable[[int, int, int], None]
"""Told how many inputs were compared, of how many, and which length is searched."""
Parts: TypeAlias = Callable[[ProofTask, int, list[tuple[int, int]], int], Iterator[PartDone]]
"""Answers parts of one length, in order: here, or on other machines."""

USUAL_INPUTS = 100_000
"""Inputs where no length is asked for."""
MOST_INPUTS = 5_000_000_000
"""Inputs where one is."""
MOST_RUN = 2_000_000
"""Inputs of a compiled model that are all run when it is verified."""
MOST_TOKENS = 60
SAMPLES = 1_000
HOW = {"prove": PROVED, "run": RUN, "test": TESTED}


def prove(
    model: object,
    program: object,
    *,
    adapter: Adapter | None = None,
    output: str | None = None,
    up_to: int | None = None,
    alphabet: object = None,
    where: object = None,
    how: str = "prove",
    samples: int = SAMPLES,
    seed: int = 0,
    device: str | None = None,
    progress: Progress | None = None,
) -> ModelComparison:
    """Prove that a model and a program are the same up to a length, or find where they differ.

    `model` is a folder or file, a compiled model, or an `Architecture` with a torch module.
    `program` is a handle, a Python function of a list of tokens, an automaton or a regular
    expression. All inputs over `alphabet` are compared, shortest first (as many as are quick, where
    `up_to` is not given), or those that keep the promise `where`. With `how="run"`, the model is
    run in float32 and nothing is proved; with `how="test"`, `samples` random inputs are drawn.

    >>> import rasp
    >>> hist = rasp.run("hist = selector_width(select(tokens, tokens, ==));")["hist"]
    >>> found = prove(rasp.compile(hist, alphabet="ab", max_length=5), hist)
    >>> found.verdict, found.up_to, found.inputs
    ('proved', 5, 62)
    """
    if how not in HOW:
        raise RaspValueError(f"`how` is one of {', '.join(HOW)}", hint="not given, it proves")
    if device is not None and how != "run":
        raise RaspValueError("only a run can be on a device", hint='say `how="run"`, too')
    opened = open_model(model, adapter)
    task = _task(opened, program, output, alphabet, where, how == "run", device)
    search = InputSearch(task, progress)
    if how == "test":
        end = _checked_end(task, up_to, None)
        search.try_some(end, samples, Random(seed))
    else:
        end = _checked_end(task, up_to, USUAL_INPUTS)
        search.try_all(end)
    return _comparison(search, opened, HOW[how], end)


def run_everywhere(
    model: Transformer, most: int = MOST_RUN, progress: Progress | None = None
) -> dict[str, ModelComparison] | None:
    """Run a compiled model on every input it takes, for each output; None where there are more.

    This is the ground truth under a certificate: it knows no claims, no variables and no rules.

    >>> import rasp
    >>> model = rasp.compile({"n": rasp.length}, vocabulary="ab", max_length=4)
    >>> found = run_everywhere(model)
    >>> found["n"].verdict, found["n"].inputs
    ('run', 30)
    """
    opened = open_model(model)
    found = {}
    for name, node in model.outputs.items():
        task = _task(opened, node, name, None, None, runs_only=True, device=None)
        lengths = range(task.adapter.shortest, model.settings.max_length + 1)
        if sum(map(task.count, lengths)) > most:
            return None
        search = InputSearch(task, progress)
        search.try_all(model.settings.max_length)
        found[name] = _comparison(search, opened, RUN, model.settings.max_length)
    return found


def _task(
    model: Model, program: object, output: str | None, alphabet: object, where: object,
    runs_only: bool, device: str | None,
) -> ProofTask:  # fmt: skip
    """Put together what is asked, and refuse what does not fit."""
    adapter = _adapter_of(model, output)
    letters = None if alphabet is None else read_alphabet(alphabet)
    known = adapter.tokens if letters is None else letters
    promises = [specification_of(promise, known)
                for promise in (adapter.where, where) if promise is not None]  # fmt: skip
    specification = specification_of(program, known)
    return ask(model.network, adapter, specification, letters, promises, runs_only, device)


def _adapter_of(model: Model, output: str | None) -> Adapter:
    if output is not None and model.outputs:
        if output in model.outputs:
            return model.outputs[output]
        if len(model.outputs) > 1:
            raise RaspValueError(
                f"the model has no output `{output}`",
                hint=f"its outputs are {', '.join(model.outputs)}",
            )
    if model.adapter is None:
        raise RaspValueError(
            f"there is no tokenizer in `{model.name}`, so nothing says which id is which token",
            hint="give `adapter=Adapter(tokens=…, ids=…, answers=…)`",
        )
    return model.adapter


def _checked_end(task: ProofTask, asked: int | None, most: int | None) -> int:
    """The length to go up to: the one asked for, or as far as `most` inputs reach."""
    start, longest = task.adapter.shortest, task.longest
    if asked is not None:
        if longest is not None and asked > longest:
            raise RaspLimitError(
                f"the model takes at most {longest} tokens, not {asked}",
                hint=f"ask for a length of at most {longest}",
            )
        if asked < start:
            raise RaspValueError(
                f"inputs of this model have {start} tokens or more, not {asked}",
                hint="leave `up_to` out",
            )
        if most is not None and sum(map(task.count, range(start, asked + 1))) > MOST_INPUTS:
            raise RaspLimitError(
                f"there are more than {MOST_INPUTS:,} inputs up to length {asked}",
                hint="ask for a smaller length or alphabet, or test random inputs",
            )
        return asked
    end, total = start, task.count(start)
    while most is not None and end < min(longest or MOST_TOKENS, MOST_TOKENS):
        total += task.count(end + 1)
        if total > most:
            break
        end += 1
    return end if most is not None else longest or MOST_TOKENS


def in_threads(
    task: ProofTask, length: int, ranges: list[tuple[int, int]], level: int
) -> Iterator[PartDone]:
    """Answer parts on all cores: NumPy computes outside Python's lock."""
    workers = min(len(ranges), os.cpu_count() or 1)
    if workers < 2:
        yield from (answer_part(task, length, *ends, level) for ends in ranges)
        return
    with ThreadPoolExecutor(workers) as pool:
        todo = iter(ranges)
        waiting = [pool.submit(answer_part, task, length, *ends, level)
                   for ends in islice(todo, 2 * workers)]  # fmt: skip
        while waiting:
            yield waiting.pop(0).result()
            waiting += [pool.submit(answer_part, task, length, *ends, level)
                        for ends in islice(todo, 1)]  # fmt: skip


@dataclass
class InputSearch:
    """A comparison on its way."""

    task: ProofTask
    progress: Progress | None = None
    answer_parts: Parts = in_threads
    lengths: list[LengthResult] = field(default_factory=list)
    wrong: tuple[Atom, ...] | None = None
    failing: int = 0
    undecided: list[tuple[Atom, ...]] = field(default_factory=list)
    radius: float = 0.0
    redone: list[int] = field(default_factory=lambda: [0] * LEVELS)
    level: int = 0
    done: int = 0
    total: int = 0

    def try_all(self, end: int) -> None:
        """Compare every input up to a length; stop after the first difference."""
        start = self.task.adapter.shortest
        self.total = sum(map(self.task.count, range(start, end + 1)))
        for length in range(start, end + 1):
            self.try_length(length)
            if self.wrong is not None:
                return

    def try_length(self, length: int) -> None:
        """Compare all inputs of a length, in few parts at a time: more digits may be needed."""
        size = self.task.rows_at_once(length)
        ranges = list(parts(self.task.count(length), size))
        found: list[PartDone] = []
        while ranges and self.wrong is None:
            some, ranges = ranges[: 2 ** min(len(found), 10)], ranges[2 ** min(len(found), 10) :]
            answered = self.answer_parts(self.task, length, some, self.level)
            for (start, stop), part in zip(some, answered, strict=False):
                found.append(part)
                self._note(part, length, stop - start)
                if self.wrong is not None:
                    break
        self._finish(length, found)

    def try_some(self, end: int, count: int, random: Random) -> None:
        """Compare random inputs of every length up to one, shortest first."""
        task = self.task
        start = max(task.adapter.shortest, task.fixed + (end > task.fixed))
        lengths = sorted(random.randint(start, end) for _ in range(count))
        self.total = count
        for length in dict.fromkeys(lengths):
            drawn = {tuple(random.choices(task.places.tolist(), k=length - task.fixed))
                     for _ in range(lengths.count(length))}  # fmt: skip
            rows = np.array(sorted(drawn), np.int64).reshape(len(drawn), -1)
            if task.fixed:
                first = task.adapter.tokens.index(task.adapter.first)
                rows = np.concatenate([np.full((len(rows), 1), first), rows], axis=1)
            found = []
            for ends in parts(len(rows), task.rows_at_once(length)):
                found.append(answer_places(task, rows[slice(*ends)], self.level))
                self._note(found[-1], length, ends[1] - ends[0])
            self._finish(length, found)
            if self.wrong is not None:
                return

    def _note(self, part: PartDone, length: int, tried: int) -> None:
        self.failing += part.failing
        self.undecided += part.undecided
        self.radius = max(self.radius, part.radius)
        self.redone = [old + new for old, new in zip(self.redone, part.redone, strict=True)]
        self.wrong = self.wrong or part.wrong
        if self.level == 0 and part.redone[0] < sum(part.redone[1:]):
            self.level = 1  # most of these needed more digits, so give them to the next at once
        self.done += tried  # those that keep no promise, too
        if self.progress is not None:
            self.progress(self.done, self.total, length)

    def _finish(self, length: int, found: Sequence[PartDone]) -> None:
        inputs = sum(part.inputs for part in found)
        if not inputs:
            return
        worst = min(found, key=lambda part: part.margin)
        margin = worst.margin if isfinite(worst.margin) else None
        self.lengths.append(LengthResult(length, inputs, margin, worst.worst))


def _comparison(search: InputSearch, model: Model, earned: str, end: int) -> ModelComparison:
    if not search.lengths:
        raise RaspValueError(
            "there is no input on which the program has a value and the promises hold",
            hint="give an alphabet that suits the program, or a greater length",
        )
    difference = None if search.wrong is None else _difference(search.task, search.wrong)
    if search.undecided and earned == PROVED:
        earned = RUN if _runs_right(search) else TESTED
    task, last = search.task, search.lengths[-1]
    return ModelComparison(
        earned if difference is None else DIFFERENT, model.name, model.weights_hash,
        task.program.name,
        task.adapter, task.alphabet, end if difference is None else last.length,
        tuple(search.lengths), difference, search.failing, tuple(search.undecided), search.radius,
        {DIGITS_NAMES[level]: count for level, count in enumerate(search.redone) if count},
        task,
    )  # fmt: skip


DIGITS_NAMES = ("float64", "double-double", "400 bits")
assert len(DIGITS_NAMES) == len(DIGITS)


def _runs_right(search: InputSearch) -> bool:
    """Whether float32 answers the undecided inputs as the program does."""
    task = search.task
    for tokens in search.undecided:
        places = places_of(task, tokens)
        wanted = classes(task.adapter, task.program.answers([tokens]), len(tokens))
        chosen = run_rows(task, places)
        if ((chosen != wanted) & (wanted >= 0)).any():
            return False
    return True


def places_of(task: ProofTask, tokens: tuple[Atom, ...]) -> Any:
    """One input as places among the adapter's tokens."""
    known = {(isinstance(token, str), token): place
             for place, token in enumerate(task.adapter.tokens)}  # fmt: skip
    return np.array([[known[isinstance(token, str), token] for token in tokens]], np.int64)


def _difference(task: ProofTask, tokens: tuple[Atom, ...]) -> ModelDifference:
    """What both say of an input; the model by as many digits as it takes."""
    adapter, length = task.adapter, len(tokens)
    [program] = task.program.answers([tokens])
    places, wanted = places_of(task, tokens), classes(adapter, [program], length)
    if task.runs_only:
        chosen = run_rows(task, places)
    else:
        for level in range(LEVELS):
            found, _ = measure(task, places, wanted, level)
            chosen = adapter.meanings[found.chosen]
            if found.wrong.any():
                break
    answers = [None if one == NOTHING else adapter.answers[one] for one in chosen[0].tolist()]
    start = adapter.ignored if adapter.at == "each" else length - 1
    differ = [start + place for place in np.flatnonzero((chosen != wanted)[0] & (wanted[0] != -1))]
    if not isinstance(program, RaspError):
        program = list(program) if adapter.at == "each" else list(program[-1:])
    return ModelDifference(tokens, answers, program, tuple(map(int, differ)))
