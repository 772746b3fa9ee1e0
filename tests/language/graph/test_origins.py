"""Names and places belong to the definition that is asked about, never to a stranger's."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest

import rasp
from rasp.apps.cli import main
from rasp.apps.notebook.cells import Cells
from rasp.apps.repl.conversation import Conversation
from rasp.base.errors import RaspError
from rasp.base.source import Source
from rasp.language.evaluator import apply
from rasp.language.graph import Node, Program, Select, Tokens
from rasp.language.meaning.session import Session
from rasp.language.meaning.value_kinds import Function
from rasp.language.syntax import parse
from rasp.language.syntax.tree import Name, walk
from rasp.language.words import BUILT_IN_DOCS


def failure(text: str, name: str, given: object = "abc") -> RaspError:
    """What goes wrong when a program's name is applied to an input."""
    handle = rasp.run(text, "p.rasp")[name]
    with pytest.raises(RaspError) as caught:
        handle(given)
    return caught.value


def told(error: RaspError) -> tuple[int, str]:
    assert error.span is not None
    return error.span.line, error.span.text


def test_arch_does_not_mention_an_equal_selector_of_another_definition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.rasp").write_text("first = not has_prev(tokens);\na = select(indices, indices, <);\n")
    assert main(["arch", "p.rasp", "a"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "a: 1 layer, heads per layer: 1",
        "",
        "layer  selector  gives",
        "1      a                p.rasp:2",
        "",
        "why 1 layer: one attention needs one layer:",
        "  1  `a`  select(indices, indices, <)  p.rasp:2",
    ]


def test_an_applied_s_op_fails_on_the_line_of_its_own_definition() -> None:
    with pytest.raises(RaspError) as caught:
        rasp.run('a = tokens + 1;\nb = tokens + 1;\nb("abc");', "p.rasp")
    assert str(caught.value) == (
        'error: `+` does not work on a string and an int: "a" + 1 (at position 0 of "abc")\n'
        " --> p.rasp:2:5\n"
        "2 | b = tokens + 1;\n"
        "  |     ^^^^^^^^^^\n"
        "hint: `+` adds two numbers or joins two strings; `tokens_int` reads tokens as numbers"
    )


@pytest.mark.parametrize("length", [3, 3_000], ids=["plain", "fast"])
def test_a_part_fails_where_the_definition_that_was_asked_for_has_written_it(length: int) -> None:
    text = "unused = 1 / indices;\nz = 2 + 1 / indices;\n"
    assert told(failure(text, "z", "a" * length)) == (2, "1 / indices")
    assert told(failure(text, "unused", "a" * length)) == (1, "1 / indices")


def test_a_name_that_means_something_else_now_is_not_given() -> None:
    conversation = Conversation()
    conversation.respond("hist = histf(tokens); hist2 = hist; hist = 3;")
    assert conversation.respond("hist2;").splitlines()[0] == "     s-op: hist2"
    names = rasp.run("x = indices + 1; y = x * 2; x = indices + 5; z = x + y;")
    assert repr(names["z"]) == "<s-op z = x + y>"
    assert repr(names["y"]) == "<s-op y = x * 2>"
    again = rasp.run("x = indices + 1; x = x * 2;")["x"]
    assert repr(again) == "<s-op x = (indices + 1) * 2>"


def test_undo_brings_the_old_definition_back() -> None:
    conversation = Conversation()
    conversation.respond("a = 1 / indices;")
    conversation.respond("a = 2 + 1 / indices;")
    conversation.respond("undo")
    assert "| a = 1 / indices;" in conversation.respond('a("abc");')


def test_the_definitions_a_text_refers_to_follow_its_own() -> None:
    text = "one = 1 / indices;\ntwo = 1 / indices;\na = two + 1;\nb = a * 2;\n"
    assert told(failure(text, "b")) == (2, "1 / indices")
    assert rasp.run(text)["b"].program.names == {
        rasp.run(text)[name].node: name for name in ("b", "a", "two")
    } | dict(Session().library_names)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1 / indices;\nxs = [1 / indices, tokens];\na = xs[0];", 2),
        ("x = 1 / indices;\ndef f(y=1 / indices) { return y; }\na = f();", 2),
        ("x = 1 / indices;\nfor y in [1 / indices] { a = y + 1; }", 2),
        ("for y in [1] {\nx = 1 / indices;\na = 1 / indices;\n}", 3),
        ("x = 1 / indices;\na, b = [1 / indices, 2];", 2),
        ("x = 1 / indices;\na = {1: 1 / indices}[1];", 2),
        ("x = 1 / indices;\na = [1 / i for i in [indices]][0];", 2),
        ("x = 1 / indices;\na = 1 / indices if True else 2;", 2),
        ("x = 1 / indices;\ny = 1 / indices;\ny + 1;\na = out;", 2),
        ("def f(x) { return 1 / x; }\nx = f(indices);\na = 2 + 1 / indices;", 3),
        ("def f(x) { return 1 / x; }\na = f(indices) * (1 /\nindices);", 2),
    ],
)
def test_whatever_carries_a_node_brings_its_origin_along(text: str, line: int) -> None:
    assert told(failure(text, "a"))[0] == line


