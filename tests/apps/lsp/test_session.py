"""`rasp lsp` in a raw JSON-RPC session over its pipes, as an editor uses it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="needs the extra `lsp`")

import rasp
import rasp.apps.cli.lsp
from processes import children, wait_until_gone
from rasp.apps.cli import main
from rasp.base.source import Source
from rasp.language.meaning.mistakes import check

from .client import Client, Refused, uri

pytestmark = pytest.mark.slow

PROGRAM = """\
# how often each token occurs
hist = selector_width(select(tokens, tokens, ==));
flip = select(indices, length - 1 - indices, ==);
reverse = aggregate(flip, tokens);
def shifted(seq, by=1) {
    moved = shift(seq, by, "-");
    return moved;
}
"""
EVERYTHING = {"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    client = Client()
    yield client
    assert client.close() == 0


@pytest.fixture
def address(tmp_path: Path) -> str:
    return uri(tmp_path / "demo.rasp")


def text_at(text: str, place: dict[str, Any]) -> str:
    start, end = place["start"], place["end"]
    assert start["line"] == end["line"]
    return text.split("\n")[start["line"]][start["character"] : end["character"]]


def hints(client: Client, address: str) -> dict[int, str]:
    params = {"textDocument": {"uri": address}, "range": EVERYTHING}
    found = client.ask("textDocument/inlayHint", params)
    return {hint["position"]["line"]: hint["label"] for hint in found}


def test_it_says_what_it_can_do(client: Client) -> None:
    wanted = ("hover", "completion", "definition", "references", "rename", "documentFormatting",
              "inlayHint", "documentSymbol")  # fmt: skip
    offered = {feature for feature in wanted
               if client.capabilities.get(f"{feature}Provider") not in (None, False)}  # fmt: skip
    assert offered == set(wanted)


def test_diagnostics_are_what_rasp_check_finds(client: Client, address: str) -> None:
    text = "a = tokns;\nb = not tokens == 1;\nc = 1 / 0;\nsort = 3;\nd = (1 + ;\n"
    client.open(address, text)
    found = client.diagnostics(address)
    errors, warnings = check(Source("demo", text))
    expected = [(each.message, each.hint, each.span) for each in (*errors, *warnings)]
    assert len(expected) == 5
    assert [each["message"] for each in found] == [f"{m}\nhint: {h}" for m, h, _ in expected]
    assert [text_at(text, each["range"]) for each in found] == [
        span.text if span else "" for _, _, span in expected
    ]
    assert [each["severity"] for each in found] == [1] * len(errors) + [2] * len(warnings)
    assert {each["code"] for each in found} == {"name", "value", "syntax", "warning"}


def test_a_mended_program_has_no_diagnostics(client: Client, address: str) -> None:
    client.open(address, "a = tokns;")
    assert len(client.diagnostics(address)) == 1
    client.change(address, "a = tokens;")
    assert client.diagnostics(address) == []


def test_hover_shows_the_value_on_the_running_example_and_the_layer(
    client: Client, address: str
) -> None:
    client.open(address, PROGRAM + 'set example "abca"\nlast = hist;\n')
    said = client.at("hover", address, 1, 2)["contents"]["value"]
    assert 'hist("hello") = [1, 1, 2, 2, 1]' in said
    assert "how often each token occurs" in said
    assert "layer 1" in said and "heads per layer: 2" in said
    assert 'last("abca") = [2, 1, 1, 2]' in client.at("hover", address, 9, 0)["contents"]["value"]
    grid = client.at("hover", address, 3, 20)["contents"]["value"]
    assert "flip" in grid and "h   · · · · 1" in grid and "layer 2" in grid
    assert "costs a head" in client.at("hover", address, 2, 25)["contents"]["value"]
    assert "def shifted(seq, by=1)" in client.at("hover", address, 4, 6)["contents"]["value"]
    assert client.at("hover", address, 0, 0) is None


def test_a_use_shows_the_value_its_name_had_there(client: Client, address: str) -> None:
    client.open(address, "x = indices;\ny = x;\nx = x + 1;\nz = x;\n")
    said = [client.at("hover", address, *place)["contents"]["value"]
            for place in ((1, 4), (2, 0), (2, 4), (3, 4))]  # fmt: skip
    assert [("[0, 1, 2, 3, 4]" in each) for each in said] == [True, False, True, False]
    assert [("[1, 2, 3, 4, 5]" in each) for each in said] == [False, True, False, True]


def test_what_does_not_fit_the_example_is_said_not_hidden(client: Client, address: str) -> None:
    client.open(address, "n = tokens_int + 1;\n")
    assert client.diagnostics(address) == []
    assert "does not fit" in client.at("hover", address, 0, 0)["contents"]["value"]


def test_inlay_hints_give_layers_and_heads_as_the_schedule_does(
    client: Client, address: str
) -> None:
    client.open(address, PROGRAM + "plain = indices + 1;\n")
    names = rasp.run(PROGRAM)
    found = hints(client, address)
    for line, name in ((1, "hist"), (2, "flip"), (3, "reverse")):
        needed = rasp.schedule(names[name])
        layers = f"{needed.layers} layer{'s' * (needed.layers > 1)}"
        assert found[line] == f"{layers} × {needed.width} head{'s' * (needed.width > 1)}"
    assert sorted(found) == [1, 2, 3]


def test_completion_offers_names_in_scope_with_their_documentation(
    client: Client, address: str
) -> None:
    text = PROGRAM + "x = se;\ny = selector_width(flip, );\nh\n"
    client.open(address, text)
    client.diagnostics(address)
    items = {item["label"]: item for item in client.at("completion", address, 8, 6)["items"]}
    assert {"select", "selector_width", "select_best"} <= items.keys()
    assert all(label.startswith("se") for label in items)
    assert "how many keys" in items["selector_width"]["documentation"]["value"]
    assert "assume_bos" in items["selector_width"]["detail"]
    inside = {item["label"] for item in client.at("completion", address, 6, 12)["items"]}
    assert {"moved"} <= inside
    local = {item["label"] for item in client.at("completion", address, 9, 25)["items"]}
    assert {"assume_bos=", "hist", "True"} <= local and "moved" not in local
    first = {item["label"] for item in client.at("completion", address, 10, 1)["items"]}
    assert first == {"hist", "histf", "has_focus", "has_prev", "help"}
    assert client.at("completion", address, 0, 5)["items"] == []


def test_definitions_are_found_here_in_loaded_files_and_in_the_library(
    client: Client, tmp_path: Path
) -> None:
    (tmp_path / "other.rasp").write_text("_own = 1;\nshared = indices;\n", encoding="utf-8")
    main = tmp_path / "main.rasp"
    text = 'load "other";\na = shared;\nb = a + length;\ndef f(p) { return p; }\n'
    client.open(uri(main), text)

    def found(line: int, character: int) -> tuple[str, int, str]:
        (place,) = client.at("definition", uri(main), line, character)
        path = Path(place["uri"].removeprefix("file://"))
        there = text if path == main else path.read_text(encoding="utf-8")
        return path.name, place["range"]["start"]["line"], text_at(there, place["range"])

    assert found(1, 4) == ("other.rasp", 1, "shared")
    assert found(2, 4) == ("main.rasp", 1, "a")
    assert found(3, 18) == ("main.rasp", 3, "p")
    name, _, word = found(2, 8)
    assert (name, word) == ("library.rasp", "length")


def test_a_mistake_in_a_loaded_file_is_shown_where_it_is_loaded(
    client: Client, tmp_path: Path
) -> None:
    (tmp_path / "broken.rasp").write_text("x = 1;\ny = z;\n", encoding="utf-8")
    main = uri(tmp_path / "main.rasp")
    client.open(main, 'a = 1;\nload "broken";\n')
    (found,) = client.diagnostics(main)
    assert "broken.rasp:2:5" in found["message"] and "`z` is not defined" in found["message"]
    assert found["range"]["start"]["line"] == 1
    (there,) = found["relatedInformation"]
    assert there["location"]["uri"] == uri(tmp_path / "broken.rasp")
    assert there["location"]["range"]["start"] == {"line": 1, "character": 4}


def test_saving_a_file_checks_those_that_load_it_again(client: Client, tmp_path: Path) -> None:
    other, main = tmp_path / "late.rasp", uri(tmp_path / "main.rasp")
    client.open(main, 'load "late";\na = shared;\n')
    assert "there is no file" in client.diagnostics(main)[0]["message"]
    client.told.clear()
    other.write_text("shared = indices;\n", encoding="utf-8")
    client.tell("textDocument/didSave", {"textDocument": {"uri": uri(other)}})
    assert client.diagnostics(main) == []
    assert "[0, 1, 2, 3, 4]" in client.at("hover", main, 1, 0)["contents"]["value"]


def test_rename_edits_every_use_or_says_why_not(client: Client, address: str) -> None:
    client.open(address, PROGRAM)
    edits = client.at("rename", address, 2, 0, newName="mirror")["changes"][address]
    assert {text_at(PROGRAM, edit["range"]) for edit in edits} == {"flip"}
    assert [edit["range"]["start"]["line"] for edit in edits] == [2, 3]
    with pytest.raises(Refused, match="is taken"):
        client.at("rename", address, 2, 0, newName="hist")
    with pytest.raises(Refused, match="belongs to the language"):
        client.at("prepareRename", address, 2, 25)
    assert text_at(PROGRAM, client.at("prepareRename", address, 3, 20)) == "flip"


def test_references_and_outline(client: Client, address: str) -> None:
    client.open(address, PROGRAM)
    everywhere = client.at("references", address, 5, 5, context={"includeDeclaration": True})
    assert [place["range"]["start"]["line"] for place in everywhere] == [5, 6]
    outline = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": address}})
    assert [each["name"] for each in outline] == ["hist", "flip", "reverse", "shifted"]


def test_formatting_lays_out_and_leaves_a_broken_text_alone(client: Client, address: str) -> None:
    options = {"tabSize": 2, "insertSpaces": False}
    params = {"textDocument": {"uri": address}, "options": options}
    client.open(address, "a=1;b  = a+1 ; # two")
    (edit,) = client.ask("textDocument/formatting", params)
    assert edit["newText"] == "a = 1;\nb = a + 1; # two\n"
    client.change(address, edit["newText"])
    assert client.ask("textDocument/formatting", params) == []
    client.change(address, "a=(1;")
    assert client.ask("textDocument/formatting", params) is None


def test_characters_beyond_the_basic_plane_are_counted_as_the_protocol_wants(
    client: Client, address: str
) -> None:
    text = 'a = tokens == "𝄞"; b = tokns;\n'
    client.open(address, text)
    (found,) = client.diagnostics(address)
    assert found["range"]["start"]["character"] == text.index("tokns") + 1


def test_an_editor_may_choose_the_encoding_and_the_example(tmp_path: Path) -> None:
    client = Client(encodings=["utf-32"], example=[3, 1, 2])
    address = uri(tmp_path / "demo.rasp")
    text = 'a = tokens == "𝄞"; b = sort(tokens, tokens);\n'
    client.open(address, text)
    assert client.capabilities["positionEncoding"] == "utf-32"
    said = client.at("hover", address, 0, text.index("b ="))["contents"]["value"]
    assert "b([3, 1, 2]) = [1, 2, 3]" in said
    assert client.close() == 0


@pytest.mark.parametrize(
    "text",
    [
        "x = 1;\nfor i in range(100000) { for j in range(100000) { x = x + 1; } }\ny = 2;\n",
        "def f(n) { return f(n + 1); }\nx = f(0);\n",
        "x = range(10 ^ 9);\n",
        "x = [1];\nfor i in range(300) { x = [x, x, x]; }\ny = x == x;\n",
        "x = 9;\nfor i in range(99999) { x = (x * x) % (10 ^ 3900) + x ^ 2; }\n",
        "(" * 5000,
        "x = 1" + " + 1" * 40000 + ";",
        "x = tokens;\nfor i in range(3000) { x = aggregate(select(x, x, ==), x); }\n",
    ],
    ids=["loops", "recursion", "range", "lists", "numbers", "brackets", "sum", "layers"],
)
def test_a_hostile_program_does_not_hang_the_server(
    client: Client, address: str, text: str
) -> None:
    client.open(address, text)
    other = address.replace("demo", "other")
    client.open(other, "a = tokns;")
    assert len(client.diagnostics(other)) == 1
    assert all(each["code"] for each in client.diagnostics(address))
    client.at("hover", address, 0, 0)
    client.change(address, "x = indices;")
    assert client.diagnostics(address) == []
    assert "[0, 1, 2, 3, 4]" in client.at("hover", address, 0, 0)["contents"]["value"]


def test_without_the_extra_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["lsp"]) == 2
    assert '[lsp]"' in capsys.readouterr().err


def test_unknown_documents_and_places_are_no_trouble(client: Client, address: str) -> None:
    assert client.at("hover", address, 3, 3) is None
    assert client.at("definition", address, 3, 3) == []
    client.open(address, "a = 1;")
    assert client.at("hover", address, 99, 99) is None
    client.tell("textDocument/didClose", {"textDocument": {"uri": address}})
    assert client.at("completion", address, 0, 0)["items"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in Linux's /proc")
def test_killing_the_server_leaves_no_worker(tmp_path: Path) -> None:
    client = Client()
    address = uri(tmp_path / "demo.rasp")
    client.open(address, "a = tokns;")
    client.diagnostics(address)
    workers = children(client.process.pid)
    assert workers
    client.process.kill()
    client.process.wait()
    client.reader.join()
    for pipe in (client.process.stdin, client.process.stdout):
        assert pipe is not None
        pipe.close()
    wait_until_gone(workers)


def test_a_message_of_a_promised_size_that_nobody_sends_is_passed_over(tmp_path: Path) -> None:
    client = Client()
    assert client.process.stdin is not None
    for promise in (b"99999999999", b"9" * 5000, b"-1", b"many"):
        client.process.stdin.write(b"Content-Length: " + promise + b"\r\n\r\n")
    client.process.stdin.write(b'{"jsonrpc": "2.0"}\r\n')
    uri = (tmp_path / "it.rasp").as_uri()
    client.open(uri, "x = indices;\n")
    assert (
        client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})[0]["name"] == "x"
    )
    assert client.close() == 0
