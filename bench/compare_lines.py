"""Two source trees in, how many lines of the compiler the same work takes in each, out.

`python bench/compare_lines.py BEFORE/src src` compiles every program that the galleries of both
trees hold, in the compact style at one length, over its own vocabulary: with a sink and without,
causal, and with split heads; each model is saved, loaded and verified. What is counted are lines of
code (no docstrings, comments or blank lines, and no imports) of functions that were called, and
what is outside functions in files that have one of these. So features that only one of the
trees has do not count, unless the work goes through them.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import json
import os
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compare_trees import names_of, vocabulary_of

FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef
SILENT = (
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
)  # fmt: skip
VARIANTS: tuple[dict[str, Any], ...] = (
    {}, {"sink": False}, {"causal": True}, {"heads": "split"},
)  # fmt: skip


def work(names: list[str], length: int) -> set[tuple[str, int]]:
    """Compile with the `rasp` that is on the path; return the file and line of what was called."""
    import rasp.teaching.gallery
    from rasp.base.errors import RaspError
    from rasp.models.compiler import compile, load, verify
    from rasp.teaching.gallery.gallery_inputs import BOS

    folder = os.path.join(os.path.dirname(rasp.__file__), "compiler")
    called: set[Any] = set()
    styles = {"style": "compact"} if "style" in inspect.signature(compile).parameters else {}
    sys.settrace(lambda frame, event, argument: called.add(frame.f_code))
    for name in names:
        entry, handle = rasp.programs.entry(name), rasp.programs.load(name)
        tokens, bos = vocabulary_of(entry, length, BOS), BOS if BOS in entry.inputs.before else None
        for variant in VARIANTS:
            options: dict[str, Any] = {**styles, **variant}
            try:
                model = compile(handle, vocabulary=tokens, max_length=length, bos=bos, **options)
            except RaspError:
                continue
            with tempfile.TemporaryDirectory() as place:
                model.save(place)
                load(place)
                verify(place)
    sys.settrace(None)
    return {(os.path.relpath(code.co_filename, folder), code.co_firstlineno) for code in called
            if code.co_filename.startswith(folder + os.sep)}  # fmt: skip


def code_lines(text: str, tree: ast.Module) -> set[int]:
    """The lines that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(
            node.value.value, str
        ):  # fmt: skip
            lines -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    return lines


def functions_in(tree: ast.AST) -> Iterator[tuple[int, int, int]]:
    """The first line, that of `def`, and the last line of each function that is in no other."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, FUNCTIONS):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield first, node.lineno, node.end_lineno or 0
        else:
            yield from functions_in(node)


def count(folder: Path, called: set[tuple[str, int]]) -> dict[str, int]:
    """For each file, how many of its lines the work needs."""
    counts = {}
    for path in sorted(folder.rglob("*.py")):
        own = {line for name, line in called if name == str(path.relative_to(folder))}
        tree = ast.parse(text := path.read_text())
        lines = code_lines(text, tree)
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                lines -= set(range(node.lineno, (node.end_lineno or 0) + 1))
        functions = list(functions_in(tree))
        for first, define, last in functions:
            if not own & {first, define}:
                lines -= set(range(first, last + 1))
        if any(own & {first, define} for first, define, _ in functions):
            counts[str(path.relative_to(folder))] = len(lines)
    return counts


def measured(source: Path, names: list[str], length: int) -> dict[str, int]:
    """How many lines of a tree's compiler the work needs, by file."""
    done = subprocess.run(
        [sys.executable, __file__, "--work", *names, "--length", str(length)],
        env={**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    called = {(name, line) for name, line in json.loads(done.stdout.splitlines()[-1])}
    return count(source / "rasp" / "models" / "compiler", called)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="*", type=Path)
    parser.add_argument("--work", nargs="*")
    parser.add_argument("--names", nargs="*")
    parser.add_argument("--length", type=int, default=6)
    arguments = parser.parse_args()
    if arguments.work is not None:
        print(json.dumps(sorted(work(arguments.work, arguments.length))))
        return
    trees = [tree.resolve() for tree in arguments.trees]
    names = arguments.names or sorted(set.intersection(*map(names_of, trees)))
    for tree in trees:
        lines = measured(tree, names, arguments.length)
        print(f"{sum(lines.values())} lines in {tree}, {len(names)} programs")
        for name, number in sorted(lines.items(), key=lambda item: -item[1]):
            print(f"  {number:5} {name}")


if __name__ == "__main__":
    main()
