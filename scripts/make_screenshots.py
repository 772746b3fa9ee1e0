"""Take the pictures of docs/screenshots again: `python scripts/make_screenshots.py`.

The playground in Chromium, light and dark, and a program with a mistake in Neovim with `rasp lsp`.
Needs chromium, playwright and what `scripts/site` needs; for the editor, nvim and pyte.
"""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "screenshots"
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

PROGRAM = """\
flip = select(indices, length - 1 - indices, ==);
reverse = aggregate(flip, tokns);
same = select(tokens, tokens, ==);
hist = selector_width(same);
"""
ROWS, COLUMNS = 12, 104
COLOURS = {
    "default": "#1d2129", "brown": "#9a4a06", "red": "#a11a26", "green": "#1f6b2c",
    "blue": "#1b4c97", "magenta": "#6b2fa5", "cyan": "#0b6e75", "black": "#1d2129",
    "white": "#5d6675",
}  # fmt: skip


def playground(browser: Any) -> None:
    """Photograph the playground: the values with a chosen cell, and the flow."""
    import build_static

    from browsing import served

    with tempfile.TemporaryDirectory() as folder:
        build_static.build(Path(folder))
        with served(Path(folder)) as address:
            for scheme in ("light", "dark"):
                size = {"width": 1280, "height": 760}
                page = browser.new_context(viewport=size, color_scheme=scheme).new_page()
                page.goto(address)
                page.locator("table.values tr:has-text('hist') td").nth(2).click()
                page.wait_for_selector("#cell-story strong")
                page.wait_for_selector("#loading", state="detached", timeout=120_000)
                page.screenshot(path=FOLDER / f"playground-{scheme}.png")
                page.close()
            page = browser.new_page(viewport={"width": 1280, "height": 760})
            page.goto(address)
            page.wait_for_selector("table.values td")
            page.click("#tab-flow")
            page.wait_for_selector("#flow svg")
            page.wait_for_selector("#loading", state="detached", timeout=120_000)
            page.screenshot(path=FOLDER / "playground-flow.png")


def neovim(browser: Any) -> None:
    """Photograph Neovim with the language server: a mistake, and what a name is."""
    import pyte

    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "demo.rasp")
        file.write_text(PROGRAM, encoding="utf-8")
        setup = (
            f"lua package.path = '{ROOT}/editors/neovim/?.lua;' .. package.path "
            f"require('rasp').setup({{ command = {{ '{sys.executable}', '-m', 'rasp', 'lsp' }} }})"
        )
        command = ["nvim", "-u", "NONE", "-i", "NONE", "-n", "--cmd", "set laststatus=0 number"]
        child, end = _start([*command, "-c", setup, "-c", f"edit {file}", "+4"], folder)
        try:
            _watch(end, stream, 8)
            os.write(end, b":lua vim.lsp.buf.hover()\r")
            _watch(end, stream, 4)
        finally:
            child.kill()
            child.wait()
    page = browser.new_page(viewport={"width": 930, "height": 260})
    page.set_content(_as_page(screen))
    page.locator("pre").screenshot(path=FOLDER / "neovim.png")


def _start(command: list[str], folder: str) -> tuple[subprocess.Popen[bytes], int]:
    """Start a program in a terminal of its own; return it, and our end of the terminal."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    settings = os.environ | {"TERM": "xterm", "XDG_STATE_HOME": folder}
    child = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=settings, start_new_session=True
    )
    os.close(theirs)
    return child, ours


def _watch(end: int, stream: Any, seconds: float) -> None:
    """Take over what a terminal shows, for some seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if select.select([end], [], [], 0.2)[0]:
            stream.feed(os.read(end, 65536))


def _as_page(screen: Any) -> str:
    """Write a terminal's screen as a page."""
    lines = []
    for row in range(ROWS):
        cells = [screen.buffer[row][column] for column in range(COLUMNS)]
        lines.append("".join(_as_span(cell) for cell in cells))
    style = "font: 14px/1.35 'DejaVu Sans Mono', monospace; padding: 12px; background: #fbfaf7;"
    return f'<body style="margin: 0"><pre style="margin: 0; {style}">{chr(10).join(lines)}</pre>'


def _as_span(cell: Any) -> str:
    ink = COLOURS.get(cell.fg, f"#{cell.fg}")
    paper = "" if cell.bg == "default" else "background: #ece6f4;"
    weight = "font-weight: bold;" if cell.bold else ""
    return f'<span style="color: {ink}; {paper} {weight}">{escape(cell.data)}</span>'


def main() -> int:
    from playwright.sync_api import sync_playwright

    from browsing import CHROMIUM, FLAGS

    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        if sys.argv[1:] != ["neovim"]:
            playground(browser)
        if shutil.which("nvim"):
            neovim(browser)
        browser.close()
    print("\n".join(f"{path} {path.stat().st_size // 1000} kB" for path in FOLDER.iterdir()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
