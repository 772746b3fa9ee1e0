"""Whatever forged models some attack has made, `check_model` refuses them, or they are right.

Each test of the older checker's forgeries is run as it is, and whenever it asks that checker about
a model, this one is asked, too: what it accepts must answer right on every input.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import forging
import pytest
import robust_models
from mutants import with_arrays

import models
from models import expected_of, mistakes_in
from rasp.models.certificate import Verdict
from rasp.models.compiler import Transformer

CERTIFICATE = Path(__file__).parents[1] / "certificate"
FILES = [*sorted(path.stem for path in CERTIFICATE.glob("test_forge*.py")), "test_claims"]


def forgeries() -> Iterator[tuple[str, str]]:
    """The tests that ask the checker about a model."""
    for file in FILES:
        module = import_module(file)
        for name, test in inspect.getmembers(module, inspect.isfunction):
            source = inspect.getsource(test)
            if name.startswith("test_") and ("is_refused(" in source or "verdict(" in source):
                yield file, name


@pytest.mark.slow
@pytest.mark.parametrize(("file", "name"), [*forgeries()])
def test_a_forgery_is_refused(file: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def verdict(
        model: Transformer, outputs: Any, arrays: Any = None, claims: Any = None
    ) -> Verdict:
        asked.append(name)
        if robust_models.verdict(model, outputs, arrays, claims).holds:
            held = with_arrays(model, model.weights.arrays() if arrays is None else arrays)
            assert not mistakes_in(held, expected_of(model, outputs))
        return old(model, outputs, arrays, claims)

    old, module = models.verdict, import_module(file)
    for place in (module, forging):
        if hasattr(place, "verdict"):
            monkeypatch.setattr(place, "verdict", verdict)
    test: Callable[..., Any] = getattr(module, name)
    given = arguments(test)
    if given is None:
        pytest.skip("it takes what only pytest gives")
    for some in given:
        test(**some)
    assert asked


def arguments(test: Any) -> list[dict[str, Any]] | None:
    """What a test is run with; None where that is more than lists of values."""
    rows: list[dict[str, Any]] = [{}]
    for mark in (mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"):
        names = mark.args[0]
        listed = [part.strip() for part in names.split(",")] if isinstance(names, str) else [*names]
        values = [value if len(listed) > 1 else (value,) for value in mark.args[1]]
        rows = [row | dict(zip(listed, value, strict=True)) for row in rows for value in values]
    return rows if {*inspect.signature(test).parameters} == {*rows[0]} else None
