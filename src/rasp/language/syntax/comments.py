"""Comments in, remarks between statements and after them out: none is lost, none is told twice."""

from __future__ import annotations

from typing import Any

from rasp.base.source import Source, Span
from rasp.language.syntax import tree
from rasp.language.syntax.lexer import Comment


class Comments:
    """The comments of a text that no statement has taken yet."""

    def __init__(self, source: Source, comments: list[Comment]) -> None:
        self.source = source
        self.left = comments

    def before(self, offset: int) -> list[tree.Statement]:
        """Take the comments before an offset, each as a statement of its own."""
        remarks: list[tree.Statement] = []
        while self.left and self.left[0].start < offset:
            comment = self.left.pop(0)
            span = Span(self.source, comment.start, comment.end)
            blank = blank_line_before(self.source, comment.start)
            remarks.append(tree.Remark(comment.text, span=span, blank_before=blank))
        return remarks

    def after(self, offset: int) -> dict[str, Any]:
        """Take the comment that follows a statement on its last line, as fields of that."""
        if self.left:
            comment = self.left[0]
            between = self.source.text[offset : comment.start]
            if "\n" not in between and not between.strip():
                self.left.pop(0)
                column = self.source.line_and_column(comment.start)[1] - 1
                return {"trailing": comment.text, "trailing_column": column,
                        "trailing_gap": len(between)}  # fmt: skip
        return {}


def blank_line_before(source: Source, offset: int) -> bool:
    """Tell whether an empty line is before an offset.

    >>> blank_line_before(Source("demo", "a;\\n\\nb;"), 4)
    True
    """
    before = source.text[max(0, offset - 400) : offset]
    spaces = before[len(before.rstrip()) :]
    return spaces.count("\n") > 1
