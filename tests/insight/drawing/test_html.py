"""The page asks nobody for anything, keeps to its own policy, and cannot be broken out of."""

import base64
import hashlib
import json
import re

import rasp
from rasp.insight.drawing import as_dict, draw, heat_maps
from rasp.language.graph import Aggregate, Indices, Select, Tokens

HOSTILE = ["</script><script>alert(1)</script>", "<!--", "&lt;", "'\"", "\u2028", "<img src=x>"]


def page_of(tokens: list[str]) -> str:
    return draw(Aggregate(Select(Tokens(), Tokens(), "=="), Indices()), tokens).html()


def test_nothing_is_fetched() -> None:
    page = page_of(HOSTILE)
    without_namespace = page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//cdn|@import|url\(|<link|<img |<iframe", without_namespace)
    assert not re.search(r"<[^>]*\s(src|href|xlink:href)=", page)


def test_the_policy_allows_just_the_one_script_and_the_one_style() -> None:
    page = page_of(["a", "b"])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy and "unsafe" not in policy[1] and "default-src 'none'" in policy[1]
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}'" in policy[1]
    assert " style=" not in page
    assert not re.search(r"\son[a-z]+=", page)


def test_tokens_cannot_break_out() -> None:
    page = page_of(HOSTILE)
    assert page.count("</script>") == 2
    assert "<img src" not in page


def test_the_page_holds_the_plan() -> None:
    drawing = draw(rasp.run("r = aggregate(select(indices, 0, ==), tokens);")["r"], HOSTILE)
    (data,) = re.findall(r'id="plan">(.*?)</script>', drawing.html(), re.DOTALL)
    assert json.loads(data) == as_dict(drawing.plan)


def test_a_notebook_gets_the_page_in_a_sandbox_and_an_svg() -> None:
    drawing = draw(Tokens(), HOSTILE)
    assert 'sandbox="allow-scripts"' in drawing._repr_html_()
    assert drawing._repr_html_().count("<") == 2  # the frame's own two tags: the rest is escaped
    assert drawing._repr_svg_() == drawing.svg()


def test_heat_maps_have_a_page_too() -> None:
    page = heat_maps([[[1, 0], [0.5, 0.5]]], ["</svg>", "b"], ["head"]).html()
    (data,) = re.findall(r'id="plan">(.*?)</script>', page, re.DOTALL)
    assert json.loads(data)["maps"][0]["weights"] == [[1, 0], [0.5, 0.5]]
