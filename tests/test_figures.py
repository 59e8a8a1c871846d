"""Figures show what was measured, in any look, readably, and the same bytes each time."""

import itertools
import re
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from attnlab import TOY_WORLD, ToyWorld, figures, measure_scaling, raw_attention
from attnlab.sections import SECTIONS

NAMES = [
    "dot_product_arrows",
    "softmax_in_action",
    "raw_attention_heatmaps",
    "bank_water_money_plane",
    "qk_vs_raw_heatmaps",
    "scaling_max_weight",
    "causal_mask",
]
WORDS = ("the", "river", "bank")


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def measured():
    """What each section hands to its figures; S6's stands in for PyTorch's comparison."""
    rng = np.random.default_rng(0)
    return {section.name: section.measure(TOY_WORLD, rng) for section in SECTIONS[:5]}


def draw(measured, section, name):
    figure = next(s for s in SECTIONS if s.name == section).figures[name](measured[section])
    figure.canvas.draw()
    return figure


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_seven_figures():
    assert [name for section in SECTIONS for name in section.figures] == NAMES


def test_dot_product_arrows(measured):
    figure = draw(measured, "S2", "dot_product_arrows")
    assert [axes.get_title() for axes in figure.axes] == [
        "similar: a · b = +1.10",
        "perpendicular: a · b = +0.00",
        "opposite: a · b = −1.02",
    ]
    tips = [a.xy for axes in figure.axes for a in axes.texts if a.get_text() == ""]
    assert tips == [(1.0, 0.4), (0.9, 0.5), (1, 0), (0, 1), (1.0, 0.3), (-0.9, -0.4)]


def test_softmax_in_action(measured):
    figure = draw(measured, "S2", "softmax_in_action")
    titles = ["raw scores", "softmax", "softmax of scores × 5"]
    assert [axes.get_title() for axes in figure.axes] == titles
    shown = [measured["S2"].scores, measured["S2"].weights, measured["S2"].sharp]
    for axes, values in zip(figure.axes, shown, strict=True):
        assert [bar.get_height() for bar in axes.patches] == values.tolist()
        assert texts(axes) == [f"{value:.3f}" for value in values]
        assert [label.get_text() for label in axes.get_xticklabels()] == list(WORDS)
        assert axes.get_ylim()[1] > max(values)


def assert_heatmap(axes, words, weights):
    assert texts(axes) == [f"{weight:.3f}" for weight in np.ravel(weights)]
    positions = [text.get_position() for text in axes.texts]
    assert positions == [(j, i) for i in range(len(words)) for j in range(len(words))]
    [cells] = axes.collections
    np.testing.assert_array_equal(cells.get_array(), weights)
    assert cells.get_clim() == (0, 1)
    assert axes.yaxis_inverted()  # the first query at the top
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        assert [label.get_text() for label in labels] == list(words)
    ticks = axes.xaxis.get_major_ticks()
    assert all(t.label2.get_visible() and not t.label1.get_visible() for t in ticks)  # at the top
    assert axes.get_xlabel().startswith("key")
    assert axes.get_ylabel().startswith("query")


def test_raw_attention_heatmaps(measured):
    shown = draw(measured, "S3", "raw_attention_heatmaps")
    for axes, text in zip(shown.axes, TOY_WORLD.sentences, strict=True):
        assert text in axes.get_title()
        assert_heatmap(axes, text.split(), raw_attention(TOY_WORLD.embed(text)).weights)


def test_qk_vs_raw_heatmaps(measured):
    left, right = draw(measured, "S4", "qk_vs_raw_heatmaps").axes
    assert_heatmap(left, WORDS, measured["S4"].raw.weights)
    assert_heatmap(right, WORDS, measured["S4"].wired.weights)
    assert "raw" in left.get_title()
    assert "wired" in right.get_title()


def test_causal_mask():
    weights = np.tril(np.full((3, 3), 0.25))
    [axes] = figures.causal_mask(WORDS, weights).axes
    assert_heatmap(axes, WORDS, weights)


def test_attention_heatmap():
    weights = np.array([[0.25, 0.75], [1, 0]])
    figure = figures.attention_heatmap("any head", "mine", ["a", "b"], weights)
    [axes] = figure.axes
    assert_heatmap(axes, ["a", "b"], weights)
    assert (figure.get_suptitle(), axes.get_title()) == ("any head", "mine")


