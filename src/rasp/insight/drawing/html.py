"""A plan and its picture in, one self-contained interactive page out.

The page asks nobody for anything, and says so itself: its content security policy allows only
the one style sheet and the one script that are in it, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files

from rasp.insight.drawing.flow import document
from rasp.insight.drawing.picture_plan import Flow, HeatMaps, Plan
from rasp.insight.drawing.portable_picture import as_dict
from rasp.insight.drawing.svg import Fragment
from rasp.insight.drawing.theme import page_colours, style_sheet

HELP = "hover a cell to see why it is picked · click a sequence to see what feeds it"
TALLEST_FRAME = 900
"""Pixels of a notebook's cell that a picture may fill before it scrolls."""


def page(plan: Plan, block: Fragment, theme: str) -> str:
    """Return the whole page."""
    style = "\n".join((style_sheet(theme), page_colours(theme), _file("page.css")))
    script = scripts().replace("export ", "") + _file("page.js")
    data = json.dumps(as_dict(plan), ensure_ascii=True, separators=(",", ":"))
    picture = document(block, "", plan.title, role="group")
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}"
    title = escape(plan.title)
    help_line = "" if isinstance(plan, HeatMaps) else f'<p id="help">{_help(plan)}</p>\n'
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n{help_line}"
        f'<div class="scroll">{picture}</div>\n'
        '<div id="tip" role="tooltip" hidden></div>\n<div id="card" role="status" hidden></div>\n'
        f'<script type="application/json" id="plan">{_harmless(data)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def frame(plan: Plan, block: Fragment, theme: str) -> str:
    """Return the page in a sandboxed frame, for notebooks."""
    height = min(TALLEST_FRAME, int(block.height) + 80)
    inner = escape(page(plan, block, theme), quote=True)
    return (
        f'<iframe title="{escape(plan.title)}" sandbox="allow-scripts" srcdoc="{inner}" '
        f'width="100%" height="{height}" style="border:0"></iframe>'
    )


def scripts() -> str:
    """Return the module that says which cell is meant, why it is picked, and what feeds it.

    The playground imports it as it is.
    """
    return _file("why.js") + _file("trace.js") + _file("cells.js")


def _help(plan: Plan) -> str:
    return HELP if isinstance(plan, Flow) else HELP.partition(" · ")[0]


def _file(name: str) -> str:
    return files("rasp.insight.drawing").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _harmless(data: str) -> str:
    """Write JSON so that no browser sees the end of the script, or a comment, in it."""
    return data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
