"""How fast the playground follows typing, measured in the browser: `python bench/playground.py`.

Types into the editor and takes the time from each key to the moment the new values are in the
page (after layout), for gallery programs on 20 tokens and on 200; then how soon hostile programs
are told. The load of the machine is told too: other work makes everything slower.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import time
from typing import Any

from playwright.sync_api import sync_playwright

import rasp.teaching.gallery
from rasp.apps.playground.requests import example_text

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-quic",
]  # fmt: skip
PROGRAMS = (
    "hist", "long_addition", "reverse", "dyck1", "sort_tokens", "most_freq", "dyck3",
    "set_inference_four",
)  # fmt: skip
LONG = ("hist", "reverse")
KEYS = 40
HOSTILE = {
    "range(10^9)": ("x = range(10 ^ 9);", "ab"),
    "endless recursion": ("def f(x) { return f(x); }\ny = f(1);", "ab"),
    "100,000 tokens": ("x = tokens;", "a" * 100_000),
    "a long loop": ("x = 3 ^ 8000;\nfor n in range(90000) { y = x % (n + 7); }", "ab"),
}
WATCH = """() => {
  window.times = [];
  window.pressed = 0;
  addEventListener("keydown", () => { window.pressed = performance.now(); }, true);
  new MutationObserver(() => {
    const pressed = window.pressed;
    requestAnimationFrame(() => {
      document.body.offsetHeight;
      window.times.push(performance.now() - pressed);
    });
  }).observe(document.documentElement, { attributes: true, attributeFilter: ["data-shown"] });
}"""


def percentile(times: list[float], part: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def type_into(page: Any, name: str, count: int) -> list[float]:
    """Type a new line at the end of a gallery program, key by key; return the delays."""
    entry = rasp.programs.entry(name)
    tokens = entry.inputs.sample(random.Random(0), count)
    content = page.locator("#editor .cm-content, #editor textarea").first
    content.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(entry.source.text)
    page.fill("#example", example_text(tokens))
    page.wait_for_timeout(600)
    content.click()
    page.keyboard.press("Control+End")
    page.evaluate("() => { window.times = []; }")
    for letter in ("extra = indices + length * 2 - 1; " * 3)[:KEYS]:
        page.keyboard.type(letter)
        page.wait_for_timeout(120)
    times: list[float] = page.evaluate("() => window.times")
    return times


def measure(address: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1360, "height": 850})
        page.goto(address)
        page.wait_for_selector("html[data-shown]")
        page.evaluate(WATCH)
        for name, count in [*((name, 20) for name in PROGRAMS), *((name, 200) for name in LONG)]:
            times = type_into(page, name, count)
            print(
                f"{name:20} {count:3} tokens  {len(times):3} updates"
                f"  median {percentile(times, 0.5):5.0f} ms  p95 {percentile(times, 0.95):5.0f} ms"
                f"  load {os.getloadavg()[0]:.1f}"
            )
        for title, (program, example) in HOSTILE.items():
            answer = "(asked) => fetch('ask/run', {method: 'POST', headers: {'content-type': "
            answer += "'application/json'}, body: JSON.stringify(asked)}).then((a) => a.json())"
            started = time.perf_counter()
            told = page.evaluate(answer, {"program": program, "example": example, "tab": "h"})
            seconds = time.perf_counter() - started
            error = told.get("error") or told.get("example_error") or told["errors"][0]
            print(f"{title:20} {seconds:5.2f} s  {error['message']}")
        browser.close()


def main() -> int:
    process = subprocess.Popen(
        [sys.executable, "-m", "rasp", "play", "--no-browser"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        told = re.search(r"http\S+", process.stdout.readline())
        assert told is not None
        measure(told.group())
    finally:
        process.terminate()
        process.wait(10)
    return 0


if __name__ == "__main__":
    sys.exit(main())
