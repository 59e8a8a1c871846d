"""Figures show what was measured, in the house style, and the same bytes each time."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from attnlab import TOY_WORLD, figures, measure_scaling, raw_attention
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


def panels(figure):
    return [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]


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
    np.testing.assert_array_equal(axes.images[0].get_array(), weights)
    assert axes.images[0].get_clim() == (0, 1)
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        assert [label.get_text() for label in labels] == list(words)
    assert axes.xaxis.get_tick_params()["labeltop"]
    assert axes.get_xlabel().startswith("key")
    assert axes.get_ylabel().startswith("query")


def test_raw_attention_heatmaps(measured):
    shown = panels(draw(measured, "S3", "raw_attention_heatmaps"))
    for axes, text in zip(shown, TOY_WORLD.sentences, strict=True):
        assert text in axes.get_title()
        assert_heatmap(axes, text.split(), raw_attention(TOY_WORLD.embed(text)).weights)


def test_qk_vs_raw_heatmaps(measured):
    left, right = panels(draw(measured, "S4", "qk_vs_raw_heatmaps"))
    assert_heatmap(left, WORDS, measured["S4"].raw.weights)
    assert_heatmap(right, WORDS, measured["S4"].wired.weights)
    assert "raw" in left.get_title()
    assert "wired" in right.get_title()


def test_causal_mask():
    weights = np.tril(np.full((3, 3), 0.25))
    [axes] = panels(figures.causal_mask(WORDS, weights))
    assert_heatmap(axes, WORDS, weights)


def test_attention_heatmap():
    weights = np.array([[0.25, 0.75], [1, 0]])
    figure = figures.attention_heatmap("any head", "mine", ["a", "b"], weights)
    [axes] = panels(figure)
    assert_heatmap(axes, ["a", "b"], weights)
    assert (figure.get_suptitle(), axes.get_title()) == ("any head", "mine")


def test_bank_water_money_plane(measured):
    [axes] = draw(measured, "S3", "bank_water_money_plane").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("water axis", "money axis")
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
