"""Traces: the data, the numbers that are shown, the four formats, the command, hostile words."""

import html
import math
import re
import shutil
import subprocess
from dataclasses import FrozenInstanceError, replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from arithmetic import assert_equation_follows, equations, evaluate, worlds
from hypothesis import given
from hypothesis import strategies as st

import attnlab
from attnlab import TOY_WORLD, ToyWorld, attention, byhand, raw_attention, trace_word
from attnlab.cli import main
from attnlab.errors import InvalidTypeError, InvalidValueError, UnknownWordError
from attnlab.trace import FORMATS

GOLDEN = Path(__file__).parent / "golden"
#: To make one again: python -m attnlab trace ARGUMENTS -o tests/golden/NAME
CASES = {
    "trace_raw.txt": ["the river bank"],
    "trace_causal.md": [*["--head", "wired", "--causal", "--word", "river"], "the river bank"],
    "trace_unscaled.tex": [*["--head", "wired", "--unscaled", "--places", "2"], "the money bank"],
    "trace_sharp.html": [*["--sharpness", "50"], "the river bank"],
}


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")  # main sets it, so have it put back


@pytest.mark.parametrize(("name", "arguments"), CASES.items(), ids=list(CASES))
def test_whole_traces(tmp_path, capsys, name, arguments):
    expected = (GOLDEN / name).read_bytes()
    assert main(["trace", *arguments, "-o", name]) == 0
    assert capsys.readouterr() == (f"wrote {name}\n", "")
    assert (tmp_path / name).read_bytes() == expected
    assert [file.name for file in tmp_path.iterdir()] == [name]
    form = {".txt": "text", ".md": "markdown", ".tex": "latex", ".html": "html"}
    assert main(["trace", *arguments, "--format", form[Path(name).suffix]]) == 0
    assert capsys.readouterr() == (expected.decode(), "")


# The data


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("word", ["the", "river", "bank"])
def test_the_result_is_the_package_s_own_in_full_precision(word, causal):
    X = TOY_WORLD.embed("the river bank")
    row = ["the", "river", "bank"].index(word)
    wired = attention(X, TOY_WORLD.W_Q, TOY_WORLD.W_K, np.eye(4), causal=causal)
    traced = trace_word(TOY_WORLD, "the river bank", word, head="wired", causal=causal)
    np.testing.assert_allclose(traced.weights, wired.weights[row], rtol=0, atol=1e-15)
    np.testing.assert_allclose(traced.output, wired.output[row], rtol=0, atol=1e-15)
    seen = row + 1 if causal else 3
    scaled = list(traced.values("scaling").values())
    np.testing.assert_allclose(scaled, wired.scores[row, :seen], atol=1e-15)
    if not causal:
        raw = trace_word(TOY_WORLD, "the river bank", word)
        np.testing.assert_allclose(raw.output, raw_attention(X).output[row], rtol=0, atol=1e-15)
        np.testing.assert_allclose([*raw.values("scores").values()], (X @ X.mT)[row], atol=1e-15)


def test_steps_are_data():
    traced = trace_word(TOY_WORLD, ["the", "river", "bank"], head="wired")
    assert traced.sentence == "the river bank"
    assert traced.word == "bank"  # the world's focus
    assert [title for title, _ in traced.parts] == [
        *("Query", "Keys", "Scores", "Scaling", "Exponentials", "Weights", "Output")
    ]
    assert traced.values("query") == {"q_topic": 1.8, "q_place": 0.0}
    assert traced.values("weights")["river"] == traced.weights[1]
    assert traced.values("check") == {"sum": pytest.approx(1, abs=1e-15)}
    assert traced.values("shift") == {}
    assert {step.kind for step in traced.calculation.steps} <= set(attnlab.trace.TITLES)
    with pytest.raises(FrozenInstanceError):
        traced.word = "river"


def test_sharpness_and_a_hidden_word():
    traced = trace_word(
        TOY_WORLD, "the river bank", "river", head="wired", causal=True, sharpness=30
    )
    assert traced.values("scores")["bank"] == -math.inf
    assert list(traced.values("sharpening")) == ["the", "river"]
    assert list(traced.values("shift").values()) == pytest.approx([-11.4551, 0], abs=1e-4)
    assert traced.weights[2] == 0
    text = traced.write()
    assert "    bank:             −∞\n" in text
    assert "    bank:  e^−∞ = 0.000\n" in text
    assert "    bank:  0.000 / 1.000 = 0.000\n" in text


# What is shown follows from what is shown


