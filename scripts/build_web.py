"""Bundle the playground's editor into the package: `python scripts/build_web.py`.

Needs node and npm. Without the bundle the page has a plain text area instead of CodeMirror.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from rasp.language.words import BUILT_IN_DOCS, KEYWORDS

ROOT = Path(__file__).resolve().parents[1]
WEB = ROOT / "web"
TARGET = ROOT / "src" / "rasp" / "apps" / "playground" / "static" / "bundle" / "editor.js"


def install() -> None:
    """Fetch what the lock file names, unless that was done before."""
    done = WEB / "node_modules" / ".package-lock.json"
    lock = WEB / "package-lock.json"
    if not done.exists() or done.stat().st_mtime < lock.stat().st_mtime:
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=WEB, check=True)


def build() -> Path:
    """Write the bundle; the words it colours are the language's own."""
    words = json.dumps({"keywords": KEYWORDS, "builtins": list(BUILT_IN_DOCS)})
    subprocess.run(["node", "build.mjs", str(TARGET), words], cwd=WEB, check=True)
    return TARGET


def main() -> int:
    if shutil.which("npm") is None or shutil.which("node") is None:
        print("error: node and npm are needed to bundle the editor", file=sys.stderr)
        return 2
    install()
    built = build()
    print(f"wrote {built.relative_to(ROOT)}, {built.stat().st_size // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
