"""The gallery's files: what they say of themselves is true, and they are formatted."""

from __future__ import annotations

import pytest

import rasp
from rasp.apps.cli.check import check
from rasp.base.source import Source
from rasp.insight.schedule import schedule
from rasp.language.syntax import parse, print_program
from rasp.teaching.gallery import entries, entry, families, load, names, source
from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.expectations import read_expectations
from rasp.teaching.testing import check_program

pytestmark = pytest.mark.slow

EVERY = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)

# The paper's table of layers and heads, and what it says of Dyck-k without select_best.
PAPER = {
    "reverse": (1, 1),
    "hist_bos": (1,),
    "hist": (2,),
    "double_hist_bos": (2, 1),
    "sort_bos": (1, 1),
    "most_freq": (2, 1, 1),
    "dyck1": (1, 1),
    "dyck2": (1, 1, 1),
    "dyck2_pure": (1, 2, 1, 1),
    "dyck3_pure": (1, 2, 1, 1),
    "dyck_k": (1, 1, 1),
    "shuffle_dyck": (2, 2),
    "shuffle_dyck_best": (1, 2),
}


def test_every_file_has_an_entry_and_every_entry_a_file() -> None:
    named = [each.name for each in entries()]
    assert len(named) == len(set(named))
    assert sorted(named) == sorted(names())
    assert len(named) >= 120


def test_families_hold_every_program_once() -> None:
    assert [each for members in families().values() for each in members] == list(entries())


@EVERY
def test_the_answers_in_the_file_hold(entry: Entry) -> None:
    report = check_program(entry.source)
    assert not report.failures and report.held > 1, "an answer and the heads at least"


@EVERY
def test_the_heads_in_the_file_hold(entry: Entry) -> None:
    found = schedule(load(entry.name))
    assert found.heads_per_layer == entry.heads_per_layer
    assert found.layers == entry.layers
    assert found.exact


@pytest.mark.parametrize("name", PAPER)
def test_the_paper_s_tasks_have_the_paper_s_size(name: str) -> None:
    assert entry(name).heads_per_layer == PAPER[name]


@EVERY
def test_printing_and_running_again_gives_the_same_graph(entry: Entry) -> None:
    printed = print_program(parse(entry.source))
    assert printed == entry.source.text, f"lay it out with `rasp fmt`: {entry.name}"
    again = rasp.run(printed, entry.source.name)[entry.name]
    assert again.node is load(entry.name).node


@EVERY
def test_there_is_nothing_to_warn_of(entry: Entry) -> None:
    errors, warnings = check(entry.source)
    assert not errors
    assert [warned.message for warned in warnings] == []


@EVERY
def test_the_file_says_what_it_computes_and_on_what(entry: Entry) -> None:
    comments = [line for line in entry.source.text.splitlines() if line.startswith("# ")]
    assert entry.summary[-1] in ".?!…"
    assert any(line.startswith("# Input: ") for line in comments)
    assert max(map(len, comments)) <= 100
    assert list(entry.expectations.heads) == [entry.name]
    assert entry.inputs.accepts(list(entry.example))


def test_an_answer_that_does_not_hold_is_reported() -> None:
    text = 'double = indices * 2;\ndouble("ab"); #> [0, 3]\ndouble("a"); #> [0]\n'
    [failure] = check_program(Source("demo", text)).failures
    assert (failure.about, failure.expected, failure.got) == ('double("ab")', "[0, 3]", "[0, 2]")


def test_a_file_without_an_example_says_so() -> None:
    with pytest.raises(rasp.RaspValueError, match="shows no example"):
        _ = read_expectations(Source("demo", "double = indices * 2;")).example


def test_a_program_can_be_loaded_and_read() -> None:
    assert load("sort_descending")([1, 3, 2]) == [3, 2, 1]
    assert "sort(tokens, -tokens)" in source("sort_descending")
    assert entry("sort_descending").example == [3, 1, 4, 1, 5]


@pytest.mark.parametrize(("name", "hint"), [("revers", "`reverse`"), ("x" * 30, "gallery list")])
def test_a_name_that_is_not_there_is_an_error_with_a_hint(name: str, hint: str) -> None:
    for look_up in (load, source, entry):
        with pytest.raises(rasp.RaspNameError) as caught:
            look_up(name)
        assert hint in str(caught.value)