def shown_lines(text):
    """The lines of formula in a written trace, each whole, without the name before a colon."""
    lines = []
    for line in text.splitlines():
        if re.search(r"(?<!\w)[=≈] ", line):
            if re.match(r" +[-+=≈−]", line):
                lines[-1] += f" {line.strip()}"
            else:
                lines.append(re.sub(r"^ *\S+: +", "", line).strip())
        elif re.match(r" +[+−] ", line):
            lines[-1] += f" {line.strip()}"
    return lines


def assert_follows(traced):
    """Read a trace as a reader does, and work every line out from the numbers that it shows."""
    places = traced.calculation.places
    text, markdown = traced.write("text"), traced.write("markdown")
    checked = list(equations(shown_lines(text)))
    assert list(equations(shown_lines(markdown))) == checked
    bound = " ".join(text.split("Rounding\n--------")[1].split())
    away = float((re.search(r"may end up to ([\d.,]+) away", bound) or "00")[1].replace(",", ""))
    unit = 10**-places
    for left, sign, right in checked:
        assert_equation_follows(left, sign, right, places)
        again, result = evaluate(left, places).shown, evaluate(right, places).shown
        assert abs(again - result) < away + 0.5 * unit + 1e-9, (left, right, bound)
    # Each number at the end of a line is its value, rounded.
    for step in traced.calculation.steps:
        for line in step.lines:
            if line.value is not None and math.isfinite(line.value):
                shown = float(re.split(r"[=≈] ", line.formula.text)[-1].replace("−", "-"))
                assert abs(shown - line.value) <= 0.5 * unit + 1e-12 * abs(line.value)
    if bound.startswith("Nothing is rounded"):
        assert "≈" not in text
    else:
        assert f"at most {0.5 * unit:.{places + 1}f} off" in bound
    return checked


@given(
    worlds(),
    st.sampled_from([["a"], ["a", "b-c"], ["été", "b-c", "a"]]),
    st.data(),
    st.sampled_from(["raw", "wired"]),
    st.booleans(),
    st.sampled_from([1, 0.5, 3.25, 40]),
    st.integers(1, 6),
)
def test_every_line_follows_from_the_numbers_that_it_shows(
    world, words, data, head, causal, sharpness, places
):
    traced = trace_word(
        world,
        words,
        data.draw(st.sampled_from(words)),
        head=head,
        causal=causal,
        scaled=head == "raw" or data.draw(st.booleans()),
        sharpness=sharpness,
        places=places,
    )
    checked = assert_follows(traced)
    lines = sum(len(step.lines) for step in traced.calculation.steps)
    words_only = 1 + sum(value == -math.inf for value in traced.values("scores").values())
    assert len(checked) >= lines - words_only


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.9 × 0.3 + 0.0 × 0.0 = 0.540", "0.9 × 0.3 + 0.0 × 0.0 = 0.541"),
        ("e^0.540 ≈ 1.716", "e^0.540 ≈ 1.718"),
        ("1.716 / 5.407 ≈ 0.317", "1.716 / 5.407 ≈ 0.318"),
        ("0.498 × 0.3 ≈ 0.435", "0.498 × 0.3 ≈ 0.436"),
        ("0.185 + 0.317 + 0.498 ≈ 1.000", "0.185 + 0.317 + 0.498 ≈ 1.003"),
        ("2.691 / 5.407", "2.680 / 5.407"),
        ("at most 0.0005 off", "at most 0.0001 off"),
    ],
)
def test_the_reader_sees_a_wrong_digit(monkeypatch, old, new):
    assert_the_reader_objects(monkeypatch, "raw", old, new)


def test_the_reader_sees_a_bound_too_small(monkeypatch):
    assert_the_reader_objects(monkeypatch, "wired", "up to 0.002 away", "up to 0.001 away")


def assert_the_reader_objects(monkeypatch, head, old, new):
    traced = trace_word(TOY_WORLD, "the river bank", head=head)
    assert_follows(traced)
    right = traced.write
    assert old in right("text")
    monkeypatch.setattr(type(traced), "write", lambda self, form: right(form).replace(old, new))
    with pytest.raises(AssertionError):
        assert_follows(traced)


def test_what_is_exact_says_so():
    world = replace(TOY_WORLD, embeddings=np.diag([0.0, 0.0, 0.0, 0.0]))
    traced = trace_word(world, ["bank"])
    assert traced.calculation.bound == "Nothing is rounded: every number shown is exact."
    assert_follows(traced)


