"""The items of the site's search in, the page for addresses that are not there out.

A web host shows it at any depth, so it finds the site's own folder by itself: the nearest folder
above the address that holds the search index. It offers the pages whose names are most like the
address that was asked for.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

OFTEN = (
    ("index.html", "The front page"),
    ("start.html", "Start in one minute"),
    ("tutorial.html", "Tutorial"),
    ("language.html", "The language"),
    ("errors.html", "Errors, and what to do"),
)
PAGE = Path(__file__).parents[1] / "web" / "404.html"


def page(items: list[dict[str, Any]]) -> str:
    """Return the page."""
    titles: dict[str, str] = {}
    for item in items:
        if "#" not in item["location"] and item["location"] != item["title"]:
            titles[item["location"]] = item["title"]  # the page's own item is the last
    often = "\n".join(
        f'<li><a href="{place}" data-page="{place}">{escape(title)}</a></li>'
        for place, title in OFTEN
    )
    pages = json.dumps(titles, ensure_ascii=False).replace("<", "\\u003c")
    text = PAGE.read_text(encoding="utf-8")
    return text.replace("__OFTEN__", often).replace("__PAGES__", pages)
