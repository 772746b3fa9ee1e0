"""A program in, the dialects of RASP that it is in out.

For each dialect: in it as written, equal to a program that is in it, or not in it as written,
with the part that is to blame. A text in C-RASP or B-RASP comes with each yes, and was run by an
interpreter of its own on every short input: a yes is never taken from the reader alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from rasp.base.atoms import Atom, is_atom, to_python
from rasp.base.errors import RaspTypeError
from rasp.base.terminal_text import visibly
from rasp.insight.dialect.language_classes import Classes, classes, forecast
from rasp.insight.dialect.learning import Learned, learn
from rasp.insight.dialect.rasp_l import check_rasp_l
from rasp.insight.dialect.selector_rows import Cases, NotInDialect
from rasp.insight.dialect.to_b_rasp import BRaspReader
from rasp.insight.dialect.to_c_rasp import ONE, CRaspReader, Quotient
from rasp.insight.dialect.value_cases import Reader
from rasp.insight.dialect.written import DialectProgram
from rasp.insight.equivalence import Equivalence
from rasp.insight.equivalence.answering import Input, answers
from rasp.insight.equivalence.suitable_inputs import choose_inputs
from rasp.insight.schedule.naming import Naming
from rasp.insight.schedule.patterns import Pattern, stays_within
from rasp.insight.schedule.schedule import Outputs, output_nodes, program_of
from rasp.language.graph import SOp

WINDOWS = (1, 2, 4, 8)
"""How far a window looks, of the windows that are tested."""
LOOKING_BACK = "the last position sees every other, so looking everywhere is looking back"


@visibly
@dataclass(frozen=True)
class Standing:
    """Whether a program is in one dialect.

    >>> print(Standing("B-RASP", False, "counts further than to one", "p.rasp:3"))
    B-RASP:  not as written: counts further than to one (p.rasp:3)
    """

    dialect: str
    holds: bool
    """Whether the program, or one that is equal to it, is in the dialect."""
    why: str
    line: str = ""
    """Where in the program the reason lies, as `file:line`."""
    rewrites: tuple[str, ...] = ()
    """What was read as something else that is the same; none: it is in it as written."""
    written: DialectProgram | None = None
    """The same program in the dialect."""
    compared: tuple[int, int] = (0, 0)
    """On how many inputs its text was compared with the program, and up to which length."""
    proof: Equivalence | None = None
    """What `equivalent` says of the text, as a program in RASP, where something was rewritten."""

    @property
    def text(self) -> str:
        """The same program in the dialect, as text."""
        return self.written.text if self.written else ""

    @property
    def checked(self) -> str:
        """How the text was compared with the program, in words."""
        tested, longest = self.compared
        if not tested:
            return ""
        told = f"its text was run on all {tested} inputs up to length {longest}: it agrees"
        if self.proof is None:
            return told
        return (
            f"{told}\n`equivalent`: the same {self.proof.proved}: proved\n"
            f"and on {self.proof.at_random} random ones up to length {self.proof.longest}: tested"
        )

    @property
    def is_as_written(self) -> bool:
        return self.holds and not self.rewrites

    def __str__(self) -> str:
        if not self.holds:
            place = f" ({self.line})" if self.line else ""
            return f"{self.dialect + ':':9}not as written: {self.why}{place}"
        how = "in it as written" if self.is_as_written else "equal to one that is in it"
        lines = [f"{self.dialect + ':':9}{how}: {self.why}"]
        lines += [f"         {rewrite}" for rewrite in self.rewrites]
        lines += [f"         {line}" for line in self.checked.splitlines()]
        return "\n".join(lines)

    __repr__ = __str__


@visibly
@dataclass(frozen=True)
class Dialects:
    """Which dialects a program is in, and the language it recognises, if it does.

    >>> import rasp
    >>> found = rasp.dialects(rasp.programs.load("tomita1"))
    >>> found["C-RASP"].holds, found["B-RASP"].holds, found.classes.star_free.holds
    (True, False, True)
    """

    alphabet: tuple[Atom, ...]
    standings: tuple[Standing, ...]
    learned: Learned | None
    """The automaton of a yes-or-no program; None: it is not one."""

    def __getitem__(self, dialect: str) -> Standing:
        return {standing.dialect.lower(): standing for standing in self.standings}[dialect.lower()]

    @cached_property
    def classes(self) -> Classes | None:
        """What is known of the language; None: no small automaton has it."""
        if self.learned is None or self.learned.automaton is None:
            return None
        return classes(self.learned.automaton)

    @property
    def forecast(self) -> str:
        """Whether a trained decoder is likely to generalise to longer inputs."""
        if self.classes is not None:
            return forecast(self.classes.c_rasp_at_last.holds)
        return forecast(True if self["C-RASP"].holds else None)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able data.

        >>> import rasp
        >>> rasp.dialects(rasp.tokens).as_dict()["dialects"]["causal"]["in"]
        True
        """
        record: dict[str, Any] = {
            "forecast": self.forecast,
            "alphabet": [to_python(token) for token in self.alphabet],
            "dialects": {
                standing.dialect: {
                    "in": standing.holds,
                    "as_written": standing.is_as_written,
                    "why": standing.why,
                    "line": standing.line,
                    "rewrites": list(standing.rewrites),
                    "text": standing.text,
                    "checked": standing.checked,
                    "proof": standing.proof and standing.proof.as_dict(),
                }
                for standing in self.standings
            },
        }
        if self.classes is not None and self.learned is not None:
            record["language"] = {"tested": self.learned.tested, **self.classes.as_dict()}
        return record

    def __str__(self) -> str:
        lines = [str(standing) for standing in self.standings]
        if self.learned is not None:
            lines += ["", *self._language()]
        lines += ["", self.forecast]
        return "\n".join(lines)

    __repr__ = __str__

    def _language(self) -> Iterator[str]:
        assert self.learned is not None
        if self.classes is None:
            yield "its language: no small automaton answers alike"
            return
        yield f"its language: an automaton of {self.classes.automaton.size} states answers alike"
        yield f"  ({self.learned.tested})"
        yield from (f"  {line}" for line in str(self.classes).splitlines())