def test_bank_water_money_plane(measured):
    [axes] = draw(measured, "S3", "bank_water_money_plane").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("water axis", "money axis")
    river, money, _ = (dot.get_color() for dot in axes.lines)
    assert (axes.xaxis.label.get_color(), axes.yaxis.label.get_color()) == (river, money)
    points = [tuple(float(line.get_data()[i][0]) for i in (0, 1)) for line in axes.lines]
    assert points == [(0.9, 0.0), (0.0, 0.9), (0.3, 0.3)]
    arrows = [a for a in axes.texts if a.get_text() == ""]
    outputs = [measured["S3"].focus_output(text)[:2].tolist() for text in TOY_WORLD.sentences]
    assert [list(arrow.xy) for arrow in arrows] == outputs
    assert all(tuple(arrow.xyann) == (0.3, 0.3) for arrow in arrows)
    labels = [text for text in texts(axes) if text.startswith("in ")]
    assert labels == ["in “the river bank”\n(0.435, 0.149)", "in “the money bank”\n(0.158, 0.409)"]


def test_scaling_max_weight(measured):
    sizes = measured["S5"].sizes
    [axes] = draw(measured, "S5", "scaling_max_weight").axes
    unscaled, scaled, even = axes.lines
    assert axes.get_xscale() == "log"
    assert axes.xaxis.get_transform().base == 2
    assert list(unscaled.get_xdata()) == list(scaled.get_xdata()) == [4, 16, 64, 256]
    assert list(unscaled.get_ydata()) == [size.top_unscaled for size in sizes]
    assert list(scaled.get_ydata()) == [size.top_scaled for size in sizes]
    assert list(even.get_ydata()) == [1 / 8, 1 / 8]
    assert even.get_linestyle() == ":"
    assert texts(axes)[:2] == ["0.522", "0.750"]


# In any look


LOOKS = [figures.Look(dark, narrow) for dark in (False, True) for narrow in (False, True)]
CAUSAL = np.tril(np.full((3, 3), 0.25))


@pytest.fixture(scope="module")
def drawn(measured):
    """Each figure of the workshop by name, and one that a page may ask for."""
    made = {
        name: draw_figure(measured[section.name])
        for section in SECTIONS[:5]
        for name, draw_figure in section.figures.items()
    }
    made["causal_mask"] = figures.causal_mask(WORDS, CAUSAL)
    made["attention_heatmap"] = figures.attention_heatmap("t", "h", ["a", "b"], np.eye(2))
    assert set(NAMES) < set(made)
    return made


@pytest.fixture(scope="module", params=LOOKS, ids=str)
def look(request):
    return request.param


@pytest.fixture(scope="module", params=[*NAMES, "attention_heatmap"])
def again(request, drawn, look):
    """A figure drawn again in a look."""
    figure = figures.redraw(drawn[request.param], look)
    figure.canvas.draw()
    return figure


def all_texts(figure):
    """Every text that shows; Matplotlib keeps names of ticks beyond an axis, and draws none."""
    beyond = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [tick for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high]
            beyond |= {label for tick in ticks for label in (tick.label1, tick.label2)}
    return [
        text
        for text in figure.findobj(mpl.text.Text)
        if text not in beyond
        and text.get_visible()
        and text.get_text().strip()
        and text.get_window_extent().width
    ]


def test_a_figure_drawn_again_shows_the_same(drawn, look):
    for figure in drawn.values():
        other = figures.redraw(figure, look)
        assert other is not figure
        assert [texts(axes) for axes in other.axes] == [texts(axes) for axes in figure.axes]
        assert figures.alt_text(other) == figures.alt_text(figure)
        assert (other.get_figwidth() == 3.5) == look.narrow
        background = 0.1 if look.dark else 1
        assert other.get_facecolor()[0] == pytest.approx(background, abs=0.05)
        assert other.axes[0].get_facecolor() == other.get_facecolor()
        plt.close(other)


def test_panels_stand_side_by_side_or_below_each_other(again, look):
    for one, other in itertools.pairwise(axes.get_position() for axes in again.axes):
        assert one.y0 > other.y1 if look.narrow else one.x1 < other.x0


def test_no_text_is_cut_or_covered(again):
    assert_readable(again)


