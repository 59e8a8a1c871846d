"""Figures on pages: drawn in every look, described by what they show, shown as the theme wants."""

import html
import re
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

pytest.importorskip("sphinx", reason="the site's packages are not installed")

from bs4 import BeautifulSoup
from real_site import LESSONS
from small_site import build

from attnlab import figures, reproduce
from attnlab.errors import InvalidValueError
from attnlab.sphinxext import gallery, pictures

WORDS = ("the", "bank")
WEIGHTS = np.array([[0.25, 0.75], [0.5, 0.5]])


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture
def figure():
    return figures.causal_mask(WORDS, WEIGHTS)


def scrape(folder):
    """Scrape as sphinx-gallery does, and return what stands on the page then."""
    images = folder / "lessons" / "images"
    images.mkdir(parents=True, exist_ok=True)
    paths = (str(images / f"sphx_glr_s1_one_{number:03}.png") for number in range(1, 9))
    return pictures.scrape(
        ("code", "", 1), {"image_path_iterator": paths}, {"src_dir": str(folder)}
    )


def test_a_lessons_figures_are_drawn_in_every_look(tmp_path, figure):
    figures.attention_heatmap("Another", "head", WORDS, WEIGHTS)
    plt.figure()
    assert scrape(tmp_path).split() == [
        "..", "picture::", "/lessons/images/sphx_glr_s1_one_001",
        "..", "picture::", "/lessons/images/sphx_glr_s1_one_002",
    ]  # fmt: skip
    assert len(plt.get_fignums()) == 1  # for sphinx-gallery's own scraper
    assert not figures.alt_text(plt.gcf())
    images = tmp_path / "lessons" / "images"
    assert {file.name for file in images.iterdir()} == {
        f"sphx_glr_s1_one_00{number}{suffix}"
        for number in (1, 2)
        for suffix in (*pictures.LOOKS, ".png")
    }
    drawn = {(images / f"sphx_glr_s1_one_001{suffix}").read_bytes() for suffix in pictures.LOOKS}
    assert len(drawn) == len(pictures.LOOKS)
    assert scrape(tmp_path / "nothing") == ""


def test_the_files_are_the_lessons_and_go_with_it(tmp_path, figure):
    scrape(tmp_path)
    images = tmp_path / "lessons" / "images"
    (tmp_path / "s1_one.py").write_text("plt.show()\n")
    assert gallery.missing_figures(tmp_path / "s1_one.py", tmp_path / "lessons") == 0
    assert set(images.iterdir()) == set(gallery.lesson_files(tmp_path / "lessons", "s1_one"))


@pytest.fixture
def pages(tmp_path, figure):
    pictures.draw(figure, tmp_path / "a b")
    assert not plt.get_fignums()
    return {"index": ".. picture:: /a b\n", "deep/er": ":orphan:\n\n.. picture:: ../a b\n"}


def test_a_page_shows_a_light_and_a_dark_picture_narrow_and_wide(tmp_path, pages, figure):
    site = build(tmp_path, pages)
    assert site.warnings == []
    for page, up in (("index", ""), ("deep/er", "../")):
        light, dark = site.page(page).select(".attnlab-picture > picture")
        assert (light["class"], dark["class"]) == (["only-light"], ["only-dark"])
        assert not light.img.get("loading")  # paper is light, whatever the screen is
        assert dark.img["loading"] == "lazy"
        for picture, theme in ((light, "light"), (dark, "dark")):
            assert picture.img["alt"] == figures.alt_text(figure)
            wide, narrow = picture.img, picture.source
            assert wide["src"] == f"{up}_images/a%20b-{theme}.svg"
            assert narrow["srcset"] == f"{up}_images/a%20b-{theme}-narrow.svg"
            assert (wide["width"], wide["height"]) == ("360", "384")
            assert (narrow["width"], narrow["height"]) == ("336", "365")
    assert len(list((site.out / "_images").iterdir())) == 4


def test_a_page_is_read_again_when_its_figure_is_drawn_again(tmp_path, pages):
    build(tmp_path, pages)
    pictures.draw(figures.causal_mask(WORDS, WEIGHTS.T), tmp_path / "a b")
    assert "index" in build(tmp_path, {}).read


def test_text_says_what_the_figure_shows(tmp_path, pages, figure):
    site = build(tmp_path, pages, builder="text")
    said = " ".join((site.out / "index.txt").read_text("utf-8").split())
    assert said.count(figures.alt_text(figure)) == 1


def test_a_missing_figure_is_a_warning_at_its_line(tmp_path):
    [warning] = build(tmp_path, {"index": ".. picture:: /no/such\n"}).warnings
    assert warning.startswith("index.rst:4: picture: no figure is drawn here")
    assert "no file such-light.svg" in warning


def test_an_option_is_a_warning(tmp_path, pages):
    [warning] = build(tmp_path, {"index": ".. picture:: /a b\n   :alt: typed\n"}).warnings
    assert "picture's option 'alt' is not known" in warning


def test_a_figure_that_says_nothing_is_refused(tmp_path, pages):
    file = tmp_path / "a b-light.svg"
    file.write_text(re.sub("<title>.*?</title>", "", file.read_text("utf-8")), "utf-8")
    with pytest.raises(InvalidValueError, match=r"a b-light\.svg does not say what it shows"):
        pictures.picture_node("/a b", tmp_path / "a b")


