"""Pages with RASP snippets in, the same with a link below each that opens it in the playground.

A link holds the program and an example in its fragment, as the page's own Share button makes it
(`playground/static/share.js`).
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator

from rasp.apps.playground.page_answers import answer

SNIPPET = re.compile(r"^```rasp\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LIVE = re.compile(r"^<!-- live -->\n+(?=```rasp)", re.MULTILINE)
"""In a page: the next snippet is shown in a frame of the playground, where it can be changed."""
APPLIED = re.compile(r"""\((["'])([^"'\\]{1,40})\1\)\s*;""")
NAME_LINE = re.compile(r"^# ([\w-]+)\.rasp\n")
LOAD = re.compile(r"^load \"([\w-]+)(?:\.rasp)?\";$", re.MULTILINE)
PLAIN_EXAMPLE = "hello"


def fragment(program: str, example: str, tab: str = "values") -> str:
    """Return the fragment of a link that opens a program with an example.

    >>> fragment("x = 1;", "a")[:3]
    '#1.'
    """
    page = json.dumps({"program": program, "example": example, "tab": tab}, ensure_ascii=False)
    squeezer = zlib.compressobj(9, wbits=-15)
    packed = squeezer.compress(page.encode()) + squeezer.flush()
    return "#1." + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def opened(text: str) -> list[tuple[str, str]]:
    """List the program and example that the link below each snippet of a page opens.

    A snippet that needs what earlier ones on its page define is opened with them, and one that
    loads a file of its page with that file in place: the playground has no files.
    """
    programs: list[tuple[str, str]] = []
    before: list[str] = []
    files: dict[str, str] = {}
    for found in SNIPPET.finditer(text):
        own = NAME_LINE.sub("", found[1])
        if name := NAME_LINE.match(found[1]):
            files[name[1]] = own
        own = LOAD.sub(lambda load: files.get(load[1], load[0]), own)
        applied = APPLIED.search(own)
        example = applied[2] if applied else PLAIN_EXAMPLE
        whole = "\n".join([*before, own])
        program = whole if _mistakes(own) and not _mistakes(whole) else own
        programs.append((program, example))
        if not _mistakes(whole):
            before.append(own)
    return programs


def _mistakes(program: str) -> int:
    told = answer({"kind": "run", "program": program, "example": PLAIN_EXAMPLE})
    return len(told.get("errors", ())) + ("error" in told)


def with_links(text: str, playground: str) -> str:
    """Put a link below each snippet; one marked as live becomes a frame."""
    programs = iter(opened(text))

    def linked(found: re.Match[str]) -> str:
        target = f"{playground}index.html{fragment(*next(programs))}"
        return f'{found[0]}\n\n<p class="open"><a href="{target}">Open in the playground</a></p>\n'

    text = text.replace(
        "<!-- playground -->", f"[Try it here]({playground}index.html){{ .md-button }}"
    )
    return _with_frames(SNIPPET.sub(linked, text))


def _with_frames(text: str) -> str:
    link = re.compile(r'<p class="open"><a href="([^"#]+)(#[^"]+)">.*?</p>\n')
    while marked := LIVE.search(text):
        target = link.search(text, marked.end())
        assert target, "a live snippet has a link"
        frame = (
            f'<iframe class="live" title="A RASP program that you can change" loading="lazy" '
            f'src="{target[1]}?embed{target[2]}"></iframe>\n\n'
        )
        text = text[: marked.start()] + frame + text[target.end() :].lstrip("\n")
    return text


def requests(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """List what the playground asks when a link of a page is opened."""
    for program, example in opened(text):
        yield "run", {"program": program, "example": example}


def live(text: str) -> Iterator[tuple[str, str]]:
    """List the programs of a page that are shown in a frame."""
    programs = opened(text)
    for marked in LIVE.finditer(text):
        yield programs[len(SNIPPET.findall(text[: marked.end()]))]
