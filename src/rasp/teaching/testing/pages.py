"""A Markdown page in, a `Report` on the `rasp` blocks in it out.

The blocks of a page go on from one another, as a reader takes them. One whose first line is
`# name.rasp` is a program of its own, which the others can `load`; one called `# mistaken….rasp`
must have mistakes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.source import Source
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.session import Session
from rasp.teaching.testing.running import Failure, Report, check_program

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w.]+\.rasp)")
MISTAKEN = "# mistaken"


@dataclass(frozen=True)
class Snippet:
    """A fenced block of a page."""

    language: str
    text: str
    line: int
    """The line of its fence."""


def blocks_of(text: str) -> list[Snippet]:
    """List the fenced blocks of a page.

    >>> blocks_of("Look:\\n```rasp\\ntokens;\\n```\\n")
    [Snippet(language='rasp', text='tokens;\\n', line=2)]
    """
    return [
        Snippet(match[1], match[2], text.count("\n", 0, match.start()) + 1)
        for match in FENCE.finditer(text)
    ]


@dataclass(frozen=True)
class PageLoader(Loader):
    """Lets blocks load those that the page calls files, before any on the disk."""

    files: dict[str, Source] = field(default_factory=dict)

    def read(
        self,
        path: str,
        beside: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
        started: str | None = None,
    ) -> Source:
        for name in (path, path + ".rasp"):
            if name in self.files:
                return self.files[name]
        return super().read(path, beside, limits, started)


def check_page(
    page: Source, limits: Limits = DEFAULT_LIMITS, loader: Loader | None = None
) -> Report:
    """Run the programs of a page and compare their `#>` lines.

    >>> page = Source("page.md", "```rasp\\ntokens('ab'); #> ['a', 'b']\\n```\\n")
    >>> check_page(page).held
    1
    """
    base = loader or Loader()
    own = PageLoader(base.root, base.enabled, base.also, base.elsewhere)
    session = Session(limits, own)
    report = Report(page.name)
    for block in blocks_of(page.text):
        if block.language != "rasp":
            continue
        source = Source(page.name, "\n" * block.line + block.text)  # lines count as on the page
        named = FILE.fullmatch(block.text.split("\n", 1)[0])
        if named:
            own.files[named[1]] = source
        if block.text.startswith(MISTAKEN):
            if not Session(limits, own).check(source)[1]:
                report.note(Failure(None, f"{page.name}:{block.line}: there is no mistake here"))
            continue
        of_block = check_program(source, Session(limits, own) if named else session)
        report.held += of_block.held
        report.failures += of_block.failures
    return report