def test_quotes_in_what_a_figure_shows(tmp_path):
    figure = figures.attention_heatmap('"<&>', "x", WORDS, WEIGHTS)
    pictures.draw(figure, tmp_path / "q")
    site = build(tmp_path, {"index": ".. picture:: q\n"})
    assert site.page().img["alt"] == figures.alt_text(figure)
    assert f'alt="{html.escape(figures.alt_text(figure))}"' in (
        (site.out / "index.html").read_text("utf-8")
    )


# The real site


@pytest.fixture(scope="module")
def figures_of():
    """The text of each figure of this run, by lesson, in order."""
    said = {lesson: [] for lesson in LESSONS}
    sections = iter(LESSONS)
    here = SimpleNamespace(lesson=None)

    def echo(line):
        if line.startswith("["):
            here.lesson = next(sections)

    def note(name, figure):
        said[here.lesson].append(figures.alt_text(figure))
        plt.close(figure)

    reproduce.run(echo=echo, save_figure=note)
    return said


@pytest.fixture(scope="module")
def looked_at(site):
    def read(address):
        return BeautifulSoup((site / address).read_text("utf-8"), "html.parser")

    return read


@pytest.mark.slow
@pytest.mark.torch
def test_each_figure_of_a_lesson_says_what_the_run_measured(looked_at, figures_of):
    assert sum(map(len, figures_of.values())) == 7
    for lesson, texts in figures_of.items():
        page = looked_at(f"lessons/{lesson}.html")
        for theme in ("light", "dark"):
            images = page.select(f".attnlab-picture .only-{theme} img")
            assert [image["alt"] for image in images] == texts
        assert len(page.select(".attnlab-picture")) == len(texts)
    home = [image["alt"] for image in looked_at("index.html").select("article img")]
    assert home == 2 * figures_of["s3_raw_attention"][1:]


SHOWN = """async () => {
    const shown = [...document.querySelectorAll('.attnlab-picture img')].filter(
        image => image.checkVisibility());
    for (const image of shown) image.loading = 'eager';
    await Promise.all(shown.map(image => image.decode()));
    return shown.map(image => image.currentSrc.match(/-([a-z-]*)[.]svg$/)[1]);
}"""


@pytest.mark.slow
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
@pytest.mark.parametrize(("width", "narrow"), [(1280, ""), (700, ""), (390, "-narrow")])
def test_figures_follow_the_theme_and_the_width(browser, base, width, narrow, scripts):
    viewport = {"width": width, "height": 844}
    page = browser.new_page(viewport=viewport, java_script_enabled=scripts)
    page.goto(f"{base}lessons/s3_raw_attention.html")
    for theme in ("light", "dark", "light"):
        page.emulate_media(color_scheme=theme)
        assert page.evaluate(SHOWN) == 2 * [f"{theme}{narrow}"]
    page.emulate_media(media="print", color_scheme="dark")
    assert {shown.partition("-")[0] for shown in page.evaluate(SHOWN)} == {"light"}
    page.emulate_media(media="screen", color_scheme="light")
    if scripts:
        seen = []
        for _ in range(3):
            page.locator(".theme-toggle:visible").first.click()
            seen.append(page.evaluate(SHOWN)[0].partition("-")[0])
        assert set(seen) == {"light", "dark"}
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()


@pytest.mark.slow
def test_only_what_shows_is_loaded_on_a_light_page(browser, base):
    page = browser.new_page(color_scheme="light")
    loaded = []
    page.on("request", lambda request: loaded.append(request.url))
    page.goto(f"{base}lessons/s3_raw_attention.html", wait_until="networkidle")
    drawn = sorted(Path(url).name for url in loaded if "_images" in url)
    assert drawn == [f"sphx_glr_s3_raw_attention_00{i}-light.svg" for i in (1, 2)]
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_figures_show_at_their_size_and_nothing_moves(browser, base, width):
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.add_init_script(
        "window.moved = 0; new PerformanceObserver(list => {"
        "for (const entry of list.getEntries()) moved += entry.value})"
        ".observe({type: 'layout-shift', buffered: true})"
    )
    for lesson in LESSONS[1:]:
        page.goto(f"{base}lessons/{lesson}.html", wait_until="networkidle")
        sizes = page.evaluate(
            "[...document.querySelectorAll('.attnlab-picture img')]"
            ".filter(image => image.checkVisibility())"
            ".map(image => [image.clientWidth, image.naturalWidth])"
        )
        assert sizes
        assert all(abs(shown - natural) <= 1 for shown, natural in sizes), lesson
        assert page.evaluate("moved") == 0
    page.close()


@pytest.mark.slow
def test_a_figure_opened_alone_has_its_colours_under_the_policy(browser, base):
    page = browser.new_page()
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(f"{base}_images/sphx_glr_s3_raw_attention_001-dark.svg")
    fills = "[...document.querySelectorAll('path')].map(path => getComputedStyle(path).fill)"
    assert "rgb(19, 20, 22)" in page.evaluate(fills)
    assert page.title() == page.evaluate("document.querySelector('title').textContent")
    assert not [message for message in said if "Content Security Policy" in message]
    page.close()
