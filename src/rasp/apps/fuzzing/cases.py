"""A program and its inputs together: what judges look at, and what a replay file holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from rasp.apps.fuzzing import trees
from rasp.apps.fuzzing.generate import random_program
from rasp.base.atoms import Atom, show_input
from rasp.base.errors import RaspError, RaspValueError
from rasp.base.file_reading import ABSENT, read_json
from rasp.base.file_writing import replace_file, unwritable
from rasp.base.limits import Limits
from rasp.base.source import Source
from rasp.language.graph import Const, Node, Program
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.session import Session
from rasp.language.syntax import print_program
from rasp.language.syntax.tree import Statement

LIMITS = Limits(steps=20_000, graph_size=3_000, list_size=1_000, recursion=40)
MOST_OUTPUTS = 4
LARGEST_REPLAY = 50_000_000
"""Bytes of a replay file."""


@dataclass(frozen=True)
class Elaborated:
    """What a program's text came to: its nodes by name, what is known of them, its mistakes."""

    nodes: dict[str, Node]
    program: Program
    errors: tuple[RaspError, ...]
    session: Session = field(repr=False)


@dataclass(frozen=True)
class Case:
    """A program as a syntax tree, and the inputs that it is applied to."""

    statements: tuple[Statement, ...]
    inputs: tuple[tuple[Atom, ...], ...]
    seed: int = 0
    """What the judges draw their own choices from."""
    shared: dict[str, Any] = field(default_factory=dict, compare=False, repr=False, init=False)
    """What one judge has found out and the next need not."""

    @cached_property
    def text(self) -> str:
        return print_program(self.statements)

    @cached_property
    def elaborated(self) -> Elaborated:
        """Run the program, going on after mistakes."""
        session = Session(LIMITS, Loader(enabled=False))
        _, errors = session.check(Source("<case>", self.text))
        nodes = {name: value for name, value in session.names().items()
                 if isinstance(value, Node) and not isinstance(value, Const)}  # fmt: skip
        program = Program.joined(session.program_of(name) for name in nodes)
        return Elaborated(nodes, program, tuple(errors), session)

    @property
    def outputs(self) -> dict[str, Node]:
        """The last few s-ops, selectors and scorers that the program names."""
        return dict(list(self.elaborated.nodes.items())[-MOST_OUTPUTS:])

    def __str__(self) -> str:
        inputs = ", ".join(show_input(tokens) for tokens in self.inputs)
        return f"{self.text}# on {inputs}"


def random_case(seed: int) -> Case:
    """Make a case from a seed."""
    return Case(*random_program(seed), seed)


def save_replay(path: Path, case: Case, judge: str, detail: str) -> None:
    """Write a replay file in one step."""
    kept = {
        "judge": judge,
        "detail": detail,
        "program": case.text,
        "seed": case.seed,
        "inputs": trees.record(case.inputs),
        "statements": trees.record(case.statements),
    }
    save_json(path, kept)


def save_json(path: Path, data: dict[str, Any]) -> None:
    """Write data to a file in one step; its folder is made where there is none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from None
    replace_file(path, json.dumps(data, indent=1).encode() + b"\n")


def read_replay(path: Path) -> tuple[Case, str]:
    """Read a replay file: the case, and the judge that it is for."""
    try:
        kept = read_json(path, LARGEST_REPLAY)
        statements, inputs = trees.read(kept["statements"]), trees.read(kept["inputs"])
        case = Case(statements, inputs, int(kept["seed"]))
        _check(case)
        return case, str(kept["judge"])
    except ABSENT:
        why = "there is no such file"
    except (ValueError, KeyError, TypeError, RecursionError):
        why = "it is not a replay file"
    raise RaspValueError(
        f"`{path}` cannot be read: {why}", hint="give a file that `rasp fuzz` wrote"
    ) from None


def _check(case: Case) -> None:
    for tokens in case.inputs:
        _check_kinds(tokens, (bool, int, Fraction, str))
    _check_kinds(case.statements, (Statement,))


def _check_kinds(parts: Sequence[object], kinds: tuple[type, ...]) -> None:
    if not isinstance(parts, tuple) or not all(isinstance(part, kinds) for part in parts):
        raise ValueError
