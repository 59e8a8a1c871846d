"""The directives: what they show, how accessible it is, and what they refuse at which line."""

import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the site's packages are not installed")

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from attnlab import TOY_WORLD, attention, raw_attention, sphinxext
from attnlab.errors import InvalidValueError
from attnlab.sphinxext import directives
from attnlab.sphinxext.directives import attention_tables, log_lines, plain

# Every build makes a whole run, and so compares with PyTorch.
pytestmark = pytest.mark.torch

GOOD = {
    "index": """\
        Home
        ====

        .. by-hand:: dot bank river

        .. by-hand:: softmax bank
           :head: wired

        .. toctree::

           heads
           results
           excerpts
        """,
    "heads": """\
        Heads & tails
        =============

        .. attention:: the river bank
           :heatmap:

        .. attention:: river money bank the
           :head: wired
           :causal:
           :show: scores, weights, output
           :caption: My own <words>

        .. attention::

           The admonition of this name.

        Bank ends with :measured:`0.435 <S3.output.river_bank.water>` of water, again
        :measured:`0.43 <S3.output.river_bank.water>`, and little
        :measured:`0.149 <S3.output.river_bank.money>` of money.
        """,
    "results": """\
        The log
        =======

        .. results-log::
        """,
    "excerpts": """\
        Excerpts
        ========

        .. results-log::
           :section: S3

        .. results-log::
           :block: S3.scores.river_bank

        It begins on :logline:`S3.scores.river_bank`, and has
        :measured:`0.435 <S3.output.river_bank.water>`. See also
        :logline:`the heading <S3.heading>`.
        """,
}


HEATMAP = ":orphan:\n\nMore\n====\n\n.. attention:: the money bank\n   :heatmap:\n"
MORE = {f"more{i}": HEATMAP for i in range(4)}


class Site:
    """A built site: its pages as trees, and the warnings."""

    def __init__(self, app, warnings):
        self.app, self.warnings = app, re.sub("\x1b.*?m", "", warnings)
        self.out = Path(app.outdir)

    def page(self, name):
        html = (self.out / f"{name}.html").read_text("utf-8")
        return BeautifulSoup(html, "html.parser", preserve_whitespace_tags={"pre", "code"})


def dedent(text):
    return re.sub(r"^ {8}", "", text, flags=re.MULTILINE)


def write(folder, pages):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (folder / f"{name}.rst").write_text(dedent(text), "utf-8")
    return folder


def make(folder, pages, builder="html", **settings):
    """Build pages in this process."""
    write(folder, pages)
    warnings = StringIO()
    settings = {
        "extensions": ["attnlab.sphinxext"],
        "html_math_renderer": "mathml",
        "html_sidebars": {"**": []},
        **settings,
    }
    out = folder / "out"
    with docutils_namespace(), patch_docutils():
        app = Sphinx(folder, None, out / builder, out / "doctrees", builder, settings, None,
                     warnings)  # fmt: skip
        app.build()
    return Site(app, warnings.getvalue())


@pytest.fixture
def build(tmp_path):
    return lambda pages, builder="html", **settings: make(tmp_path, pages, builder, **settings)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return make(tmp_path_factory.mktemp("good"), GOOD)


def test_the_good_site_has_no_warning(site):
    assert site.warnings == ""


# By hand


def test_by_hand_is_short_sentences_and_formulas(site):
    dot, softmax = site.page("index").select("div.attnlab-by-hand")
    assert [p.get_text() for p in dot.find_all("p")] == [
        "Multiply the entries of bank and river axis by axis, and add the products:"
    ]
    assert [em.get_text() for em in dot.find_all("em")] == ["bank", "river"]
    (formula,) = dot.find_all("math")
    assert formula["alttext"].endswith(
        "\\mathrm{bank} \\cdot \\mathrm{river} & = 0.27 + 0 + 0.27 + 0 \\\\\n & {} = 0.540\n"
        "\\end{aligned}"
    )
    assert softmax.find_all("p")[-1].get_text() == (
        "Rounded to three decimals; calculated with all digits."
    )
    assert len(softmax.find_all("math")) == 4


