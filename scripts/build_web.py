"""Bundle the playground's editor into the package: `python scripts/build_web.py`.

Needs node and npm. Without the bundle the page has a plain text area instead of CodeMirror. An
installation does the same by itself (`scripts/bundle_hook.py`).
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
        command = ["npm", "ci", "--no-audit", "--no-fund", "--fetch-retries=1"]
        subprocess.run([*command, "--fetch-timeout=30000"], cwd=WEB, check=True)


def build() -> Path:
    """Write the bundle; the words it colours are the language's own."""
    words = json.dumps({"keywords": KEYWORDS, "builtins": list(BUILT_IN_DOCS)})
    subprocess.run(["node", "build.mjs", str(TARGET), words], cwd=WEB, check=True)
    return TARGET


def is_current() -> bool:
    """Tell whether the bundle is there, and newer than what it is made of."""
    words = ROOT / "src" / "rasp" / "language"
    sources = [*WEB.glob("*.*"), words / "words.py", *(words / "operators").glob("*.py")]
    newest = max(source.stat().st_mtime for source in sources)
    return TARGET.exists() and TARGET.stat().st_mtime >= newest


def why_not_built() -> str:
    """Bundle the editor unless that was done; say what is missing where it cannot be done."""
    if is_current():
        return ""
    if shutil.which("npm") is None or shutil.which("node") is None:
        return "node and npm are not installed"
    try:
        install()
        build()
    except (OSError, subprocess.CalledProcessError) as error:
        return str(error)
    return ""


def main() -> int:
    reason = why_not_built()
    if reason:
        print(f"error: the editor was not bundled: {reason}", file=sys.stderr)
        return 2
    print(f"{TARGET.relative_to(ROOT)}, {TARGET.stat().st_size // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
