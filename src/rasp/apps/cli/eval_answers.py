"""What `rasp eval` asks: a program's s-ops and selectors, or the outputs of a compiled model.

Inputs in, for each of them its values by name out, or the error that it ends in.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from rasp.apps.cli.program_files import (
    find_handles,
    read_names,
    run_program,
)
from rasp.base.errors import RaspError, RaspNameError, RaspUnsupportedError
from rasp.language.embedding.handles import Handle
from rasp.language.evaluator import evaluate_outcomes, explain_plan
from rasp.language.graph import Program

if TYPE_CHECKING:
    from rasp.models.compiler import Transformer

Answer: TypeAlias = dict[str, list[Any]] | RaspError


@dataclass(frozen=True)
class ProgramAnswers:
    """S-ops and selectors of a program."""

    handles: dict[str, Handle]

    def answers(self, inputs: Sequence[Any]) -> Iterator[Answer]:
        """Give the values of each input, or its error; the others are computed all the same."""
        nodes = [handle.node for handle in self.handles.values()]
        budgets = next(iter(self.handles.values())).budgets
        for outcome in evaluate_outcomes(nodes, inputs, self._program(), budgets):
            if isinstance(outcome, RaspError):
                yield outcome
            else:
                yield {name: outcome[handle.node] for name, handle in self.handles.items()}

    def plan(self) -> str:
        """Say how long inputs are computed."""
        return explain_plan([handle.node for handle in self.handles.values()], self._program())

    def _program(self) -> Program:
        return Program.joined(handle.program for handle in self.handles.values())


@dataclass(frozen=True)
class ModelAnswers:
    """Outputs of a transformer that `rasp compile` wrote."""

    model: Transformer
    names: list[str]

    def answers(self, inputs: Sequence[Any]) -> Iterator[Answer]:
        for given in inputs:
            try:
                answers = self.model.answers(self.model.token_ids(given)[None])
            except RaspError as error:
                yield error
                continue
            yield {name: answers[name][0] for name in self.names}

    def plan(self) -> str:
        raise RaspUnsupportedError(
            "a compiled model has no plan: it computes all positions at once",
            hint="ask for the plan of the program that it was compiled from",
        )


def find_answers(arguments: argparse.Namespace) -> ProgramAnswers | ModelAnswers:
    """Run the program, or load the model if there is a folder of that name."""
    names = read_names(arguments.name)
    if not os.path.isdir(arguments.file):
        return ProgramAnswers(find_handles(run_program(arguments), names))
    from rasp.models.compiler import load

    model = load(arguments.file)
    outputs = [readout.name for readout in model.readouts]
    for name in names:
        if name not in outputs:
            raise RaspNameError(
                f"the model has no output `{name}`",
                hint=f"it computes {', '.join(f'`{output}`' for output in outputs)}",
            )
    return ModelAnswers(model, names)
