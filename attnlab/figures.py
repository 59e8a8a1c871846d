"""The workshop's figures: measurements in, a Matplotlib figure out.

Each function makes one pyplot figure in the house style, whatever the reader's own Matplotlib
settings, and returns it. Matplotlib loads when the first figure is drawn.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from attnlab.attention import Floats
from attnlab.scaling import ScalingMeasurement
from attnlab.toy_world import ToyWorld

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")

#: One colour a word or axis, wherever it stands (Okabe and Ito's, told apart by colour-blind
#: readers too); a world of more words starts again.
_COLOURS = ("#5c5c5c", "#0072b2", "#b87a00", "#8b3a87", "#009e73", "#d55e00")
_STYLE: dict[Any, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": 150,
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
#: Weights from white to blue; every cell's number is readable on it.
_SHADES = "Blues"


@contextmanager
def style() -> Iterator[None]:
    """Set Matplotlib's defaults and the house style, and put back what was set before."""
    import matplotlib as mpl

    with mpl.rc_context():
        # The backend is the caller's choice, and rcdefaults leaves it alone.
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def _styled(draw: Callable[P, "Figure"]) -> Callable[P, "Figure"]:
    """Draw in the house style."""

    @wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> "Figure":
        with style():
            return draw(*args, **kwargs)

    return styled


