"""Bugs planted on purpose, one in each part: a short campaign finds each, and makes it small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
import pytest

from rasp.apps.fuzzing.campaign import fuzz
from rasp.apps.fuzzing.cases import read_replay
from rasp.apps.fuzzing.judges import find_judge, verdict
from rasp.insight.schedule import problem
from rasp.language.evaluator.fast import evaluate
from rasp.language.evaluator.fast.workspace import Batch
from rasp.language.graph import Aggregate, Program
from rasp.language.graph.origins import Definition
from rasp.language.meaning.notes import Notes
from rasp.language.syntax import expressions
from rasp.language.words import BINDING, SUM
from rasp.models.compiler import compact
from rasp.models.compiler.model.transformer import Transformer

pytestmark = pytest.mark.slow

SECONDS = 120
Plant = Callable[[pytest.MonkeyPatch], None]


def parser(patch: pytest.MonkeyPatch) -> None:
    """`%` binds as loosely as `+`."""
    patch.setattr(expressions, "BINDING", {**BINDING, "%": SUM})


def fast_evaluator(patch: pytest.MonkeyPatch) -> None:
    """The default of an aggregate is forgotten."""
    aggregated = evaluate.aggregated

    def forgetful(node: Aggregate, *rest: object) -> object:
        return aggregated(Aggregate(node.selector, node.values, 0), *rest)

    patch.setattr(evaluate, "aggregated", forgetful)


def schedule(patch: pytest.MonkeyPatch) -> None:
    """Selectors are taken for equal where they only look alike: `<` and `<=`."""
    normal_forms = problem.normal_forms

    def blurred(selectors: list) -> dict:
        forms = normal_forms(selectors)
        return {each: str(type(each)) + str(getattr(each, "op", form)).replace("<=", "<")
                for each, form in forms.items()}  # fmt: skip

    patch.setattr(problem, "normal_forms", blurred)


def compiler(patch: pytest.MonkeyPatch) -> None:
    """A rewriting before the plan turns an aggregate's default into 0, so certificates hold."""
    make_plan = compact.make_plan

    def rewritten(nodes: dict, *rest: object) -> object:
        changed = {name: Aggregate(node.selector, node.values, 0)
                   if isinstance(node, Aggregate) and not isinstance(node.default, str) else node
                   for name, node in nodes.items()}  # fmt: skip
        return make_plan(changed, *rest)

    patch.setattr(compact, "make_plan", rewritten)


def compiled_run(patch: pytest.MonkeyPatch) -> None:
    """A model's answers are mixed up where it is given several inputs at once."""
    run = Transformer.run

    def rolled(self: Transformer, ids: np.ndarray, *rest: object) -> np.ndarray:
        found = run(self, ids, *rest)
        return np.roll(found, 1, axis=0) if len(ids) > 2 else found

    patch.setattr(Transformer, "run", rolled)


def export(patch: pytest.MonkeyPatch) -> None:
    """An exported module has its query biases forgotten."""
    torch_target = pytest.importorskip("rasp.models.export.torch_target", exc_type=ImportError)
    files_of = torch_target.files_of

    def forgetful(*given: object) -> tuple:
        config, state = files_of(*given)
        return config, {name: 0 * array if name.endswith("query.bias") else array
                        for name, array in state.items()}  # fmt: skip

    patch.setattr(torch_target, "files_of", forgetful)


def batching(patch: pytest.MonkeyPatch) -> None:
    """Positions are counted on through a batch from its third input on."""
    indices = Batch.indices.func

    def counted(self: Batch) -> np.ndarray:
        found = indices(self)
        return found if self.numbers is None else found + (self.numbers == 2)

    patch.setattr(Batch, "indices", property(counted))


def origins(patch: pytest.MonkeyPatch) -> None:
    """All statements of a program share one definition: the first place and name win."""
    shared = WeakKeyDictionary()

    def one_for_all(self: Notes) -> Definition:
        return shared.setdefault(self, Definition())

    patch.setattr(Notes, "new_definition", one_for_all)


def hidden_names(patch: pytest.MonkeyPatch) -> None:
    """A name that was bound again still names what it was bound to first."""

    def never_hides(self: Program) -> dict:
        return {node: name for definition in reversed(self.nearest_first)
                for name, node in definition.names.items() if node.needs}  # fmt: skip

    patch.setattr(Program, "names", property(never_hides))


@pytest.mark.parametrize(
    ("plant", "judge"),
    [
        (parser, "fuzzing.judge_text:judge_parser"),
        (fast_evaluator, "fast"),
        (schedule, "schedule"),
        (compiler, "compiled"),
        (compiled_run, "compiled"),
        (export, "exported"),
        (batching, "batch"),
        (origins, "fuzzing.judge_origins:judge_origins"),
        (hidden_names, "fuzzing.judge_origins:judge_origins"),
    ],
    ids=lambda part: part.__name__ if callable(part) else "",
)
def test_a_planted_bug_is_found_and_made_small(
    plant: Plant, judge: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patch:
        plant(patch)
        found = fuzz(SECONDS, 7, [judge], tmp_path, most_programs=400, most_failures=1)
        assert found.failures, f"not found in {found.programs} programs"
        failure = found.failures[0]
        assert len(failure.case.text) < 250, failure.case
        case, named = read_replay(Path(failure.replay))
        assert named == judge
        assert verdict(find_judge(judge), case).is_failure
    assert not verdict(find_judge(judge), replace(case)).is_failure, "only the bug is at fault"
