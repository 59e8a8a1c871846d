"""Calculations by hand: what is written, that each step follows, and what is refused."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from arithmetic import assert_equation_follows, equations, worlds
from hypothesis import given
from hypothesis import strategies as st

from attnlab import TOY_WORLD, AttnlabError, ToyWorld, attention, byhand, raw_attention
from attnlab.byhand import Head, attend, calculate
from attnlab.errors import InvalidTypeError, InvalidValueError, UnknownWordError

ALL = [
    ("dot bank river", {}),
    ("query bank", {}),
    ("key river", {}),
    ("score bank river", {}),
    ("score bank river", {"head": "wired"}),
    ("score money river", {"head": "wired", "unscaled": None}),
    ("score bank river", {"head": "wired", "causal": None, "sharpness": "2"}),
    ("softmax bank", {}),
    ("softmax bank", {"sharpness": "5"}),
    ("softmax bank", {"sharpness": "50"}),
    ("softmax bank", {"head": "wired"}),
    ("softmax river", {"head": "wired", "causal": None, "places": "4"}),
    ("softmax the", {"head": "wired", "unscaled": "", "causal": ""}),
    ("output bank", {}),
    ("output bank", {"sentence": "the money bank"}),
    ("output river", {"sentence": "the river bank money", "head": "wired", "causal": None}),
    ("trace bank", {}),
    ("trace river", {"head": "wired", "causal": None, "sharpness": "30"}),
]


def test_a_dot_product_term_by_term():
    calculation = calculate(TOY_WORLD, "dot bank river")
    assert calculation.text == (
        "Multiply the entries of bank and river axis by axis, and add the products:\n"
        "    water:       0.3 × 0.9 = 0.27\n"
        "    money:       0.3 × 0.0 = 0\n"
        "    place:       0.9 × 0.3 = 0.27\n"
        "    filler:      0.0 × 0.0 = 0\n"
        "    bank · river = 0.27 + 0 + 0.27 + 0\n"
        "                 = 0.540\n"
    )
    assert calculation.result == pytest.approx(0.54)


def test_a_softmax_row():
    assert calculate(TOY_WORLD, "softmax bank").text == (
        "The score of each word is its dot product with bank:\n"
        "    the:   bank · the = 0.000\n"
        "    river: bank · river = 0.540\n"
        "    bank:  bank · bank = 0.990\n"
        "\n"
        "Take the exponential of each score, and add them up:\n"
        "    the:   e^0.000 = 1.000\n"
        "    river: e^0.540 ≈ 1.716\n"
        "    bank:  e^0.990 ≈ 2.691\n"
        "    sum:   1.000 + 1.716 + 2.691 ≈ 5.407\n"
        "\n"
        "Divide each by the sum to get the weights:\n"
        "    the:   1.000 / 5.407 ≈ 0.185\n"
        "    river: 1.716 / 5.407 ≈ 0.317\n"
        "    bank:  2.691 / 5.407 ≈ 0.498\n"
        "\n"
        "Rounded to three decimals; calculated with all digits.\n"
    )


def test_a_masked_wired_row_shows_scaling_and_what_is_hidden():
    options = {"head": "wired", "causal": None}
    assert calculate(TOY_WORLD, "softmax river", options).text == (
        "The score of each word is the dot product of the query of river with the word's key. "
        "Later words are hidden: they score minus infinity:\n"
        "    the:   q_river · k_the = 0.000\n"
        "    river: q_river · k_river = 0.540\n"
        "    bank:  −∞\n"
        "\n"
        "Divide by the square root of the number of channels:\n"
        "    the:   0.000 / √2 = 0.000\n"
        "    river: 0.540 / √2 ≈ 0.382\n"
        "\n"
        "Take the exponential of each score, and add them up:\n"
        "    the:   e^0.000 = 1.000\n"
        "    river: e^0.382 ≈ 1.465\n"
        "    bank:  e^−∞ = 0.000\n"
        "    sum:   1.000 + 1.465 + 0.000 ≈ 2.465\n"
        "\n"
        "Divide each by the sum to get the weights:\n"
        "    the:   1.000 / 2.465 ≈ 0.406\n"
        "    river: 1.465 / 2.465 ≈ 0.594\n"
        "    bank:  0.000 / 2.465 = 0.000\n"
        "\n"
        "Rounded to three decimals; calculated with all digits.\n"
    )


def test_an_output_as_the_weighted_sum_of_rows():
    text = calculate(TOY_WORLD, "output bank").text
    assert text.startswith(
        "Add up the words' rows, each times the weight that bank gives it:\n"
        "    output ≈ 0.185 × the + 0.317 × river\n"
        "           + 0.498 × bank\n"
        "\n"
        "Axis by axis:\n"
        "    water  ≈ 0.185 × 0.0 + 0.317 × 0.9\n"
        "           + 0.498 × 0.3 ≈ 0.435\n"
    )
    money = calculate(TOY_WORLD, "output bank", {"sentence": "the money bank"}).text
    assert "0.280 × money" in money


def test_a_query_channel_by_channel_and_a_score_scaled():
    assert "    q_topic = 0 + 0 + 1.8 + 0 = 1.800\n" in calculate(TOY_WORLD, "query bank").text
    assert "each entry of river by what its axis advertises" in (
        calculate(TOY_WORLD, "key river").text
    )
    text = calculate(TOY_WORLD, "score bank river", {"head": "wired"}).text
    assert "    topic:           1.8 × 0.9 = 1.62\n" in text
    assert "    q_bank · k_river = 1.62 + 0 = 1.620\n" in text
    assert "    score: 1.620 / √2 ≈ 1.146\n" in text


def test_large_scores_lose_the_largest_first():
    text = calculate(TOY_WORLD, "softmax bank", {"sharpness": "50"}).text
    assert "Multiply by 50:\n    the:   50 × 0.000 = 0.000\n" in text
    assert "    river: 27.000 − 49.500 = −22.500\n" in text
    assert "    river: e^−22.500 ≈ 0.000\n" in text


def test_only_what_is_rounded_says_so():
    assert calculate(TOY_WORLD, "key bank").note == ""
    assert calculate(TOY_WORLD, "softmax bank", {"places": "1"}).note.startswith(
        "Rounded to one decimal;"
    )
    assert calculate(TOY_WORLD, "softmax bank", {"places": "7"}).note.startswith(
        "Rounded to 7 decimals;"
    )


def test_the_result_is_the_package_s_own():
    X = TOY_WORLD.embed("the river bank")
    wired = attention(X, TOY_WORLD.W_Q, TOY_WORLD.W_K, np.eye(4), causal=True)
    raw = raw_attention(X)
    options = {"head": "wired", "causal": None}
    for word, row in (("the", 0), ("river", 1), ("bank", 2)):
        for kind, expected in (("softmax", wired.weights), ("output", wired.output)):
            result = calculate(TOY_WORLD, f"{kind} {word}", options).result
            np.testing.assert_allclose(result, expected[row], atol=1e-15)
        np.testing.assert_allclose(calculate(TOY_WORLD, f"output {word}").result, raw.output[row])
    for ours, theirs in zip(attend(TOY_WORLD, Head(("the", "river", "bank"))), raw, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("arguments", ["softmax bank", "output bank"])
def test_a_package_that_calculates_otherwise_is_an_error(monkeypatch, arguments):
    right = byhand.attention

    def swapped(X, W_q, W_k, W_v, causal=False):
        return right(X, W_k, W_q, W_v, causal)

    monkeypatch.setattr(byhand, "attention", swapped)
    with pytest.raises(AttnlabError, match=r"weights by hand and by attnlab\.attention must agree"):
        calculate(TOY_WORLD, arguments, {"head": "wired"})


# Each step must follow from the numbers that are shown, as far as these are exact.


def assert_follows(calculation, places):
    shown = [line.formula.text for step in calculation.steps for line in step.lines]
    return len([assert_equation_follows(*each, places) for each in equations(shown)])


@pytest.mark.parametrize(("arguments", "options"), ALL)
def test_each_step_follows_from_the_numbers_shown(arguments, options):
    calculation = calculate(TOY_WORLD, arguments, options)
    assert assert_follows(calculation, int(options.get("places") or 3)) >= 3


@pytest.mark.parametrize("wrong", ["0.3 × 0.9 = 0.28", "e^0.540 ≈ 1.720"])
def test_the_reader_of_steps_sees_a_wrong_one(wrong):
    name, formula = byhand.Formula("", "a:", ""), byhand.Formula("", wrong, "")
    step = byhand.Step("product", ("",), (byhand.Line(name, (formula,)),))
    with pytest.raises(AssertionError):
        assert_follows(byhand.Calculation((step,), np.zeros(1), 3, True, 0), 3)


@given(
    worlds(),
    st.sampled_from(["dot a b-c", "query a", "key a", "score été a", "softmax a", "output b-c"]),
    st.sampled_from(["raw", "wired"]),
    st.booleans(),
    st.sampled_from(["1", "0.5", "3"]),
    st.integers(1, 6),
)
def test_each_step_follows_in_any_world(world, arguments, head, causal, sharpness, places):
    options = {"places": str(places)}
    if arguments.split()[0] in ("score", "softmax", "output"):
        options |= {"head": head, "sharpness": sharpness, "sentence": "a b-c été"}
        options |= {"causal": None} if causal else {}
    calculation = calculate(world, arguments, options)
    assert_follows(calculation, places)
    assert np.isfinite(calculation.result).all()


@pytest.mark.parametrize(("arguments", "options"), ALL)
def test_lines_are_short_and_the_tex_says_the_same_as_the_text(arguments, options):
    for step in calculate(TOY_WORLD, arguments, options).steps:
        for name, formula in step.rows():
            assert len(f"{name.text} {formula.text}") <= 42
            digits = re.compile(r"\d+(?:\.\d+)?")
            assert digits.findall(formula.tex) == digits.findall(formula.text)
            assert digits.findall(formula.mathml) == digits.findall(formula.text)
        assert step.tex.count(r"\\") == len(step.rows()) - 1


@pytest.mark.parametrize(("arguments", "options"), ALL)
def test_the_site_can_show_every_formula(arguments, options):
    pytest.importorskip("sphinx", reason="the site's packages are not installed")
    from attnlab.sphinxext.mathml import to_mathml

    for step in calculate(TOY_WORLD, arguments, options).steps:
        assert 'class="ams-align"' in to_mathml(step.tex, display=True)


def test_a_negative_number_stands_in_brackets():
    world = ToyWorld(
        axes=("x",),
        words=("a", "b", "c"),
        embeddings=np.array([[-1.5], [2.0], [0.25]]),
        sentences=("a b", "a c"),
        focus="a",
        channels=("ch",),
        W_Q=np.array([[1.0]]),
        W_K=np.array([[1.0]]),
    )
    calculation = calculate(world, "dot b a")
    assert "x:    2.0 × (−1.5) = −3\n    b · a = −3 = −3.000\n" in calculation.text
    assert r"2.0 \times \left({-1.5}\right) = {-3}" in calculation.steps[0].tex


def test_rst_has_the_sentences_the_formulas_and_the_note():
    rst = calculate(TOY_WORLD, "score bank river", {"head": "wired"}).rst
    assert rst == (
        "Multiply the query of *bank* and the key of *river* channel by channel, "
        "and add the products:\n"
        "\n"
        ".. math::\n"
        "\n"
        "   \\begin{aligned}\n"
        "   \\text{topic:}\\; & 1.8 \\times 0.9 = 1.62 \\\\\n"
        "   \\text{place:}\\; & 0.0 \\times 0.3 = 0 \\\\\n"
        "   q_{\\mathrm{bank}} \\cdot k_{\\mathrm{river}} & = 1.62 + 0 = 1.620\n"
        "   \\end{aligned}\n"
        "\n"
        "Divide by the square root of the number of channels:\n"
        "\n"
        ".. math::\n"
        "\n"
        "   \\begin{aligned}\n"
        "   \\text{score:}\\; & \\frac{1.620}{\\sqrt{2}} \\approx 1.146\n"
        "   \\end{aligned}\n"
        "\n"
        "Rounded to three decimals; calculated with all digits.\n"
    )
    assert "Rounded" not in calculate(TOY_WORLD, "dot bank river").rst


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ("", {}, "the kind of calculation '' is not known; known are dot, query, key, score"),
        ("sofmax bank", {}, "'sofmax' is not known; did you mean 'softmax'?"),
        ("dot bank", {}, "dot takes two words, as in 'dot bank river', but 1 came"),
        ("query", {}, "query takes one word, as in 'query bank', but none came"),
        ("softmax bank river", {}, "softmax takes one word, as in 'softmax bank', but 2 came"),
        ("dot bank river", {"head": "raw"}, "dot's option 'head' is not known; known are places"),
        ("softmax bank", {"shapness": "5"}, "did you mean 'sharpness'?"),
        ("softmax bank", {"head": "wird"}, "head 'wird' is not known; did you mean 'wired'?"),
        ("softmax bank", {"head": None}, "head '' is not known; known are raw, wired"),
        ("softmax bank", {"causal": "yes"}, "causal takes no value, but 'yes' was given"),
        ("softmax bank", {"unscaled": None}, "unscaled goes with head: wired only"),
        ("softmax bank", {"sharpness": "much"}, "above 0 and at most 1000, but it is 'much'"),
        ("softmax bank", {"sharpness": "-1"}, "above 0 and at most 1000, but it is '-1'"),
        ("softmax bank", {"sharpness": "1e9"}, "at most 1000, but it is '1e9'"),
        ("softmax bank", {"sharpness": None}, "above 0 and at most 1000, but it is ''"),
        ("softmax bank", {"places": "0"}, "a whole number from 1 to 9, but it is '0'"),
        ("softmax bank", {"sentence": None}, "a sentence must hold at least one word"),
        ("softmax money", {}, "'money' must stand once in the sentence 'the river bank', but it "
         "stands there nowhere"),
        ("softmax the", {"sentence": "the river the bank"}, "stands there twice or more"),
        ("score bank money", {"sentence": "the river bank"}, "'money' must stand once"),
        ("score river bank", {"causal": None}, "'river' may not look at 'bank', which comes later"),
    ],
)  # fmt: skip
def test_what_is_refused(arguments, options, message):
    with pytest.raises(InvalidValueError, match=re.escape(message)):
        calculate(TOY_WORLD, arguments, options)


def test_an_unknown_word_names_the_nearest():
    with pytest.raises(UnknownWordError, match="did you mean 'river'"):
        calculate(TOY_WORLD, "dot bank rivr")
    with pytest.raises(UnknownWordError, match="did you mean 'river'"):
        calculate(TOY_WORLD, "softmax bank", {"sentence": "the rivr bank"})


def test_a_long_list_of_known_names_is_cut():
    with pytest.raises(InvalidValueError, match=r"known are 0, 1, .*, 11 …$"):
        byhand.one_of("number", "ten", [str(i) for i in range(20)])


def test_words_that_formulas_could_mistake():
    words = ("50%", "a_b", r"\{x}^~", "<i>&", "שלום", "河流")
    world = ToyWorld(
        axes=("x",),
        words=words,
        embeddings=np.ones((6, 1)),
        sentences=(" ".join(words[:-1]), f"50% {words[-1]}"),
        focus="50%",
        channels=("ch",),
        W_Q=np.ones((1, 1)),
        W_K=np.ones((1, 1)),
    )
    (step,) = calculate(world, r"dot a_b \{x}^~").steps
    assert (
        r"\text{a\_b} \cdot \text{\textbackslash{}\{x\}\textasciicircum{}\textasciitilde{}}"
        in step.tex
    )
    (step,) = calculate(world, "dot <i>& 50%").steps
    assert r"\text{<i>\&} \cdot \text{50\%}" in step.tex
    assert "<mtext>&lt;i&gt;&amp;</mtext>" in step.lines[-1].name.mathml
    (step,) = calculate(world, "dot שלום 河流").steps
    assert "\n    \u2068שלום\u2069 · 河流 = 1 = 1.000" in step.text
    assert "    x:          1.0 × 1.0 = 1\n" in step.text  # as wide as 4 + 3 + 4 columns
    assert step.words[1] == "שלום"
    rst = calculate(world, "dot a_b 50%").rst
    assert r"*a\_b*" in rst


def test_a_number_too_long_to_be_true_is_refused():
    big = replace(TOY_WORLD, embeddings=TOY_WORLD.embeddings * 1e5)
    assert calculate(big, "dot bank river").result == pytest.approx(5.4e9)
    with pytest.raises(InvalidValueError, match=r"2.7e\+09 has too many digits .* 6 decimals"):
        calculate(big, "dot bank river", {"places": "6"})


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"name": "wierd"}, InvalidValueError, "did you mean 'wired'"),
        ({"scaled": False}, InvalidValueError, "unscaled goes with head: wired only"),
        ({"sharpness": math.nan}, InvalidValueError, "at most 1000, but it is nan"),
        ({"sharpness": "2"}, InvalidTypeError, "sharpness must be a number, but it is '2'"),
        ({"sharpness": True}, InvalidTypeError, "sharpness must be a number, but it is True"),
    ],
)
def test_a_head_that_cannot_be(arguments, error, message):
    with pytest.raises(error, match=message):
        Head(("the",), **arguments)