# Attention


def cells(table, tag="td"):
    return [(cell.p or cell).get_text(strip=True) for cell in table.find_all(tag)]


def numbers(matrix):
    return [f"{x:z.3f}".replace("-inf", "−∞") for x in matrix.ravel()]


def test_tables_show_what_the_package_calculates(site):
    raw, scores, weights, output = site.page("heads").select("table")
    assert cells(raw)[1:] == numbers(raw_attention(TOY_WORLD.embed("the river bank")).weights)
    wired = attention(
        TOY_WORLD.embed("river money bank the"),
        TOY_WORLD.W_Q,
        TOY_WORLD.W_K,
        [[i == j for j in range(4)] for i in range(4)],
        causal=True,
    )
    assert cells(scores)[1:] == numbers(wired.scores)
    assert cells(weights)[1:] == numbers(wired.weights)
    assert cells(output)[1:] == numbers(wired.output)
    assert "−∞" in cells(scores)


def test_tables_have_header_cells_with_scope_and_a_caption(site):
    for table in site.page("heads").select("table"):
        columns = table.select("thead th")
        assert {th["scope"] for th in columns} == {"col"}
        for row in table.select("tbody tr"):
            (header,) = row.find_all("th")
            assert header["scope"] == "row"
            assert header == row.find(True)
            assert len(row.find_all("td")) == len(columns)
        box = table.find_parent(class_="attnlab-scroll")
        assert (box["role"], box["tabindex"]) == ("region", "0")
        assert box["aria-label"] == table.select_one(".caption-text").get_text()
    raw, scores, _, output = site.page("heads").select("table")
    assert raw.select_one(".caption-text").get_text() == (
        "Weights: raw attention on “the river bank” (a row a query, a column a key)"
    )
    assert scores.caption.get_text().startswith("Scores: My own <words> (")
    assert cells(raw.thead, "th") == ["the", "river", "bank"]
    assert cells(output.thead, "th") == list(TOY_WORLD.axes)
    assert cells(output.tbody, "th") == ["river", "money", "bank", "the"]


def test_weights_are_shaded_by_classes_and_nothing_has_an_inline_style(site):
    raw, scores, weights, _ = site.page("heads").select("table")
    shades = [cell["class"][0] for cell in raw.select("tbody td")]
    assert shades == ["w6", "w2", "w2", "w2", "w5", "w3", "w2", "w3", "w5"]
    assert weights.select("tbody td")[0]["class"] == ["w10"]
    assert not scores.select("tbody td[class^=w]")
    for name in GOOD:
        assert not site.page(name).select("[role=main] [style]")
    sheet = (site.out / "_static" / "attnlab-proof.css").read_text("utf-8")
    assert all(f"td.w{i} " in sheet for i in range(1, 11))
    links = [link["href"].split("?")[0] for link in site.page("heads").select("link")]
    assert "_static/attnlab-proof.css" in links


def test_the_heatmap_tells_its_numbers(site):
    light, dark = site.page("heads").select("[role=main] .attnlab-picture img")
    assert light["alt"] == dark["alt"]
    assert light["alt"] == (
        "“the river bank”. Heatmap of the weights, raw attention: "
        "the gives the 0.576, river 0.212, bank 0.212; "
        "river gives the 0.193, river 0.475, bank 0.332; "
        "bank gives the 0.185, river 0.317, bank 0.498."
    )
    for image, theme in ((light, "light"), (dark, "dark")):
        file = site.out / image["src"]
        assert re.fullmatch(rf"attention-[0-9a-f]{{16}}-{theme}\.svg", file.name)
        assert file.exists()


def test_the_admonition_of_the_same_name_still_works(site):
    (admonition,) = site.page("heads").select("div.admonition.attention")
    assert "The admonition of this name." in admonition.get_text()


# The log