def assert_readable(figure):
    """Every text lies within the figure, and on no other."""
    boxes = [(text.get_text(), text.get_window_extent().padded(-0.5)) for text in all_texts(figure)]
    width, height = figure.bbox.size
    for text, box in boxes:
        assert 0 <= box.x0 < box.x1 <= width, text
        assert 0 <= box.y0 < box.y1 <= height, text
    pairs = itertools.combinations(boxes, 2)
    assert [(a, b) for (a, one), (b, other) in pairs if one.overlaps(other)] == []


NUMBER = re.compile(r"[+−]?\d+(?:\.\d+)?")


def test_the_text_for_those_who_do_not_see_has_every_number_drawn(again):
    said = NUMBER.findall(figures.alt_text(again))
    shown = [text.get_text() for axes in again.axes for text in [*axes.texts, axes.title]]
    assert set(NUMBER.findall(" ".join(shown))) <= set(said)
    for words in [axes.get_title() for axes in again.axes if axes.get_title()]:
        assert words.partition(":")[0] in figures.alt_text(again)
    assert figures.alt_text(again).startswith(" ".join(again.get_suptitle().split()))


def test_the_text_of_the_plane(drawn):
    assert figures.alt_text(drawn["bank_water_money_plane"]) == (
        "One input row for bank, one output a sentence. On the plane of water (across) and money "
        "(up): river at (0.9, 0), money at (0, 0.9), bank at (0.3, 0.3). Arrows lead away from "
        "bank: in “the river bank” to (0.435, 0.149), in “the money bank” to (0.158, 0.409)."
    )


def test_the_text_of_arrows_and_curves(drawn):
    assert "opposite: a = (1, 0.3), b = (−0.9, −0.4), a · b = −1.02." in figures.alt_text(
        drawn["dot_product_arrows"]
    )
    said = figures.alt_text(drawn["scaling_max_weight"])
    assert "unscaled: 0.522 at d = 4, 0.750 at d = 16" in said
    assert said.endswith("The even share is 1/8.")


def test_another_figure_has_no_text():
    assert figures.alt_text(plt.figure()) == ""


# On any world


def of(words, vectors, sentences, axes=("x", "y", "z")):
    identity = np.eye(len(axes))
    return ToyWorld(
        *(axes, words, vectors, sentences, "bank", axes, identity, identity),
    )


def plane(world):
    outputs = {text: raw_attention(world.embed(text)).output[-1] for text in world.sentences}
    figure = figures.bank_water_money_plane(world, outputs)
    figure.canvas.draw()
    [axes] = figure.axes
    return figure, axes, outputs


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_words_are_drawn_as_they_are(tmp_path):
    strange = ["\u6cb3", "\u05e0\u05d4\u05e8", "\U0001f469\u200d\U0001f467"]
    words = [r"$\frac$", "a_b^c", "$x$", *strange, "bank"]
    n = len(words)
    sentences = [" ".join(words), " ".join([*words[1:], "other"])]
    world = of([*words, "other"], np.linspace(0, 1, 3 * n + 3).reshape(-1, 3), sentences)
    weights = np.full((n, n), 1 / n)
    drawn = [
        figures.attention_heatmap("$t$", r"$\head$", words, weights),
        figures.softmax_in_action(world, words, weights[0], weights[0], weights[0], 5),
        plane(of(["_a", "$b$", "bank"], np.eye(3), ["_a bank", "$b$ bank"]))[0],
    ]
    for figure in drawn:
        figures.save(figure, tmp_path / "a.png")  # a warning would be an error
    for figure in drawn[:2]:
        assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == words


@pytest.mark.parametrize("word", ["w", "riverside", "Donaudampfschifffahrt"])
@pytest.mark.parametrize("n", [2, 6, 12])
def test_heatmaps_and_bars_stay_readable(word, n):
    words = [f"{i}{word}" for i in range(n)]
    rng = np.random.default_rng(n)
    weights = rng.dirichlet(np.ones(n), size=n)
    world = of([*words, "bank"], np.ones((n + 1, 3)), [f"bank {words[0]}", f"bank {words[1]}"])
    for figure in (
        figures.qk_vs_raw_heatmaps(words, weights, weights),
        figures.softmax_in_action(world, words, weights[0] - 0.1, weights[0], weights[1], 5),
    ):
        figure.canvas.draw()
        assert_readable(figure)
        assert min(text.get_fontsize() for text in all_texts(figure)) >= 8