def test_no_more_than_what_a_float_holds_is_shown():
    world = replace(TOY_WORLD, embeddings=TOY_WORLD.embeddings * 1e7)
    with pytest.raises(InvalidValueError, match="too many digits to be written with three dec"):
        trace_word(world, "the river bank")
    assert_follows(trace_word(replace(world, embeddings=TOY_WORLD.embeddings * 1e4), "the bank"))


# Formats, and words that they could mistake for markup

HOSTILE = (
    "a", "$x$", "_b_", "*c*", "<script>", "|", "&amp;", "```", "{e}", "50%", r"\f", "#g", "^h~",
    "www.i.com", "שלום", "مرحبا", "河流", "e\u0301te", "--", "''", '"j"', "[k](l)", "1.", "k>m",
)  # fmt: skip


@pytest.fixture
def hostile():
    """A world in which everything that has a name has one that some format could mistake."""
    n = len(HOSTILE)
    return ToyWorld(
        axes=HOSTILE[:4],
        words=HOSTILE,
        embeddings=np.arange(4.0 * n).reshape(n, 4) % 7 / 10,
        sentences=(" ".join(HOSTILE[:-1]), f"a {HOSTILE[-1]}"),
        focus="a",
        channels=HOSTILE[4:7],
        W_Q=np.ones((4, 3)),
        W_K=np.ones((4, 3)),
    )


@pytest.mark.parametrize("word", ["<script>", "שלום"])
def test_text_keeps_words_and_columns(hostile, word):
    traced = trace_word(hostile, hostile.words, word, head="wired")
    text = traced.write()
    assert f"q_{byhand.isolated(word)} · k_<script>" in text
    (head,) = (line for line in text.splitlines() if line.endswith("_b_  *c*"))
    entries = [line for line in text.splitlines() if re.match(r"    \S+ +0\.\d  +0", line)]
    assert len(entries) == len(hostile.words)
    assert len({columns(line) for line in [head, *entries]}) == 1
    assert "\u2068שלום\u2069" in text
    assert "\u2068" not in trace_word(TOY_WORLD, "the river bank").write()


def columns(text):
    from wcwidth import wcswidth

    return wcswidth(text)


def test_markdown_shows_words_as_they_are(hostile):
    markdown_it = pytest.importorskip("markdown_it", reason="no reader of Markdown is installed")
    parser = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    traced = trace_word(hostile, hostile.words, "*c*", head="wired")
    seen = parser.render(traced.write("markdown"))
    assert set(re.findall(r"<(\w+)", seen)) == {
        *("h1", "h2", "p", "em", "table", "thead", "tbody", "tr", "th", "td", "pre", "code")
    }
    cells = re.findall(r'<td style="text-align:left">(.*?)</td>', seen)
    unescaped = [html.unescape(cell).strip("\u2068\u2069") for cell in cells]
    assert unescaped[: len(hostile.words)] == list(hostile.words)
    assert "<em>*c*</em>" in seen
    assert seen.count("<pre>") == len(traced.calculation.steps)