def test_the_whole_log_has_an_anchor_a_line(site, log):
    page = site.page("results")
    lines = page.select(".attnlab-log .attnlab-line[id]")
    assert [line["id"] for line in lines] == [f"L{i + 1}" for i in range(len(log.lines))]
    assert [line.code.get_text() for line in lines] == [line.text for line in log.lines]
    assert len(page.select("[id]")) == len({element["id"] for element in page.select("[id]")})


def test_line_numbers_are_links_that_are_not_copied(site, log):
    lines = site.page("results").select("div.attnlab-line[id]")
    headings = site.page("results").select("summary.attnlab-line[id]")
    assert len(lines) + len(headings) == len(log.lines)
    for line in lines:
        number = line.find("a", class_="attnlab-number")
        assert number.get_text() == ""
        assert number["href"] == f"#{line['id']}"
        assert number["aria-label"] == f"line {number['data-line']}"
        assert f"L{number['data-line']}" == line["id"]
    assert all(heading["id"] == f"L{heading['data-line']}" for heading in headings)


def test_each_section_folds_under_its_heading(site, log):
    folds = site.page("results").select("details.attnlab-fold")
    assert all(fold.has_attr("open") for fold in folds)
    assert [fold.summary.get_text() for fold in folds] == [
        log.lines[log.blocks[f"S{i}.heading"][0] - 1].text for i in range(1, 7)
    ]
    assert folds[2].find(id="L30")
    assert not folds[2].find(id="L53")


def test_a_number_tells_its_name(site, log):
    line = site.page("results").find(id=f"L{log.line_numbers['S4.query.river.topic']}")
    (number,) = line.select("span[title='S4.query.river.topic']")
    assert number.get_text() == "0.60"


def test_a_line_lists_where_its_numbers_are_cited(site, log):
    page = site.page("results")
    number = log.line_numbers["S3.output.river_bank.water"]
    for line in (number, log.blocks["S3.contrast"][0]):  # both show the number
        cited = page.find(id=f"L{line}").find("details")
        assert not cited.has_attr("open")
        assert cited.summary.get_text() == "cited 4×"
        water, money = cited.find_all("li")
        assert water.get_text() == ("0.435 S3.output.river_bank.water: Excerpts, Heads & tails (2)")
        assert money.get_text() == "0.149 S3.output.river_bank.money: Heads & tails"
    links = [link["href"] for link in page.select(".attnlab-cited a")]
    for link in links:
        name, _, anchor = link.partition("#")
        assert site.page(name.removesuffix(".html")).find(id=anchor), link
    assert len(site.page("results").select(".attnlab-cited")) == 4


def test_a_cited_block_or_heading_is_told_too(site, log):
    page = site.page("results")
    block = page.find(id=f"L{log.blocks['S3.scores.river_bank'][0]}")
    assert "all of S3.scores.river_bank: Excerpts" in block.get_text()
    heading = page.find(id=f"L{log.blocks['S3.heading'][0]}")
    assert not heading.find("details")  # no fold within a fold's own heading
    assert "all of S3.heading: Excerpts" in heading.find_next_sibling().get_text()


def test_excerpts_link_to_the_whole_log_and_have_no_anchors(site, log):
    section, block = site.page("excerpts").select(".attnlab-log")
    for part, name in ((section, "S3"), (block, "S3.scores.river_bank")):
        assert not part.select("[id]")
        assert not part.select(".attnlab-cited")
        for number in part.select("a.attnlab-number"):
            assert number["href"] == f"results.html#L{number['data-line']}"
        first = log.blocks[name if "." in name else f"{name}.heading"][0]
        assert part.find(class_="attnlab-line").code.get_text() == log.lines[first - 1].text
    assert section.find("details").summary
    assert section.select("code")[-1].get_text().startswith("  [plot saved")
    assert not block.find("details")
    assert len(block.select("code")) == len(log.blocks["S3.scores.river_bank"])


def test_without_a_page_of_the_log_the_line_numbers_are_plain(build):
    site = build({"index": "Home\n====\n\n.. results-log::\n   :section: S1\n"})
    assert not site.page("index").select("a.attnlab-number")
    assert site.page("index").select("span.attnlab-number[data-line='7']") == []  # the heading
    assert site.page("index").select_one("span.attnlab-number")["data-line"] == "8"
    assert site.warnings == ""