def test_many_sentences_stand_in_rows_of_three():
    shown = {f"s{i}": (["a", "b"], np.eye(2)) for i in range(5)}
    figure = figures.raw_attention_heatmaps(shown)
    figure.canvas.draw()
    assert [axes.get_title() for axes in figure.axes] == [f"“s{i}”" for i in range(5)]
    assert_readable(figure)
    assert [axes.get_position().y0 > 0.45 for axes in figure.axes] == [True] * 3 + [False] * 2


def test_two_contexts_on_one_axis_get_another_axis_to_lie_apart_on():
    vectors = [[0.9, 0.1, 0.3], [0.8, 0.1, -0.7], [0.3, 0.1, 0.2]]
    world = of(["river", "money", "bank"], vectors, ["river bank", "money bank"])
    figure, axes, outputs = plane(world)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x axis", "z axis")
    assert axes.xaxis.label.get_color() == axes.yaxis.label.get_color() == "#1a1a1a"
    arrows = [text.xy for text in axes.texts if text.get_text() == ""]
    assert arrows == [tuple(output[[0, 2]]) for output in outputs.values()]
    assert "On the plane of x (across) and z (up): river at (0.9, 0.3)" in figures.alt_text(figure)


def test_a_world_of_one_axis_is_drawn_as_a_line():
    world = of(["a", "b", "bank"], [[1], [-1], [0]], ["a bank", "b bank"], axes=("size",))
    figure, axes, outputs = plane(world)
    assert axes.get_xlabel() == "size axis"
    assert not axes.get_ylabel()
    assert not axes.get_yticks().size
    assert [a.xy[0] for a in axes.texts if a.get_text() == ""] == [o[0] for o in outputs.values()]
    said = figures.alt_text(figure)
    assert "On the size axis: a at (1), b at (−1), bank at (0). Arrows" in said
    assert said.endswith("in “a bank” to (0.500), in “b bank” to (-0.500).")


def test_names_that_would_run_together_stand_below():
    words = ["_a", "b", "c", "bank"]
    world = of(words, np.zeros((4, 3)), ["_a bank", "b bank", "c bank"])
    figure, axes, _ = plane(world)
    points = [f"“{word}” at (0, 0)" for word in words]
    assert legend(figure) == [*points, *(f"in “{w} bank” to (0.000, 0.000)" for w in words[:3])]
    assert set(texts(axes)) == {""}
    assert_readable(figure)


def test_the_title_of_the_curves_is_true():
    rising = [measure_scaling(np.random.default_rng(0), d, 200, 8) for d in (4, 16, 64, 256)]
    assert figures.scaling_max_weight(rising, 8).get_suptitle().startswith("Unscaled, the winner")
    falling = figures.scaling_max_weight(rising[::-1], 8)
    assert falling.get_suptitle() == "The largest weight as d grows"


# Colours