def save(figure: "Figure", path: str | Path) -> None:
    """Write a figure as PNG and close it; the same figure always gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        A pyplot figure.
    path : path-like
        Where to write.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    import matplotlib.pyplot as plt

    with style():
        figure.savefig(path, format="png", metadata={"Software": None})
    plt.close(figure)


@_styled
def dot_product_arrows(
    pairs: Mapping[str, tuple[tuple[float, float], tuple[float, float]]],
) -> "Figure":
    """Draw pairs of 2-D vectors as arrows, each titled with its dot product.

    Parameters
    ----------
    pairs : mapping of str to two (x, y) pairs
        What the two vectors are to each other, and the vectors.

    Returns
    -------
    matplotlib.figure.Figure
        One panel a pair.
    """
    figure, panels = _panels(len(pairs), width=3.1, height=3.1)
    figure.suptitle("The dot product says how far two arrows agree")
    for axes, (name, (a, b)) in zip(panels, pairs.items(), strict=True):
        for (x, y), colour, label in ((a, _COLOURS[1], "a"), (b, _COLOURS[2], "b")):
            axes.annotate(
                "",
                xy=(x, y),
                xytext=(0, 0),
                arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2.5},
            )
            end = np.array([x, y])
            beyond = end + 0.16 * end / np.linalg.norm(end)
            axes.text(
                beyond[0], beyond[1], label, color=colour, ha="center", va="center", weight="bold"
            )
        axes.set(xlim=(-1.3, 1.3), ylim=(-0.8, 1.3), aspect="equal", xticks=[], yticks=[])
        axes.axhline(0, color="0.85", linewidth=1, zorder=0)
        axes.axvline(0, color="0.85", linewidth=1, zorder=0)
        axes.spines[:].set_visible(False)
        axes.set_title(f"{name}: a · b = {np.dot(a, b):+.2f}".replace("-", "−"))
    return figure


@_styled
def softmax_in_action(
    world: ToyWorld,
    words: Sequence[str],
    scores: Floats,
    weights: Floats,
    sharp: Floats,
    sharpness: float,
) -> "Figure":
    """Draw scores, their softmax, and the softmax of sharper scores as bars.

    Parameters
    ----------
    world : ToyWorld
        Gives each word its colour.
    words : sequence of str
        One a bar.
    scores, weights, sharp : ndarray, shape (len(words),)
        The three panels' heights; the last two are shares of 1.
    sharpness : float
        What the scores were multiplied by for the last panel.

    Returns
    -------
    matplotlib.figure.Figure
        Three panels, a value over each bar.
    """
    figure, panels = _panels(3, width=3.1, height=3.3)
    figure.suptitle("Softmax turns scores into shares of 1")
    colours = [_word_colours(world)[word] for word in words]
    titles = ("raw scores", "softmax", f"softmax of scores × {sharpness:g}")
    for axes, title, heights in zip(panels, titles, (scores, weights, sharp), strict=True):
        bars = axes.bar(range(len(words)), heights, color=colours)
        axes.bar_label(bars, [f"{height:.3f}" for height in heights], padding=2)
        axes.set_xticks(range(len(words)), words)
        axes.set(title=title, ylim=(min(0.0, float(heights.min())), 1.12))
        axes.margins(y=0.15)
    panels[0].set_ylim(min(0.0, 1.15 * scores.min()), max(1.12, 1.15 * float(scores.max())))
    panels[1].set_ylabel("share of 1")
    return figure


@_styled
def raw_attention_heatmaps(
    sentences: Mapping[str, tuple[Sequence[str], Floats]],
) -> "Figure":
    """Draw each sentence's weight matrix as an annotated heatmap.

    Parameters
    ----------
    sentences : mapping of str to (words, weights)
        The sentence's words and its weights, shape (n, n).

    Returns
    -------
    matplotlib.figure.Figure
        One panel a sentence.
    """
    return _heatmaps(
        "Raw attention: who gives how much weight to whom",
        {f"“{text}”": shown for text, shown in sentences.items()},
    )


@_styled
def bank_water_money_plane(world: ToyWorld, outputs: Mapping[str, Floats]) -> "Figure":
    """Draw where attention moves the focus word, on the plane of the first two contexts.

    Parameters
    ----------
    world : ToyWorld
        Its first two sentences' contexts choose the plane: *water* for *river*, *money* for
        *money*.
    outputs : mapping of str to ndarray, shape (len(world.axes),)
        The focus word's output in each sentence.

    Returns
    -------
    matplotlib.figure.Figure
        The words as dots, the outputs as arrow heads.
    """
    import matplotlib.pyplot as plt

    contexts = [world.context(sentence) for sentence in outputs]
    across, up = (world.main_axis(context) for context in contexts[:2])
    figure, axes = plt.subplots(figsize=(6.2, 5.2))
    axes.set_title(f"One input row for {world.focus}, one output a sentence")
    axes.set(xlabel=f"{world.axes[across]} axis", ylabel=f"{world.axes[up]} axis", aspect="equal")
    colours = _word_colours(world)
    for word in [*dict.fromkeys(contexts), world.focus]:
        x, y = world.vector(word)[[across, up]]
        axes.plot(x, y, "o", color=colours[word], markersize=11)
        axes.annotate(
            word, (x, y), (9, 9), textcoords="offset points", color=colours[word], weight="bold"
        )
    start = world.vector(world.focus)[[across, up]]
    for sentence, output in outputs.items():
        end = output[[across, up]]
        colour = colours[world.context(sentence)]
        axes.annotate(
            "",
            xy=(end[0], end[1]),
            xytext=(start[0], start[1]),
            arrowprops={
                "arrowstyle": "-|>",
                "color": colour,
                "linewidth": 2,
                "shrinkA": 7,
                "shrinkB": 0,
            },
        )
        axes.annotate(
            f"in “{sentence}”\n({end[0]:.3f}, {end[1]:.3f})",
            (end[0], end[1]),
            (0, 6 if end[1] > start[1] else -6),
            textcoords="offset points",
            ha="center",
            va="bottom" if end[1] > start[1] else "top",
            color=colour,
        )
    low, high = min(0.0, float(world.embeddings.min())), float(world.embeddings.max())
    margin = 0.12 * (high - low)
    axes.set(xlim=(low - margin, high + 2 * margin), ylim=(low - margin, high + margin))
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    return figure


@_styled
def qk_vs_raw_heatmaps(words: Sequence[str], raw: Floats, wired: Floats) -> "Figure":
    """Draw the weights of raw attention beside those of the wired head.

    Parameters
    ----------
    words : sequence of str
        The sentence.
    raw, wired : ndarray, shape (n, n)
        The two weight matrices.

    Returns
    -------
    matplotlib.figure.Figure
        Two annotated heatmaps.
    """
    return _heatmaps(
        "Queries and keys let a word ask for another kind of word",
        {"raw embeddings": (words, raw), "wired queries and keys": (words, wired)},
    )


@_styled
def scaling_max_weight(sizes: Sequence[ScalingMeasurement], keys: int) -> "Figure":
    """Draw the mean top weight against the dimension, with and without scaling.

    Parameters
    ----------
    sizes : sequence of ScalingMeasurement
        One a dimension.
    keys : int
        Keys a query; 1/keys is the even share.

    Returns
    -------
    matplotlib.figure.Figure
        Two curves on a log-2 axis and the even share as a dotted line.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.6, 4.4))
    d = [size.d for size in sizes]
    for label, values, colour, marker in (
        ("unscaled", [size.top_unscaled for size in sizes], _COLOURS[5], "s"),
        ("divided by √d", [size.top_scaled for size in sizes], _COLOURS[1], "o"),
    ):
        axes.plot(d, values, marker=marker, color=colour, linewidth=2, markersize=8, label=label)
        for x, y in zip(d, values, strict=True):
            axes.annotate(
                f"{y:.3f}", (x, y), (0, 9), textcoords="offset points", ha="center", color=colour
            )
    axes.axhline(1 / keys, color="0.4", linestyle=":", label=f"even share, 1/{keys}")
    axes.set_xscale("log", base=2)
    axes.set_xticks(d, [str(size) for size in d])
    axes.minorticks_off()
    axes.set(ylim=(0, 1.08), xlabel="d, entries in each query and key")
    axes.set_ylabel(f"largest of {keys} weights, on average")
    axes.set_title("Unscaled, the winner takes all as d grows")
    axes.legend(loc="center right", frameon=False, bbox_to_anchor=(1, 0.55))
    return figure