@pytest.mark.parametrize("name", ["by-hand", "attention", "results-log"])
def test_what_a_directive_shows_needs_no_other_proof(site, name):
    page = {"by-hand": "index", "attention": "heads", "results-log": "results"}[name]
    doctree = site.app.env.get_doctree(page)
    proved = [node for node in doctree.findall(nodes.Element) if node.get("attnlab_proved")]
    assert proved
    assert all(node.line and node.source for node in proved if node.tagname == "container")


# Other builders and themes


def test_a_builder_that_is_not_html_gets_plain_tables_and_a_literal_block(build, log):
    text = build(GOOD, "text").out
    assert "0.576" in (text / "heads.txt").read_text("utf-8")
    for line in log.lines:
        assert line.text in (text / "results.txt").read_text("utf-8")
    latex = (build(GOOD, "latex").out / "projectnamenotset.tex").read_text("utf-8")
    assert "\\begin{aligned}" in latex
    assert "score matrix S = X @ X.T" in latex
    assert "\\sphinxincludegraphics" in latex


def test_furo_and_the_default_math_renderer(build):
    pytest.importorskip("furo")
    site = build(GOOD, html_theme="furo", html_math_renderer="mathjax", html_sidebars={})
    assert site.warnings == ""
    table = site.page("heads").select_one("table.attnlab-weights")
    assert table.find_parent(class_="attnlab-scroll")
    assert r"\begin{aligned}" in site.page("index").select_one(".attnlab-by-hand").get_text()


@pytest.mark.slow
def test_serial_and_parallel_builds_give_the_same_pages(tmp_path, contents):
    built = []
    for name, jobs in (("serial", "1"), ("parallel", "2")):
        folder = write(tmp_path / name, GOOD | MORE)
        (folder / "conf.py").write_text(
            "extensions = ['attnlab.sphinxext']\nhtml_math_renderer = 'mathml'\n", "utf-8"
        )
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "-j", jobs, ".", "out"]
        ran = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "PYTHONHASHSEED": jobs},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        files = contents(folder / "out")
        built.append({name: text for name, text in files.items() if ".doctrees" not in name})
    assert built[0].keys() == built[1].keys()
    assert [name for name in built[0] if built[0][name] != built[1][name]] == []


# Builds after the first


def rebuilt(site, name):
    """When a page was written."""
    return (site.out / f"{name}.html").stat().st_mtime_ns


def test_the_log_follows_its_citations(build):
    first = build(GOOD)
    before = rebuilt(first, "results")
    again = build({})
    assert rebuilt(again, "results") == before
    changed = build({"heads": GOOD["heads"].replace(":measured:`0.43 ", ":measured:`0.4 ")})
    assert rebuilt(changed, "results") == before  # cited as before
    fewer = build({"heads": GOOD["heads"].partition(", and little")[0] + ".\n"})
    assert "river_bank.money" not in str(fewer.page("results").select(".attnlab-cited"))
    assert fewer.page("results").select_one("#L46 summary").get_text() == "cited 3×"
    renamed = build({"heads": GOOD["heads"].replace("Heads & tails", "Other heads  ")})
    assert "Other heads" in str(renamed.page("results").select(".attnlab-cited"))
    assert renamed.warnings == ""


def test_excerpts_follow_the_page_of_the_log(build):
    build(GOOD)
    without = build({"results": "The log\n=======\n\nNot today.\n"})
    assert not without.page("excerpts").select("a.attnlab-number")
    back = build({"results": GOOD["results"]})
    assert back.page("excerpts").select("a.attnlab-number")


# What is refused, and where