def test_a_function_that_fails_says_where_it_was_called() -> None:
    text = (
        "def f(x) {\nreturn 1 / x; }\ndef g(x) { return f(x); }\na = f(indices);\nb = g(indices);"
    )
    error = failure(text, "b")
    assert told(error) == (2, "1 / x")
    assert [(name, span.line) for name, span in error.calls] == [("f", 3), ("g", 5)]
    assert [(name, span.line) for name, span in failure(text, "a").calls] == [("f", 4)]


@pytest.mark.parametrize("text", ["tokens[-1]", "tokens[2]", '"a" in tokens', '"a" not in tokens'])
def test_the_head_of_an_expression_that_needs_one_is_cited(text: str) -> None:
    handle = rasp.run(f"x = {text};\n\na = {text};", "p.rasp")["a"]
    for layer in rasp.schedule(handle).layer_list[-1:]:
        for head in layer.heads:
            for aggregate in head.aggregates:
                assert handle.program.origins[aggregate].line == 3
    assert "p.rasp:3" in str(rasp.explain(handle))


def test_a_cell_of_a_notebook_cites_itself() -> None:
    cells, names = Cells(), {}
    text = "selector_width(select(tokens, tokens, ==), assume_bos=True);"
    cells.run(Source("In[1]", f"other = {text}"), names)
    cells.run(Source("In[2]", f"hist_bos = {text}"), names)
    told = str(rasp.explain(names["hist_bos"]))
    assert "hist_bos  In[2]:1" in told
    assert "In[1]" not in told
    assert "other" not in told


def test_a_compiled_model_calls_parts_as_its_own_definition_does() -> None:
    pytest.importorskip("numpy")
    text = "other = indices + 1; mine = indices + 1; last = mine * 2;"
    model = rasp.compile(rasp.run(text)["last"], alphabet="ab", max_length=3)
    assert "other" not in str(model.description)
    assert "other" not in json.dumps(model.graph)
    assert "mine" in json.dumps(model.graph)


def test_a_loaded_file_keeps_its_own_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.rasp").write_text("\n\n_hidden = 1 / indices;\nfound = _hidden + 1;\n")
    error = failure('mine = 1 / indices;\nload "other";\n', "found")
    assert error.span is not None
    assert (error.span.source.name, error.span.line) == ("other.rasp", 3)


def test_python_handles_fail_on_their_own_lines() -> None:
    other = 1 / rasp.indices
    one = 1 / rasp.indices + 2
    with pytest.raises(RaspError) as caught:
        one("abc")
    assert caught.value.span is not None
    assert caught.value.span.source.line_text(caught.value.span.line).strip().startswith("one =")
    assert other.node in one.program.origins


def test_several_outputs_are_explained_together() -> None:
    names = rasp.run("x = 1 / indices;\na = 1 / indices;\nb = indices + 1;", "p.rasp")
    program = Program.joined([names["b"].program, names["a"].program])
    assert {program.names[names[name].node] for name in "ab"} == {"a", "b"}
    with pytest.raises(RaspError) as caught:
        rasp.evaluate({"b": names["b"], "a": names["a"]}, ["abc"])
    assert told(caught.value)[0] == 2


# Library functions that are called wrongly