@_styled
def causal_mask(words: Sequence[str], weights: Floats) -> "Figure":
    """Draw masked weights as an annotated heatmap.

    Parameters
    ----------
    words : sequence of str
        The sentence.
    weights : ndarray, shape (n, n)
        The weights, 0 above the diagonal.

    Returns
    -------
    matplotlib.figure.Figure
        One heatmap.
    """
    return _heatmaps(
        "The causal mask: no word looks ahead", {"wired head, masked": (words, weights)}
    )


@_styled
def attention_heatmap(title: str, head: str, words: Sequence[str], weights: Floats) -> "Figure":
    """Draw the weights of any head on any sentence as an annotated heatmap.

    Parameters
    ----------
    title, head : str
        What stands over the figure, and over the matrix.
    words : sequence of str
        The sentence.
    weights : ndarray, shape (n, n)
        The weights.

    Returns
    -------
    matplotlib.figure.Figure
        One heatmap.
    """
    return _heatmaps(title, {head: (words, weights)})


def _heatmaps(title: str, panels: Mapping[str, tuple[Sequence[str], Floats]]) -> "Figure":
    """Weight matrices side by side: queries down, keys across the top, a number a cell."""
    figure, all_axes = _panels(len(panels), width=4.3, height=4.4)
    figure.suptitle(title)
    for axes, (name, (words, weights)) in zip(all_axes, panels.items(), strict=True):
        image = axes.imshow(weights, cmap=_SHADES, vmin=0, vmax=1)
        for (i, j), weight in np.ndenumerate(weights):
            colour = "white" if weight > 0.55 else "black"
            axes.text(j, i, f"{weight:.3f}", ha="center", va="center", color=colour)
        axes.set_xticks(range(len(words)), words)
        axes.set_yticks(range(len(words)), words)
        axes.tick_params(length=0, labeltop=True, labelbottom=False)
        axes.spines[:].set_visible(False)
        axes.set_title(name)
        axes.set(xlabel="key: the word looked at", ylabel="query: the word that looks")
    figure.colorbar(image, ax=all_axes, label="weight", shrink=0.75)
    return figure


def _panels(count: int, width: float, height: float) -> tuple["Figure", list["Axes"]]:
    """Return a new figure with panels in a row, each of the given size in inches."""
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(1, count, figsize=(width * count, height), squeeze=False)
    return figure, list(grid[0])


def _word_colours(world: ToyWorld) -> dict[str, str]:
    """Each word's colour, the same in every figure."""
    return {word: _COLOURS[i % len(_COLOURS)] for i, word in enumerate(world.words)}