class Structure(HTMLParser):
    """Elements that are opened and closed, and the text."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.text = [], [], ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in ("meta", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_html_is_whole_and_asks_for_nothing(hostile):
    traced = trace_word(hostile, hostile.words, "<script>", head="wired")
    page = traced.write("html")
    parsed = Structure(page)
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">')
    elements = [tag for tag, _ in parsed.elements]
    assert not {"script", "link", "img", "iframe", "object"} & set(elements)
    assert elements.count("title") == elements.count("main") == elements.count("h1") == 1
    for _, attributes in parsed.elements:
        assert not {"src", "href", "style", "onclick"} & set(attributes)
    assert "url(" not in page
    assert "<title>The output of &lt;script&gt; in" in page
    for word in hostile.words:
        assert word in parsed.text


BALANCED = re.compile(r"\\[{}]")


def test_latex_is_balanced_and_escaped(hostile):
    traced = trace_word(hostile, hostile.words, "$x$", head="wired", causal=True)
    tex = traced.write("latex")
    bare = BALANCED.sub("", tex)
    assert bare.count("{") == bare.count("}")
    assert tex.count(r"\begin{") == tex.count(r"\end{")
    assert r"\emph{\$x\$}" in tex
    body = tex.split(r"\begin{document}")[1]
    assert re.search(r"(?<!\\)[#%]", body) is None
    assert r"\orcode{河}{6CB3}" in tex
    assert r"\orcode" not in trace_word(TOY_WORLD, "the river bank").write("latex")


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")
@pytest.mark.parametrize("name", ["toy", "hostile"])
def test_latex_compiles(tmp_path, hostile, name):
    if name == "toy":
        traced = trace_word(TOY_WORLD, "the river bank", head="wired", causal=True, sharpness=30)
    else:
        traced = trace_word(hostile, hostile.words, "<script>", head="wired")
    (tmp_path / "trace.tex").write_text(traced.write("latex"), "utf-8")
    done = subprocess.run(
        ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "trace.tex"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing character" not in done.stdout


def test_an_unknown_format():
    with pytest.raises(InvalidValueError, match="did you mean 'markdown'"):
        trace_word(TOY_WORLD, "bank").write("markdwn")
    assert set(FORMATS) == {"text", "markdown", "latex", "html"}


# What is refused


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (["the rivr bank"], {}, UnknownWordError, "unknown word 'rivr'"),
        ([""], {}, InvalidValueError, "must hold at least one word"),
        (["the river"], {}, InvalidValueError, "focus word 'bank' does not stand in the sentence"),
        (["the river bank", "money"], {}, InvalidValueError, "stands there nowhere"),
        (["the the bank", "the"], {}, InvalidValueError, "stands there twice or more"),
        (["the bank", "rivr"], {}, UnknownWordError, "did you mean 'river'"),
        (["the bank"], {"head": "wierd"}, InvalidValueError, "did you mean 'wired'"),
        (["the bank"], {"scaled": False}, InvalidValueError, "unscaled goes with head: wired"),
        (["the bank"], {"sharpness": 0}, InvalidValueError, "above 0 and at most 1000"),
        (["the bank"], {"sharpness": "5"}, InvalidTypeError, "must be a number, but it is '5'"),
        (["the bank"], {"places": 10}, InvalidValueError, "from 1 to 9, but it is 10"),
        (["the bank"], {"places": 2.0}, InvalidTypeError, "a whole number, but it is 2.0"),
        (["the bank"], {"places": True}, InvalidTypeError, "a whole number, but it is True"),
    ],
)  # fmt: skip
def test_what_is_refused(arguments, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        trace_word(TOY_WORLD, *arguments, **options)


MISTAKES = {
    "unknown word": (["the rivr bank"], "unknown word 'rivr' in 'the rivr bank': did you mean"),
    "empty sentence": (["  "], "a sentence must hold at least one word"),
    "no focus": (["the river"], "name a word that does"),
    "word elsewhere": (["the bank", "--word", "money"], "stands there nowhere"),
    "word twice": (["the the bank", "--word", "the"], "stands there twice or more"),
    "unscaled raw": (["the bank", "--unscaled"], "unscaled goes with head: wired only"),
    "no number": (["the bank", "--sharpness", "nan"], "at most 1000, but it is nan"),
    "no world": (["the bank", "--world", "none.toml"], "there is no such file"),
    "a folder": (["the bank", "-o", "folder"], "it is a folder, and a file is wanted"),
    "nowhere": (["the bank", "-o", "/proc/nowhere/t.md"], "cannot write into /proc/nowhere"),
}


@pytest.mark.parametrize(("arguments", "shown"), MISTAKES.values(), ids=list(MISTAKES))
def test_mistakes_are_answered_in_one_line(tmp_path, capsys, contents, arguments, shown):
    (tmp_path / "folder").mkdir()
    before = contents(tmp_path)
    assert main(["trace", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("attnlab: ")
    assert err.count("\n") == 1
    assert shown in err
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [([], "SENTENCE"), (["x", "--head", "wierd"], "invalid choice: 'wierd'"),
     (["x", "--places", "two"], "invalid int value: 'two'")],
)  # fmt: skip
def test_usage(capsys, arguments, shown):
    with pytest.raises(SystemExit) as caught:
        main(["trace", *arguments])
    assert caught.value.code == 2
    assert shown in capsys.readouterr().err


def test_a_world_of_ones_own(tmp_path, capsys):
    assert main(["world", "init", "my.toml"]) == 0
    text = (tmp_path / "my.toml").read_text("utf-8")
    (tmp_path / "my.toml").write_text(text.replace("river = [0.9", "river = [0.5"), "utf-8")
    capsys.readouterr()
    assert main(["trace", "the river bank", "--world", "my.toml"]) == 0
    assert "bank · river = 0.3 × 0.5 + 0.3 × 0.0 + 0.9 × 0.3 + 0.0 × 0.0 = 0.420" in (
        capsys.readouterr().out
    )


def test_a_terminal_that_lacks_the_signs(python):
    done = python("-m", "attnlab", "trace", "the bank", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "e^0.990 \\u2248 2.691" in done.stdout