LIBRARY = {
    name: value for name, value in Session().library.names.items() if isinstance(value, Function)
}
VALUES = ("tokens", "indices", "full_s", "score(indices, 1)", "[1]", "{1: 2}", "sort", '"a"', "3")
RIGHT = {"sel": "select(tokens, tokens, ==)", "default": "0", "assume_bos": "False"}
SIGNS = ("or", "and", "not", "<", "<=", ">", ">=", "==", "!=", "+", "-", "*", "/", "%", "^", "in",
         "if", "indicator", "round", "aggregate", "select", "at")  # fmt: skip


def calls(function: Function) -> list[str]:
    """Calls with one or two arguments that may be wrong, the others right."""
    right = [RIGHT.get(parameter, "indices") for parameter in function.parameters]
    texts = []
    for places in itertools.chain(
        itertools.combinations(range(len(right)), 1), itertools.combinations(range(len(right)), 2)
    ):
        for values in itertools.product(VALUES, repeat=len(places)):
            given = list(right)
            for place, value in zip(places, values, strict=True):
                given[place] = value
            texts.append(f"{function.name}({', '.join(given)})")
    return texts


def inner_words(function: Function) -> set[str]:
    """The names that a library function's body gives to its parts."""
    used = {node.name for statement in function.body for node in walk(statement)
            if isinstance(node, Name)}  # fmt: skip
    return used - set(function.parameters) - set(BUILT_IN_DOCS) - {"True", "False"}


def check_words(error: RaspError, name: str, call: str) -> None:
    function = LIBRARY[name]
    assert error.span is not None
    assert error.span.source.name == "<input>", str(error)
    assert error.span.text in call, str(error)
    assert error.message.startswith(f"`{name}` "), str(error)
    quoted = set(re.findall(r"`([^`]*)`", error.message))
    assert not quoted & set(SIGNS), str(error)
    assert "library" not in str(error)
    assert not error.calls
    outside = set(re.findall(r"\w+", str(error))) - set(re.findall(r"\w+", call))
    assert not (inner_words(function) - {"length", "full_s"}) & outside, str(error)


@pytest.mark.parametrize("name", LIBRARY)
def test_a_library_function_called_wrongly_speaks_of_what_the_user_wrote(name: str) -> None:
    for call in calls(LIBRARY[name]):
        _, errors = Session().check(Source("<input>", f"x = {call};"))
        for error in errors:
            check_words(error, name, call)


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARY)
def test_a_library_function_that_fails_on_an_input_speaks_of_itself(name: str) -> None:
    for call in calls(LIBRARY[name])[::3]:
        session = Session()
        _, errors = session.check(Source("<input>", f"x = {call};"))
        if errors or not isinstance(session.find("x"), Node):
            continue
        for given in ("abc", [3, 1]):
            try:
                apply(session.find("x"), given, session.program_of("x"))
            except RaspError as error:
                check_words(error, name, call)


def test_selector_width_of_an_s_op() -> None:
    with pytest.raises(RaspError) as caught:
        rasp.run("selector_width(tokens);", "p.rasp")
    assert str(caught.value) == (
        "error: `selector_width` takes a selector, but `tokens` is an s-op\n"
        " --> p.rasp:1:16\n"
        "1 | selector_width(tokens);\n"
        "  |                ^^^^^^\n"
        "hint: make one with `select(keys, queries, ==)`"
    )


def test_the_names_of_library_parameters_say_their_kinds() -> None:
    """Where a parameter is a selector, it is called `sel`: messages rely on it."""
    for name, function in LIBRARY.items():
        right = ", ".join(RIGHT.get(each, "indices") for each in function.parameters)
        assert not Session().check(Source("<input>", f"x = {name}({right});"))[1], name


def test_every_definition_is_a_statement_of_its_own() -> None:
    session = Session()
    text = "a = indices + 1;\nb = indices + 1;\nc = [a, b];\n"
    session.run(Source("p.rasp", text))
    statements = parse(Source("p.rasp", text))
    for name, statement in zip("abc", statements, strict=True):
        [definition] = session.program_of(name).definitions
        for origin in definition.made.values():
            assert statement.span.start <= origin.span.start <= statement.span.end


def test_words_of_the_program_explain_better_than_a_library_call_that_is_nearer() -> None:
    program = rasp.run("""same = select(tokens, tokens, ==);
        hist = selector_width(same);
        first = not has_prev(tokens);
        both = hist == 1 and first;
    """)["both"].program
    assert program.origins[Select(Tokens(), Tokens(), "==")].line == 1