BAD = [
    (".. by-hand::", "by-hand: the kind of calculation '' is not known; known are dot, query"),
    (".. by-hand:: dto bank river", "did you mean 'dot'?"),
    (".. by-hand:: dot bank", "dot takes two words, as in 'dot bank river', but 1 came"),
    (".. by-hand:: dot bank rivr", "unknown word 'rivr' in ['bank', 'rivr']: did you mean 'riv"),
    (".. by-hand:: softmax bank\n   :haed: wired", "did you mean 'head'?"),
    (".. by-hand:: softmax bank\n   :head: wierd", "did you mean 'wired'?"),
    (".. by-hand:: softmax bank\n\n   Some text.", "no text may stand in the directive, but"),
    (".. by-hand:: softmax money", "'money' must stand once in the sentence 'the river bank'"),
    (".. attention::", "attention: a sentence must hold at least one word"),
    (".. attention:: the rivr bank", "unknown word 'rivr' in 'the rivr bank': did you mean 'ri"),
    (".. attention:: bank\n   :heads: raw", "attention's option 'heads' is not known; did you me"),
    (".. attention:: bank\n   :head: both", "head 'both' is not known; known are raw, wired"),
    (".. attention:: bank\n   :show: wieghts", "show must be some of scores, weights, output"),
    (".. attention:: bank\n   :show:", "with commas between, but it is ''"),
    (".. attention:: bank\n   :heatmap: yes", "heatmap takes no value, but 'yes' was given"),
    (".. attention:: bank\n   :caption:", "caption must say something, but it is empty"),
    (".. attention:: bank\n   :unscaled:", "unscaled goes with head: wired only"),
    (".. attention:: bank\n\n   :head: wired", "without an empty line between"),
    (".. results-log:: S3", "it takes options only, such as :section: S3, but 'S3' stands"),
    (".. results-log::\n   :section: S7", "section 'S7' is not known; known are S1, S2"),
    (".. results-log::\n   :section:", "section '' is not known; known are S1, S2, S3, S4, S5, S6"),
    (".. results-log::\n   :block: S3.scores.river", "did you mean 'S3.scores.river_bank'"),
    (".. results-log::\n   :lines: 3", "results-log's option 'lines' is not known; known are"),
    (".. results-log::\n   :section: S3\n   :block: S3.end", "section and block exclude each"),
    (".. results-log::\n\n   Text.", "results-log: no text may stand in the directive"),
    (".. results-log::", "the whole log must stand on the page 'results', which attnlab_lo"),
]  # fmt: skip


def test_every_bad_use_is_a_warning_at_its_line(build):
    lines = ["Title", "=====", ""]
    expected = []
    for use, message in BAD:
        expected.append((len(lines) + 1, message))
        lines += [*use.split("\n"), "", "Between.", ""]
    site = build({"index": "\n".join(lines)})
    found = re.findall(r"index\.rst:(\d+): WARNING: (.*) \[attnlab\.([\w-]+)\]", site.warnings)
    assert len(found) == site.warnings.count("WARNING") == len(BAD)
    for (line, message), (use, _), (number, text, subtype) in zip(
        expected, BAD, found, strict=True
    ):
        assert int(number) == line, use
        assert message in text, use
        assert use.startswith(f".. {subtype}::")
        assert text.startswith(f"{subtype}: ")


def test_the_log_stands_once(build):
    site = build(
        {"index": "Home\n====\n\n.. results-log::\n\n.. results-log::\n"}, attnlab_log_page="index"
    )
    assert "index.rst:6: WARNING: results-log: the whole log must stand on its page once, " in (
        site.warnings
    )
    assert len(site.page("index").select("#L1")) == 1


def test_a_page_with_a_mistake_is_read_again(build):
    bad = {"index": "Home\n====\n\n.. by-hand:: dot bank rivr\n"}
    assert "index.rst:4: WARNING: by-hand:" in build(bad).warnings
    assert "index.rst:4: WARNING: by-hand:" in build({}).warnings


