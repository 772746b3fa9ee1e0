"""Build the docs site into site/ and look for what should not be in it.

Gathers `docs/`, the contributing guide and the changelog in build/docs, has zensical build them
with warnings as errors, and then reads every built page: nothing may be fetched from elsewhere,
and every link inside the site must lead somewhere. With `--playground` (`scripts/site`), the static
edition is in site/playground, and every RASP snippet has a link that opens it there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import generated_pages
import not_found
import playground_links
import search_words

from rasp.base.file_writing import replacing_folder

ROOT = Path(__file__).parents[1]
GATHERED = ROOT / "build" / "docs"
SITE = ROOT / "site"
FETCHED = {
    "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src",
    "audio": "src", "embed": "src", "object": "data", "link": "href", "use": "href",
}  # fmt: skip
"""Elements that make a browser fetch something, and the attribute that says what."""
NOT_FETCHED = {"canonical", "alternate", "prev", "next", "license", "author"}
FETCHING_STYLE = re.compile(r"""(?:@import\s*|url\(\s*)["']?((?:https?:)?//[^"')]+)""")


def main(with_playground: bool = False) -> int:
    gather(with_playground)
    config = GATHERED.parent / "zensical.toml"
    left_out = write_config(config)
    for page in left_out:
        sys.stdout.write(f"not written yet, left out of the menu: {page}\n")
    shutil.rmtree(SITE, ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f", str(config)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    sys.stdout.write(built.stdout + built.stderr)
    if (config.parent / "site").is_dir():
        (config.parent / "site").rename(SITE)
    if built.returncode or re.search(r"\bwarning\b", built.stdout + built.stderr, re.IGNORECASE):
        return 1
    if with_playground:
        add_playground()
    finish()
    faults = [*outside_requests(SITE), *dead_links(SITE)]
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    count = len(list(SITE.rglob("*.html")))
    sys.stdout.write(f"{count} pages, {len(faults)} faults\n")
    return 1 if faults or not count else 0


def gather(with_playground: bool = False) -> None:
    """Put every page in one folder, links between them corrected, and links to the playground."""
    shutil.rmtree(GATHERED, ignore_errors=True)
    shutil.copytree(ROOT / "docs", GATHERED)
    generated_pages.write(GATHERED)
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        text = re.sub(r"\]\(docs/", "](", text)
        (GATHERED / name.lower()).write_text(text, encoding="utf-8")
    for page in GATHERED.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        text = re.sub(
            r"\]\(\.\./(CONTRIBUTING|CHANGELOG)\.md", lambda m: f"]({m[1].lower()}.md", text
        )
        if with_playground:
            up = "../" * (len(page.relative_to(GATHERED).parts) - 1)
            text = playground_links.with_links(text, f"{up}playground/")
        page.write_text(text, encoding="utf-8")


def add_playground() -> None:
    """Build the static edition into the site, with answers about the snippets that open in it."""
    import build_static
    import early_answers

    folder = SITE / "playground"
    build_static.build(folder, docs="../")
    version = build_static.version(folder)
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        early_answers.write_answers(folder / "early", playground_links.requests(text), version)
        for program, example in playground_links.live(text):
            requests = early_answers.requests_at_first(program, example)
            early_answers.write_answers(folder / "early", requests, version)
    build_static.finish(folder)


def finish() -> None:
    """Write what a web host looks for, and the words that search should find."""
    (SITE / ".nojekyll").touch()
    index = SITE / "search.json"
    found = json.loads(index.read_text(encoding="utf-8"))
    found["items"] = search_words.improved(found["items"])
    index.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    (SITE / "404.html").write_text(not_found.page(found["items"]), encoding="utf-8")


def write_config(path: Path) -> list[str]:
    """Write the site's configuration without menu entries whose page is not there; name those."""
    lines: list[str] = []
    left_out: list[str] = []
    for line in (ROOT / "zensical.toml").read_text(encoding="utf-8").split("\n"):
        page = re.search(r'= "([\w/-]+\.md)" \}', line)
        if page is not None and not (GATHERED / page[1]).is_file():
            left_out.append(page[1])
            continue
        lines.append(line.replace('"build/docs"', '"docs"'))
    path.write_text("\n".join(lines), encoding="utf-8")
    return left_out


class _Page(HTMLParser):
    """What a page fetches, links to and has anchors for."""

    def __init__(self) -> None:
        super().__init__()
        self.fetches: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        fetched = given.get(FETCHED.get(tag, ""), "")
        is_fetched = tag != "link" or not NOT_FETCHED & set(given.get("rel", "").split())
        if fetched and is_fetched:
            self.fetches.append(fetched)
        self.fetches += FETCHING_STYLE.findall(given.get("style", ""))


def read_page(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def outside_requests(site: Path) -> list[str]:
    """Everything that a built page, style sheet or picture would fetch from another host."""
    faults = [
        f"{path.relative_to(site)} fetches {address}"
        for path in sorted(site.rglob("*.html"))
        for address in read_page(path).fetches
        if urlsplit(address).netloc
    ]
    for path in sorted([*site.rglob("*.css"), *site.rglob("*.svg")]):
        text = path.read_text(encoding="utf-8")
        faults += [
            f"{path.relative_to(site)} fetches {each}" for each in FETCHING_STYLE.findall(text)
        ]
    return faults


def dead_links(site: Path) -> list[str]:
    """Links inside the site that lead to no page or no anchor (`#1.…` holds a shared program)."""
    pages = {path: read_page(path) for path in site.rglob("*.html")}
    faults = []
    for path, page in sorted(pages.items()):
        if path.name == "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = "" if parts.fragment.startswith("1.") else unquote(parts.fragment)
            is_there = target.is_file() and (
                not anchor or target not in pages or anchor in pages[target].anchors
            )
            if not is_there:
                faults.append(f"{path.relative_to(site)} links to {link}, which is not there")
    return faults


def replace_site(with_playground: bool) -> None:
    """Build into folders of this process alone; a site without faults then replaces the old one."""
    global GATHERED, SITE
    (ROOT / "build").mkdir(exist_ok=True)
    outdated = os.listdir(SITE) if SITE.is_dir() else ()
    with (
        tempfile.TemporaryDirectory(dir=ROOT / "build") as place,
        replacing_folder(SITE, outdated) as work,
    ):
        GATHERED, SITE = Path(place, "docs"), Path(work)
        if code := main(with_playground):
            sys.exit(code)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--playground", action="store_true", help="with the static edition")
    replace_site(parser.parse_args().playground)
