r"""Formulas become MathML that a browser can show, or an error that says where."""

import re
from io import StringIO
from xml.etree import ElementTree

import pytest

pytest.importorskip("sphinx", reason="the site's packages are not installed")

from bs4 import BeautifulSoup
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from attnlab.errors import InvalidValueError
from attnlab.sphinxext.mathml import to_mathml


def parse(tex, *, display=False):
    """Return the formula as a tree, without namespaces."""
    mathml = to_mathml(tex, display=display).replace("&ApplyFunction;", "")
    return ElementTree.fromstring(mathml.replace('xmlns="http://www.w3.org/1998/Math/MathML"', ""))


def texts(tree, tag):
    return [element.text for element in tree.iter(tag)]


def test_the_attention_formula_is_complete():
    tree = parse(r"\operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V")
    fraction = tree.find(".//mfrac")
    assert texts(tree, "mi") == ["softmax", "Q", "K", "⊤", "d", "k", "V"]
    assert texts(fraction[0], "mi") == ["Q", "K", "⊤"]
    assert fraction[1].tag == "msqrt"
    assert [child.text for child in fraction[1].find("msub")] == ["d", "k"]
    assert texts(tree, "mo")[-2:] == ["(", ")"]


def test_a_matrix_keeps_rows_and_columns():
    tree = parse(r"\begin{bmatrix} 0.9 & 0 & 0.3 \\ 0.3 & 0.3 & 0.9 \end{bmatrix}", display=True)
    rows = [texts(row, "mn") for row in tree.iter("mtr")]
    assert rows == [["0.9", "0", "0.3"], ["0.3", "0.3", "0.9"]]
    assert texts(tree, "mo") == ["[", "]"]


def test_aligned_rows_and_empty_lines_start_rows():
    aligned = parse("\\begin{aligned} a &= b \\\\ &= c \\end{aligned}", display=True)
    assert [len(row) for row in aligned.iter("mtr")] == [2, 2]
    separate = parse("a = b\n\nc = d", display=True)
    assert [texts(row, "mi") for row in separate.iter("mtr")] == [["a", "b"], ["c", "d"]]


@pytest.mark.parametrize(
    ("tex", "sign"),
    [
        (r"\alpha", "α"),
        (r"\sigma", "σ"),
        (r"\mathbb{R}", "ℝ"),
        (r"\mathcal{N}", "𝒩"),
        (r"\infty", "∞"),
        (r"\exp(x)", "exp"),
        (r"\text{the bank}", "the bank"),
        (r"\mathrm{softmax}", "softmax"),
        (r"\cdot", "⋅"),
        (r"\times", "×"),
        (r"\sum_j x_j", "∑"),
        (r"\cdots", "⋯"),
        (r"\approx", "≈"),
        ("a < b", "<"),
    ],
)
def test_the_signs_of_the_field(tex, sign):
    assert sign in "".join(parse(tex).itertext())


def test_only_a_display_formula_is_a_block():
    assert parse("x").get("display") is None
    assert parse("x", display=True).get("display") == "block"


def test_the_tex_is_kept_as_the_alternative_text():
    tex = r"""\text{the "river" bank} < \sqrt{b}"""
    assert parse(tex).get("alttext") == tex


@pytest.mark.parametrize(
    ("tex", "complaint"),
    [
        ("", "empty"),
        ("  \n ", "empty"),
        (r"\unknowncommand", r"\unknowncommand"),
        (r"\begin{foo} x \end{foo}", "foo"),
        (r"\frac{1}", "Source incomplete"),
        ("a_", "Source incomplete"),
        ("^2", "cannot make sense of '^2'"),
        ("a & b", "cannot make sense of 'a & b'"),
        ("{a", "braces do not pair in '{a'"),
        (r"\frac{1}{2}}", "braces do not pair"),
        (r"\begin{bmatrix} 1 & 2", "begin['bmatrix'] and \\end[] do not pair"),
        (r"\begin{pmatrix} 1 \end{bmatrix}", "do not pair"),
        (r"\text{standard\ deviation}", "a command would be shown"),
        (r"\left( x", r"\left and \right do not pair"),
        ("a − b", "−"),
    ],
)
def test_what_cannot_be_converted_is_an_error_that_says_why(tex, complaint):
    with pytest.raises(InvalidValueError, match=re.escape(complaint)):
        to_mathml(tex, display=False)


def test_escaped_braces_need_no_partner():
    assert "{" in texts(parse(r"\{ x"), "mo")


def test_a_row_break_before_a_brace_is_not_an_escaped_brace():
    assert len(list(parse(r"a \\{b}", display=True).iter("mtr"))) == 2


@pytest.fixture
def build(tmp_path):
    """Build a page in this process; return the page and the warnings."""

    def run(source):
        (tmp_path / "index.rst").write_text(source, "utf-8")
        warnings = StringIO()
        overrides = {
            "extensions": ["attnlab.sphinxext.mathml"],
            "html_math_renderer": "mathml",
            "nitpicky": True,
        }
        out = tmp_path / "out"
        with docutils_namespace(), patch_docutils():
            app = Sphinx(
                tmp_path, None, out, out / "doctrees", "html", overrides, None, warnings, True
            )
            app.build()
        html = (out / "index.html").read_text("utf-8")
        return BeautifulSoup(html, "html.parser"), warnings.getvalue()

    return run


def test_a_page_shows_inline_and_display_formulas(build):
    page, warnings = build("Title\n=====\n\nHere :math:`x_1` and\n\n.. math::\n\n   y_2\n")
    inline, display = page.find_all("math")
    assert inline.parent.name == "p"
    assert display.parent.name == "div"
    assert "math" in display.parent["class"]
    assert not page.select("script[src*=ath]")
    assert warnings == ""


def test_a_label_gives_a_number_that_can_be_linked_to(build):
    page, warnings = build(
        "Title\n=====\n\nSee :eq:`head`.\n\n.. math:: x\n\n.. math::\n   :label: head\n\n   y\n"
    )
    link = page.select_one("p a.reference")
    assert link.get_text() == "(1)"
    target = page.find(id=link["href"].removeprefix("#"))
    assert target.find("math")["alttext"] == "y"
    assert target.select_one(".eqno").get_text().startswith("(1)")
    assert len(page.select(".eqno")) == 1
    assert warnings == ""


def test_an_unknown_label_is_a_warning(build):
    _, warnings = build("Title\n=====\n\nSee :eq:`head`.\n")
    assert "index.rst:4: WARNING: equation not found: head" in warnings


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("Title\n=====\n\nOne.\n\nTwo\n:math:`\\frac{1}`.\n", 6),
        ("Title\n=====\n\n.. math::\n\n   \\nonsense < 1\n", 4),
    ],
)
def test_a_bad_formula_is_a_warning_with_file_and_line(build, source, line):
    page, warnings = build(source)
    assert re.search(rf"index\.rst:{line}: WARNING: formula: .*\[attnlab\.formula\]", warnings)
    assert page.find("math") is None
    assert page.find("code").get_text() in source  # the TeX, for whoever looks at the page
