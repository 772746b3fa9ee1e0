"""How long a visitor of the static edition waits: `python bench/static_edition.py [FOLDER]`.

Serves the folder (default: site/playground, as `scripts/site` builds it) from this machine and
visits it twice in one browser: until the first values are there, and until those of a changed
example are.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from playwright.sync_api import sync_playwright  # noqa: E402

from browsing import CHROMIUM, FLAGS, served  # noqa: E402

PATIENCE = 120_000


def main(folder: Path) -> None:
    with (
        served(folder) as address,
        sync_playwright() as playwright,
        tempfile.TemporaryDirectory() as profile,
    ):
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=CHROMIUM, args=FLAGS
        )
        for visit in (1, 2):
            page = context.new_page()
            began = time.perf_counter()
            page.goto(address)
            page.wait_for_selector("table.values tr:has-text('hist') td", timeout=PATIENCE)
            first = time.perf_counter() - began
            page.fill("#example", "abab")
            page.wait_for_selector("#example-note:text-is('4 tokens')", timeout=PATIENCE)
            changed = time.perf_counter() - began
            load = Path("/proc/loadavg").read_text().split()[0]
            print(
                f"visit {visit}: first values {first:.1f} s, changed {changed:.1f} s, load {load}"
            )
            page.wait_for_timeout(5000)  # the service worker keeps everything
            page.close()
        context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "site" / "playground")
