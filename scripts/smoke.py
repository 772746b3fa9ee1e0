"""`python smoke.py FOLDER PART…`: does an installed rasp answer? A part is `base` or an extra.

Runs under the Python of the environment in question, in an empty folder, and uses nothing but
what is installed there. Prints one line for each thing that works; the first that does not ends it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

PROGRAM = "hist = selector_width(select(tokens, tokens, ==));\n"
HIST = "[1, 1, 2, 2, 1]"
SCRIPT = Path(sys.executable).with_name("rasp")
EXTRAS_NEEDED = {"play": "play", "lsp": "lsp", "train it.rasp hist": "models"}
TARGETS = {
    "models": "torch",
    "onnx": "onnx",
    "transformers": "hf-bert",
    "transformer-lens": "transformer-lens",
}


def rasp(words: str, given: str = "", status: int = 0) -> str:
    """Run a command; return what it printed. Warnings are errors."""
    done = subprocess.run(
        [str(SCRIPT), *words.split()], input=given, capture_output=True, text=True,
        env=os.environ | {"PYTHONWARNINGS": "error:::rasp"},
    )  # fmt: skip
    printed = done.stdout + done.stderr
    assert done.returncode == status, f"rasp {words}: {done.returncode}\n{printed}"
    assert "Traceback" not in printed, printed
    return printed


def says(text: str, expected: str) -> None:
    """Check that something is said."""
    assert expected in text, f"expected {expected!r} in:\n{text}"


def base() -> None:
    """The package alone."""
    import rasp as package

    home = Path(package.__file__ or "")
    assert home.is_relative_to(sys.prefix), f"{home} is not what was installed in {sys.prefix}"
    assert (home.parent / "py.typed").exists()
    told = f"rasp {version('rasp-lang')}"
    assert told == f"rasp {package.__version__}" == rasp("--version").strip()
    module = [sys.executable, "-m", "rasp", "--version"]
    says(subprocess.run(module, capture_output=True, text=True, check=True).stdout, told)
    says(rasp("eval it.rasp hist hello"), HIST)
    says(rasp("eval it.rasp hist --json", "hello\n"), HIST)
    says(rasp("arch it.rasp hist"), "1 layer, heads per layer: 2")
    says(rasp("check it.rasp"), "no mistakes")
    says(rasp("fmt --stdout it.rasp"), "hist = ")
    says(rasp("draw it.rasp hist hello"), "hist")
    says(rasp("", "1 + 1;\nexit\n"), "2")
    says(rasp("compile it.rasp hist --alphabet ab --max-length 4 -o model"), "exact")
    says(rasp("verify model"), "exact")
    says(rasp("gallery check reverse"), "0 of them wrong")
    says(rasp("diff it.rasp hist it.rasp hist"), "the same on every input")
    assert package.run(PROGRAM)["hist"]("hello" * 50)[0] == 50
    for words, extra in EXTRAS_NEEDED.items():
        needed = {"play": "starlette", "lsp": "pygls", "models": "torch"}[extra]
        if find_spec(needed) is None:
            says(rasp(words, status=2), f"[{extra}]")


def schedule() -> None:
    from rasp.insight.schedule.exact import solver_is_installed

    assert solver_is_installed()
    says(rasp("arch it.rasp hist --json"), '"exact": true')


def draw() -> None:
    rasp("draw it.rasp hist hello -o it.png")
    assert Path("it.png").read_bytes().startswith(b"\x89PNG")
    rasp("draw it.rasp hist hello -o it.pdf")
    assert Path("it.pdf").read_bytes().startswith(b"%PDF")


def notebook() -> None:
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    for cell in ("%load_ext rasp", f"%%rasp\n{PROGRAM}", "answer = hist('hello')"):
        shell.run_cell(cell).raise_error()
    assert str(shell.user_ns["answer"]) == HIST


def play() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it may be ignored
    server = subprocess.Popen(
        [str(SCRIPT), "play", "--no-browser"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        found = re.search(r"http\S+", server.stdout.readline())
        assert found
        browser = build_opener(HTTPCookieProcessor())  # the token becomes a cookie
        with browser.open(found.group()) as page:
            says(page.read().decode().lower(), "<!doctype html>")
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait() == 130


def lsp() -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
    body = json.dumps(asked)
    server = subprocess.Popen([str(SCRIPT), "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
        server.stdin.flush()
        length = int(re.findall(rb"Content-Length: (\d+)", server.stdout.readline())[0])
        while server.stdout.readline().strip():
            pass
        says(server.stdout.read(length).decode(), "hoverProvider")
    finally:
        server.kill()
        server.wait()


def export(extra: str) -> None:
    target = TARGETS[extra]
    if not Path("model").exists():
        rasp("compile it.rasp hist --alphabet ab --max-length 4 -o model")
    rasp(f"export model --to {target} -o exported-{target}")
    assert (Path(f"exported-{target}") / "rasp.json").exists()


def models() -> None:
    export("models")
    small = "--alphabet ab --max-length 4 --epochs 1 --train 50 --validation 50 --test 50"
    says(rasp(f"train it.rasp hist {small} --width 16 --results runs --device cpu"), "token")


def cluster() -> None:
    from rasp.models.training.sweep_cluster import Cluster  # noqa: F401


def docs() -> None:
    subprocess.run([sys.executable, "-m", "zensical", "--version"], check=True)


CHECKS: dict[str, Callable[[], None]] = {
    "base": base, "schedule": schedule, "draw": draw, "notebook": notebook, "play": play,
    "lsp": lsp, "models": models, "cluster": cluster, "docs": docs,
    **{extra: lambda extra=extra: export(extra) for extra in TARGETS if extra != "models"},
}  # fmt: skip


def main() -> None:
    folder, *parts = sys.argv[1:]
    os.chdir(folder)
    Path("it.rasp").write_text(PROGRAM)
    for name in parts:
        CHECKS[name]()
        print(f"{name} answers")


if __name__ == "__main__":
    main()
