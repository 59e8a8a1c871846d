"""What completes a page: its metadata, its images' sizes, its place among the lessons."""

import json
import re

import pytest

pytest.importorskip("sphinx", reason="the site's packages are not installed")

from small_site import build

from attnlab.sphinxext import page

EXTENSIONS = ["attnlab.sphinxext", "attnlab.sphinxext.page"]
PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>'


def content(soup, name):
    tag = soup.find("meta", attrs={"name": name}) or soup.find("meta", property=name)
    return tag and tag["content"]


def test_a_page_says_its_title_and_first_paragraph(tmp_path):
    text = (
        '*Bank* & co.\n============\n\n.. note::\n\n   Not this.\n\nWhat *it* is: "<one>".\n\nMore.'
    )
    soup = build(tmp_path, {"index": text}, extensions=EXTENSIONS, project="P").page()
    assert content(soup, "description") == content(soup, "og:description") == "What it is: “<one>”."
    assert content(soup, "og:title") == "Bank & co."
    assert content(soup, "og:site_name") == "P"
    assert content(soup, "og:url") is content(soup, "og:image") is None


def test_a_page_without_words_still_says_something(tmp_path):
    site = build(tmp_path, {"index": "Home\n====\n"}, extensions=EXTENSIONS, project="P")
    assert content(site.page(), "description") == "Home of P."
    assert content(site.page("search"), "description") == "Search of P."


def test_a_long_description_ends_with_a_whole_word(tmp_path):
    words = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz" * 3)
    soup = build(tmp_path, {"index": words}, extensions=EXTENSIONS).page()
    said = content(soup, "description")
    assert len(said) <= page.LONGEST + 2
    assert re.fullmatch(r"(word\w )+…", said)


def test_a_site_with_an_address_has_cards_and_a_sitemap(tmp_path):
    site = build(
        tmp_path,
        {"index": "Text.\n\n.. toctree::\n\n   a/b", "a/b": "Text."},
        extensions=EXTENSIONS,
        html_baseurl="https://example.org/x/",
    )
    assert content(site.page("a/b"), "og:url") == "https://example.org/x/a/b.html"
    assert content(site.page("a/b"), "og:image") == f"https://example.org/x/{page.CARD}"
    assert (site.out / page.CARD).read_bytes().startswith(b"\x89PNG")
    assert re.findall("<loc>(.*?)</loc>", (site.out / "sitemap.xml").read_text("utf-8")) == [
        "https://example.org/x/a/b.html",
        "https://example.org/x/index.html",
    ]


def test_images_have_sizes_and_nothing_is_styled_inline(tmp_path):
    tmp_path.joinpath("p.svg").write_bytes(PICTURE)
    table = ".. list-table::\n   :widths: 15 85\n\n   * - a\n     - b\n"
    text = f".. image:: p.svg\n   :alt: x\n\n{table}"
    soup = build(tmp_path, {"index": text}, extensions=EXTENSIONS).page()
    assert (soup.img["width"], soup.img["height"]) == ("30", "20")
    assert [column["width"] for column in soup.find_all("col")] == ["15.0%", "85.0%"]
    assert not soup.select("[style]")


def test_sizes_that_stand_or_are_not_known_stay(tmp_path):
    for html in ('<img width="3" src="a/b.png" alt="">', '<img alt="" src="a/gone.png" />', "<p>"):
        assert page.sized(html, {"b.png": (1, 2)}.get) == html
    assert page.sized('<img alt="" src="a/b%20c.png" />', {"b c.png": (1, 2)}.get) == (
        '<img width="1" height="2" alt="" src="a/b%20c.png" />'
    )


def test_a_lesson_knows_the_lessons(tmp_path):
    pages = {
        "index": ".. toctree::\n\n   lessons/index",
        "lessons/index": "Text.\n\n.. toctree::\n\n   one\n   two",
        "lessons/one": "1. The *first*\n==============\n",
        "lessons/two": "2. The second\n=============\n",
    }
    templates = tmp_path / "templates"
    templates.mkdir(parents=True)
    (templates / "page.html").write_text("{{ lessons | default('none') | tojson }}")
    site = build(tmp_path, pages, extensions=EXTENSIONS, templates_path=["templates"])
    shown = {name: (site.out / f"{name}.html").read_text("utf-8") for name in pages}
    lessons = [["one.html", "The first", False], ["#", "The second", True]]
    assert json.loads(shown["lessons/two"]) == lessons
    assert "The" not in shown["index"] + shown["lessons/index"]