def dialects(output: Outputs, alphabet: object = None) -> Dialects:
    """Say which an s-op is: RASP-L, C-RASP, B-RASP, causal, sparse.

    Texts in C-RASP and B-RASP are over the alphabet; without one, it is what the program
    compares its tokens with.

    >>> import rasp
    >>> standing = rasp.dialects(rasp.programs.load("reverse"))["RASP-L"]
    >>> standing.holds, standing.line
    (False, 'reverse.rasp:6')
    """
    (node,) = output_nodes(output)
    if not isinstance(node, SOp):
        raise RaspTypeError(
            "dialects are those of s-ops, and this is not one", hint="aggregate something with it"
        )
    tokens = choose_inputs([node], alphabet is None, alphabet).alphabet
    asking = _Asking(node, Naming((node,), program_of(output)), tokens)
    standings = (
        asking.causal(), asking.sparse(), asking.rasp_l(), asking.c_rasp(), asking.b_rasp(),
    )  # fmt: skip
    return Dialects(asking.alphabet, standings, asking.language())


@dataclass(frozen=True)
class _Asking:
    """One program, and the questions about it."""

    node: SOp
    naming: Naming
    alphabet: tuple[Atom, ...]

    def causal(self) -> Standing:
        holds = stays_within(Pattern("causal"), [self.node])
        why = "no head looks at a later position" if holds else "a head may look at later positions"
        return Standing("causal", holds, why)

    def sparse(self) -> Standing:
        for width in WINDOWS:
            if stays_within(Pattern("window", (width,)), [self.node]):
                return Standing("sparse", True, f"no head looks further than {width}")
        return Standing("sparse", False, f"a head may look further than {WINDOWS[-1]} positions")

    def rasp_l(self) -> Standing:
        def attempt() -> Standing:
            check_rasp_l(self.node)
            why = "causal, positions are only compared, numbers stay small"
            return Standing("RASP-L", True, why)

        return self._tried("RASP-L", attempt)

    def c_rasp(self) -> Standing:
        """Every position's answer; or the last one's, of a program that says yes or no."""
        everywhere = self._tried("C-RASP", lambda: self._written("C-RASP", CRaspReader, False))
        if everywhere.holds or not self.is_yes_or_no:
            return everywhere
        return self._tried("C-RASP", lambda: self._written("C-RASP", CRaspReader, True))

    def b_rasp(self) -> Standing:
        return self._tried("B-RASP", lambda: self._written("B-RASP", BRaspReader, False))

    def _tried(self, dialect: str, attempt: Callable[[], Standing]) -> Standing:
        try:
            return attempt()
        except NotInDialect as refusal:
            why = f"`{self.naming.text(refusal.node)}` {refusal.reason}"
            return Standing(dialect, False, why, self.naming.line(refusal.node))

    def _written(
        self, dialect: str, kind: type[CRaspReader] | type[BRaspReader], at_last: bool
    ) -> Standing:
        """Write the program in a dialect, and compare what the text says with the program."""
        reader = kind(self.alphabet)
        text, meanings = self._text(reader, reader.cases(self.node, at_last))
        written = DialectProgram(text, tuple(meanings.items()), at_last, dialect)
        why = "at the last position" if at_last else "at every position"
        rewrites = dict.fromkeys(
            f"`{self.naming.text(node)}`: {reason}" for node, reason in reader.rewrites.items()
        )
        if at_last:
            rewrites |= {LOOKING_BACK: None}
        compared = written.compare(self.node, self.alphabet)
        proof = written.prove(self.node, self.alphabet, compared[1]) if rewrites else None
        return Standing(dialect, True, why, "", tuple(rewrites), written, compared, proof)

    def _text(self, reader: Reader[Any], cases: Cases) -> tuple[str, dict[str, Atom | None]]:
        """The text, and the answer that each of its last lines means (None: the number)."""
        if len(cases) == 1 and isinstance(cases[0][1], Quotient):
            total = cases[0][1]
            if isinstance(reader, CRaspReader) and total.under == ONE and total.over.is_whole:
                line = reader.program.summed(total.over)
                return reader.program.text({"answer": line}), {"answer": None}
        if not all(is_atom(content) for _, content in cases):
            raise NotInDialect(self.node, "answers with a position, a count or a mean")
        contents = [content for _, content in cases]
        if all(isinstance(content, bool) for content in contents):
            truths = {content: truth for truth, content in cases}
            accept = truths.get(True, reader.program.false)
            return reader.program.text({"accept": accept}), {"accept": True}
        names = {f"answer{number}": truth for number, (truth, _) in enumerate(cases, start=1)}
        return reader.program.text(names), dict(zip(names, contents, strict=True))

    @cached_property
    def is_yes_or_no(self) -> bool:
        """Whether every answer on short inputs is a bool."""
        sample = [
            word for length in (1, 2, 3) for word in product(self.alphabet[:4], repeat=length)
        ]
        outcomes = answers([self.node], sample)
        atoms = [atom for outcome in outcomes if isinstance(outcome, list) for atom in outcome[0]]
        return bool(atoms) and all(isinstance(atom, bool) for atom in atoms)

    def language(self) -> Learned | None:
        """The automaton of the inputs to which the program says yes at the last position."""
        if not self.is_yes_or_no:
            return None

        def members(words: list[Input]) -> list[bool]:
            outcomes = answers([self.node], words)
            return [isinstance(outcome, list) and bool(outcome[0][-1]) for outcome in outcomes]

        return learn(self.alphabet, members)