def linear(colour):
    """Linear red, green and blue of a colour (the sRGB standard)."""
    c = np.array(mpl.colors.to_rgb(colour))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """The contrast ratio of WCAG 2.2."""
    low, high = sorted(linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_wcag():
    assert contrast("white", "black") == pytest.approx(21)
    assert contrast("#777777", "white") == pytest.approx(4.478, abs=1e-3)


def test_text_stands_out(again):
    for text in all_texts(again):
        cells = text.axes.collections if text.axes and text in text.axes.texts else []
        behind = again.get_facecolor()
        if cells:
            j, i = text.get_position()
            behind = cells[0].to_rgba(cells[0].get_array())[i, j]
        assert contrast(text.get_color(), behind) >= 4.5, text.get_text()


#: Machado, Oliveira and Fernandes 2009, severity 1, and sight without it.
VISION = {
    "any": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def oklab(rgb):
    """Lightness and two axes of hue, in which distance is difference (Ottosson 2020)."""
    cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    axes = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.array(axes) @ np.cbrt(np.array(cones) @ np.clip(rgb, 0, 1))


def nearest(colours, vision):
    """How far the two most alike of some colours are apart."""
    seen = [oklab(np.array(VISION[vision]) @ linear(colour)) for colour in colours]
    return min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2))


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("dark", [False, True])
def test_words_differ_for_every_eye(measured, dark, vision):
    shown = [draw(measured, "S2", "softmax_in_action"), draw(measured, "S3", NAMES[3])]
    bars, plane = (figures.redraw(figure, figures.Look(dark=dark)).axes[0] for figure in shown)
    words = {
        word: mpl.colors.to_hex(bar.get_facecolor())
        for word, bar in zip(WORDS, bars.patches, strict=True)
    }
    for word, dot in zip(("river", "money", "bank"), plane.lines, strict=True):
        assert words.setdefault(word, dot.get_color()) == dot.get_color()  # one word, one colour
    assert set(words) == set(TOY_WORLD.words)
    assert nearest(words.values(), vision) > 0.09


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("dark", [False, True])
def test_curves_and_arrows_differ_for_every_eye(drawn, dark, vision):
    look = figures.Look(dark=dark)
    curves = figures.redraw(drawn["scaling_max_weight"], look).axes[0].lines[:2]
    arrows = figures.redraw(drawn["dot_product_arrows"], look).axes[0].texts
    labels = {text.get_color() for text in arrows if text.get_text()}
    assert {line.get_color() for line in curves} == labels
    assert len({line.get_marker() for line in curves}) == 2  # in grey print, too
    assert nearest(labels, vision) > 0.12


@pytest.mark.parametrize("dark", [False, True])
def test_shades_of_weights_differ_in_print_too(dark):
    steps = np.linspace(0, 1, 11)
    figure = figures.attention_heatmap("", "", list(map(str, range(11))), np.tile(steps, (11, 1)))
    [cells] = figures.redraw(figure, figures.Look(dark=dark)).axes[0].collections
    light = [oklab(linear(colour))[0] for colour in cells.to_rgba(steps)]
    assert np.all(np.diff(light) * (1 if dark else -1) > 0.03)


# Files


def test_the_same_svg_each_time_and_nothing_in_it_but_the_picture(tmp_path, again, look):
    for name in ("a", "b"):
        figures.save(figures.redraw(again, look), tmp_path / f"{name}.svg")
    svg = (tmp_path / "a.svg").read_text("utf-8")
    assert svg == (tmp_path / "b.svg").read_text("utf-8")
    assert len(svg) < 40_000
    tree = ElementTree.fromstring(svg)
    assert tree.findtext("{*}title") == figures.alt_text(again)
    assert {element.tag.partition("}")[2] for element in tree.iter()} <= {
        "svg", "title", "g", "defs", "path", "use", "clipPath", "rect",
    }  # fmt: skip
    for element in tree.iter():
        for key, value in element.items():
            assert key != "style"
            assert not key.startswith("on")
            assert "//" not in value
            assert "href" not in key or value.startswith("#")
    ids = [element.get("id") for element in tree.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"""(?:href="|url\()#([^")]+)""", svg)) <= set(ids)
    assert "<!" not in svg


def test_a_picture_is_drawn_as_matplotlib_would(tmp_path, drawn):
    """What makes the file lean keeps each colour and each place."""
    figure = drawn["bank_water_money_plane"]
    figures.save(figure, tmp_path / "lean.svg")
    figure.savefig(tmp_path / "full.svg")
    lean, full = ((tmp_path / f"{name}.svg").read_text("utf-8") for name in ("lean", "full"))
    for colour in set(re.findall("#[0-9a-f]{6}", full)):
        assert lean.count(colour) == full.count(colour)
    assert lean.count("<path") == full.count("<path")
    assert lean.count("<use") == full.count("<use")


def test_the_readers_settings_neither_matter_nor_change(tmp_path):
    def picture(path):
        sizes = [measure_scaling(np.random.default_rng(0), d, 20, 4) for d in (2, 8)]
        figures.save(figures.scaling_max_weight(sizes, 4), path)
        return path.read_bytes()

    plain = picture(tmp_path / "a.png")
    odd = {"font.size": 31, "figure.dpi": 33, "axes.facecolor": "red", "savefig.bbox": "tight"}
    with mpl.rc_context(odd):
        before = dict(mpl.rcParams)
        assert picture(tmp_path / "b.png") == plain
        assert dict(mpl.rcParams) == before
    assert not plt.get_fignums()
    assert b"Software" not in plain
