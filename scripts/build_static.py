"""Build the static edition of the playground: `python scripts/build_static.py FOLDER`.

One folder that any web host can serve: the page, its editor, Python for the browser (Pyodide,
from npm) and RASP's core as a zip. Programs run inside the tab; nothing is sent anywhere.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import zipfile
from pathlib import Path

import build_web
import early_answers

from rasp.apps.playground.flow_pictures import style_sheet
from rasp.insight.drawing import html

PACKAGE = build_web.ROOT / "src" / "rasp"
PYODIDE = build_web.WEB / "node_modules" / "pyodide"
OWN = build_web.WEB / "static_edition"
"""What only the static edition has: answers before Python is there, progress, offline use."""
FETCHED_BY_PYTHON = (
    "pyodide/pyodide.asm.wasm", "pyodide/python_stdlib.zip", "pyodide/pyodide-lock.json",
    "rasp.zip",
)  # fmt: skip
RUNTIME = (
    "pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json",
    "README.md", "package.json",
)  # fmt: skip
LEFT_OUT = (
    "models", "teaching/grading", "teaching/sandbox", "apps/cli", "apps/lsp",
    "apps/notebook", "apps/repl", "apps/playground/static", "language/evaluator/fast",
)  # fmt: skip
"""Folders that the page never asks: front doors, and what needs numpy or torch."""
NEVER_ASKED = ("server.py", "lanes.py", "guard.py")
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
    "connect-src 'self'; worker-src 'self'; img-src 'self' data: blob:; base-uri 'none'; "
    "form-action 'none'"
)


def build(folder: Path, docs: str = "") -> None:
    """Write the whole edition into a folder; `docs` is the way from there to the manual."""
    static = PACKAGE / "apps" / "playground" / "static"
    shutil.copytree(static, folder, dirs_exist_ok=True)
    (folder / "drawing.css").write_text(style_sheet(), encoding="utf-8")
    (folder / "drawing.js").write_text(html.scripts(), encoding="utf-8")
    shutil.copytree(OWN, folder, dirs_exist_ok=True)
    start = {"name": "", "program": "", "edition": "static", "without_editor": "", "docs": docs}
    (folder / "start").write_text(json.dumps(start), encoding="utf-8")
    page = (static / "index.html").read_text(encoding="utf-8")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    page = page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n{policy}')
    style = '<link rel="stylesheet" href="drawing.css">'
    page = page.replace(style, f'{style}\n<link rel="stylesheet" href="loading.css">')
    (folder / "index.html").write_text(page, encoding="utf-8")
    (folder / "pyodide").mkdir(exist_ok=True)
    for name in RUNTIME:
        shutil.copyfile(PYODIDE / name, folder / "pyodide" / name)
    write_core(folder / "rasp.zip")
    first = early_answers.first_program((static / "main.js").read_text(encoding="utf-8"))
    requests = early_answers.requests_at_first(first, early_answers.FIRST_EXAMPLE)
    early_answers.write_answers(folder / "early", requests, version(folder))
    finish(folder)


def version(folder: Path) -> str:
    """Name the code that answers, by its content."""
    return hashlib.sha256((folder / "rasp.zip").read_bytes()).hexdigest()[:16]


def finish(folder: Path) -> None:
    """Write what depends on all other files: Python's size, and what to keep offline."""
    sizes = {"total": sum((folder / name).stat().st_size for name in FETCHED_BY_PYTHON)}
    (folder / "sizes.json").write_text(json.dumps(sizes), encoding="utf-8")
    kept = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md")
    kept = [path for path in kept if path.name != "service-worker.js"]
    digest = hashlib.sha256()
    for path in kept:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    names = ["./", *(path.relative_to(folder).as_posix() for path in kept)]
    script = (OWN / "service-worker.js").read_text(encoding="utf-8")
    script = script.replace("__VERSION__", digest.hexdigest()[:16])
    script = script.replace("__FILES__", json.dumps(names))
    (folder / "service-worker.js").write_text(script, encoding="utf-8")


def write_core(target: Path) -> None:
    """Zip what the page needs of the package; the same files give the same bytes."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as core:
        for path in sorted(PACKAGE.rglob("*")):
            if is_asked(path.relative_to(PACKAGE)):
                entry = zipfile.ZipInfo(f"rasp/{path.relative_to(PACKAGE).as_posix()}")
                entry.compress_type = zipfile.ZIP_DEFLATED
                core.writestr(entry, path.read_bytes())


def is_asked(path: Path) -> bool:
    """Tell whether the page's Python may need a file of the package."""
    if path.suffix not in (".py", ".rasp", ".css", ".js") or path.name in NEVER_ASKED:
        return False
    return not any(path.is_relative_to(folder) for folder in LEFT_OUT)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write it; made if it is not there")
    chosen = parser.parse_args()
    code = build_web.main()
    if code:
        return code
    build(chosen.folder)
    size = sum(path.stat().st_size for path in chosen.folder.rglob("*") if path.is_file())
    print(f"wrote {chosen.folder}, {size / 1e6:.1f} MB: serve it from any web host")
    return 0


if __name__ == "__main__":
    sys.exit(main())
