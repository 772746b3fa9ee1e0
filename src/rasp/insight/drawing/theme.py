"""Colours and fonts, light and dark, as one style sheet.

The paper's colours: keys green, queries orange, the selection purple, values blue, results red.
No CSS variables: what turns SVG into PNG and PDF does not know them.
"""

from __future__ import annotations

from rasp.base.errors import RaspValueError

THEMES = ("auto", "light", "dark")
FONTS = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Noto Color Emoji",monospace'

# selector: (property, light, dark)
COLOURS: tuple[tuple[str, str, str, str], ...] = (
    (".paper", "fill", "#ffffff", "#15171c"),
    ("text", "fill", "#1d2129", "#e7e9ee"),
    (".soft", "fill", "#5d6675", "#9aa3b2"),
    (".box", "fill", "#faf7ef", "#1c1f26"),
    (".box", "stroke", "#e3dcc8", "#343945"),
    (".inner", "fill", "#ffffff", "#15171c"),
    (".inner", "stroke", "#e6e1d3", "#2c313b"),
    (".cell", "fill", "#ffffff", "#22262e"),
    (".cell", "stroke", "#c9ced6", "#454c59"),
    (".rule", "stroke", "#c9ced6", "#454c59"),
    (".arrow", "stroke", "#b9b09a", "#565d6b"),
    (".tip", "fill", "#b9b09a", "#565d6b"),
    (".keys .cell", "fill", "#e3f2e4", "#1b3323"),
    (".keys .cell,.keys .rule", "stroke", "#a9cfad", "#35573f"),
    (".keys .name", "fill", "#1f6b2c", "#7fcf92"),
    (".queries .cell", "fill", "#fdebd3", "#3a2a15"),
    (".queries .cell,.queries .rule", "stroke", "#e8c28f", "#63492a"),
    (".queries .name", "fill", "#9a4a06", "#f0ad62"),
    (".values .cell", "fill", "#e2ecfa", "#1a2a42"),
    (".values .cell,.values .rule", "stroke", "#aac4e8", "#344d73"),
    (".values .name", "fill", "#1b4c97", "#86b4f3"),
    (".result .cell", "fill", "#fbe4e4", "#3c1d20"),
    (".result .cell,.result .rule", "stroke", "#e5b1b1", "#6b383d"),
    (".result .name", "fill", "#a11a26", "#f2929a"),
    (".selection-row .cell", "fill", "#efe6f8", "#2d2140"),
    (".selection-row .cell,.selection-row .rule", "stroke", "#cdb6e6", "#54407a"),
    (".selection-row .name,.picks-words", "fill", "#6b2fa5", "#b489ea"),
    (".grid", "fill", "#f3f0f7", "#211f29"),
    (".grid", "stroke", "#cfc6de", "#454057"),
    (".lines", "stroke", "#e2dcec", "#2f2c3a"),
    (".picked", "fill", "#6b2fa5", "#b489ea"),
    (".plain .name", "fill", "#5d6675", "#9aa3b2"),
    (".plain .cell", "fill", "#f4f5f7", "#22262e"),
    (".output .cell", "fill", "#fbe4e4", "#3c1d20"),
    (".output .cell,.output .rule", "stroke", "#cf6b74", "#9c4a52"),
)

SHAPES = f"""svg{{font-family:{FONTS};font-size:12px;direction:ltr}}
.mid{{text-anchor:middle}}.end{{text-anchor:end}}
.small{{font-size:10.5px}}.tiny{{font-size:7px}}.strong{{font-weight:bold}}.heading{{font-size:16px}}
.faint{{opacity:.45}}.rule,.lines,.arrow{{fill:none}}.lines{{stroke-width:.5}}.arrow{{stroke-width:2}}
.slanted{{font-style:italic}}"""


def style_sheet(theme: str) -> str:
    """Return the style sheet of a picture; `auto` follows the reader's setting."""
    if theme not in THEMES:
        raise RaspValueError(f"there is no theme {theme!r}", hint="use " + ", ".join(THEMES))
    if theme == "dark":
        return SHAPES + "\n" + _colours(dark=True)
    sheet = SHAPES + "\n" + _colours(dark=False)
    if theme == "auto":
        sheet += "\n@media (prefers-color-scheme:dark){\n" + _colours(dark=True) + "\n}"
    return sheet


def _colours(dark: bool) -> str:
    return "\n".join(
        f"{selector}{{{name}:{night if dark else day}}}" for selector, name, day, night in COLOURS
    )


def page_colours(theme: str) -> str:
    """Return the colours of a page around a picture."""
    day, night = "body{background:#fff;color:#1d2129}", "body{background:#15171c;color:#e7e9ee}"
    if theme == "auto":
        return f"{day}\n@media (prefers-color-scheme:dark){{{night}}}"
    return night if theme == "dark" else day