@pytest.mark.slow
def test_a_mistake_in_a_lesson_is_told_at_its_line_in_the_script(tmp_path):
    pytest.importorskip("sphinx_gallery")
    folder = write(tmp_path, {"index": "Home\n====\n\n.. toctree::\n\n   lessons/index\n"})
    (folder / "conf.py").write_text(
        "extensions = ['sphinx_gallery.gen_gallery', 'attnlab.sphinxext']\n"
        "html_math_renderer = 'mathml'\n"
        "sphinx_gallery_conf = {'examples_dirs': 'gallery', 'gallery_dirs': 'lessons'}\n",
        "utf-8",
    )
    lesson = (
        '"""\nOne\n===\n"""\n# %%\n# Text\n#\n# .. by-hand:: dot bank rivr\n#\n# More.\nx = 1\n'
    )
    (folder / "gallery").mkdir()
    (folder / "gallery" / "GALLERY_HEADER.rst").write_text("Lessons\n=======\n", "utf-8")
    (folder / "gallery" / "one.py").write_text(lesson, "utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", ".", "out"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 1
    assert re.search(r"one\.py:8: WARNING: by-hand: unknown word 'rivr'", ran.stderr), ran.stderr


# Without directives: notebooks and scripts


def test_plain_by_hand():
    shown = plain("by-hand", "dot bank river", {})
    assert shown.startswith("Multiply the entries of *bank* and *river* axis by axis")
    assert "\n    & {} = 0.540\n" in shown
    assert ".. math::\n\n   \\begin{aligned}\n" in shown


def test_plain_attention():
    assert plain("attention", "the river bank", {"head": "wired", "show": "weights,output"}) == (
        "Weights: wired head on “the river bank” (a row a query, a column a key)\n"
        "\n"
        ".. code-block:: none\n"
        "\n"
        "             the   river    bank\n"
        "   the     0.201   0.276   0.522\n"
        "   river   0.266   0.390   0.344\n"
        "   bank    0.159   0.500   0.341\n"
        "\n"
        "Output: wired head on “the river bank” (a row a word, a column an axis)\n"
        "\n"
        ".. code-block:: none\n"
        "\n"
        "           water   money   place  filler\n"
        "   the     0.406   0.157   0.553   0.201\n"
        "   river   0.454   0.103   0.426   0.266\n"
        "   bank    0.552   0.102   0.457   0.159\n"
    )
    assert plain("attention", "", {}, "Mind the gap.") == "**Attention:** Mind the gap.\n"


def test_plain_results_log(log):
    shown = plain("results-log", "", {"block": "S4.output"})
    assert shown == (
        ".. code-block:: none\n"
        "\n"
        "     bank's output vector: water=0.552  money=0.102  place=0.457  filler=0.159\n"
    )
    whole = plain("results-log", "", {})
    assert [line[3:] for line in whole.splitlines()[2:]] == log.text.rstrip("\n").split("\n")


@pytest.mark.parametrize(
    ("name", "arguments", "options", "content"),
    [
        ("by-hand", "dot", {}, ""),
        ("by-hand", "dot bank river", {}, "text"),
        ("attention", "bank", {}, "text"),
        ("attention", "nobody", {}, ""),
        ("results-log", "", {}, "text"),
        ("results-log", "", {"block": "S9"}, ""),
    ],
)
def test_plain_refuses_what_the_directive_refuses(name, arguments, options, content):
    with pytest.raises(InvalidValueError):
        plain(name, arguments, options, content)


def test_every_directive_has_a_plain_form():
    assert set(directives.PLAIN) == {"by-hand", "attention", "results-log"}
    assert callable(sphinxext.setup)


def test_unscaled_is_said_and_calculated():
    _, result, (table,) = attention_tables(
        TOY_WORLD, "the river bank", {"head": "wired", "unscaled": "", "causal": ""}
    )
    assert "wired head, unscaled, causal mask on" in table.caption
    assert result.scores[2, 1] == pytest.approx(1.62)


def test_lines_of_the_log(log):
    assert log_lines(log, "", {}) == list(range(1, len(log.lines) + 1))
    assert log_lines(log, "", {"block": "S3.end"}) == list(log.blocks["S3.end"])
    section = log_lines(log, "", {"section": "S3"})
    assert section[0] == log.blocks["S3.heading"][0]
    assert section[-1] == log.blocks["S3.end"][0] - 1
