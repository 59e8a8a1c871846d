"""The workshop's figures: measurements in, a Matplotlib figure out.

- Each function makes one pyplot figure in the house style, whatever the reader's own Matplotlib
  settings, and returns it. Matplotlib loads when the first figure is drawn.
- A figure can be drawn light or dark, and for a wide or a narrow page: see :class:`Look`. It
  remembers how it was drawn, so :func:`redraw` draws it again in another look.
- A figure knows in words what it shows, made from the same numbers: see :func:`alt_text`.
"""

import html
import io
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
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


@dataclass(frozen=True)
class Look:
    """How a figure looks.

    Attributes
    ----------
    dark : bool
        Light on dark, not dark on light.
    narrow : bool
        As wide as a phone, with panels below each other, not side by side.
    """

    dark: bool = False
    narrow: bool = False


#: The look of a figure unless told otherwise.
LIGHT = Look()


@dataclass(frozen=True)
class _Colours:
    """The colours of a theme. Text of each stands out from the background at least 4.5 to 1."""

    background: str
    ink: str
    grid: str
    #: One a word, in every figure; a world of more words starts again. Colour-blind readers tell
    #: them apart too. The last two stand for what is no word.
    words: tuple[str, ...]
    #: Of weights, from 0 to 1.
    shades: tuple[str, ...]


_THEMES = {
    False: _Colours(
        "#ffffff",
        "#1a1a1a",
        "#e0e0e0",
        ("#6b6b6b", "#0072b2", "#9a6300", "#7a1f78", "#004d40", "#c44a00"),
        ("#edf3f8", "#0072b2", "#00304d"),
    ),
    True: _Colours(
        "#131416",
        "#e6e6e6",
        "#3a3d40",
        ("#a3a3a3", "#7cc7f5", "#f0b429", "#b865d0", "#8af0d0", "#f06030"),
        ("#1f272e", "#0072b2", "#b3e0ff"),
    ),
}
_STYLE: dict[Any, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": 150,
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "axes.titlesize": 11,
    "figure.titlesize": 13,
    "figure.constrained_layout.h_pad": 0.08,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "attnlab",  # the same names within each file each time
}
#: What has the colour of the background, and of the ink.
_PAPER = ("figure.facecolor", "axes.facecolor")
_INK = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
#: How wide a narrow figure is, in inches: on a page, 96 pixels are an inch.
_NARROW = 3.5


@contextmanager
def style(look: Look = LIGHT) -> Iterator[None]:
    """Set Matplotlib's defaults and the house style, and put back what was set before.

    Parameters
    ----------
    look : Look, optional
        Whose colours.
    """
    import matplotlib as mpl

    colours = _THEMES[look.dark]
    settings = {
        **_STYLE,
        **dict.fromkeys(_PAPER, colours.background),
        **dict.fromkeys(_INK, colours.ink),
        "grid.color": colours.grid,
    }
    with mpl.rc_context():
        # The backend is the caller's choice, and rcdefaults leaves it alone.
        mpl.rcdefaults()
        mpl.rcParams.update(settings)
        yield


def _styled(draw: Callable[P, "Figure"]) -> Callable[P, "Figure"]:
    """Draw in the house style, and let the figure remember how it was drawn."""

    @wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> "Figure":
        look: Any = kwargs.get("look", LIGHT)
        with style(look):
            figure: Any = draw(*args, **kwargs)
        figure.attnlab_redraw = partial(styled, *args, **kwargs)
        return figure  # type: ignore[no-any-return]

    return styled


def redraw(figure: "Figure", look: Look) -> "Figure":
    """Draw a figure of this module again, from the same numbers.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What one of the functions here returned.
    look : Look
        The new figure's look.

    Returns
    -------
    matplotlib.figure.Figure
        A new figure. The old one stays as it is.
    """
    again: Callable[..., Figure] = figure.attnlab_redraw  # type: ignore[attr-defined]
    return again(look=look)


def alt_text(figure: "Figure") -> str:
    """Return what a figure shows, in words and numbers, for those who do not see it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Any figure.

    Returns
    -------
    str
        Sentences; empty if the figure was not drawn by this module.
    """
    return getattr(figure, "attnlab_alt", "")


def _say(figure: "Figure", *sentences: str) -> "Figure":
    """Give a figure its text."""
    figure.attnlab_alt = " ".join(sentences)  # type: ignore[attr-defined]
    return figure


def _shares(names: Sequence[str], values: Floats) -> str:
    """Return numbers with their names in words: ``the 0.576, river 0.212``."""
    return ", ".join(f"{name} {x:.3f}" for name, x in zip(names, values, strict=True))


def save(figure: "Figure", path: str | Path) -> None:
    """Write a figure as PNG or SVG and close it; the same figure always gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        A pyplot figure.
    path : path-like
        Where to write; SVG if the name ends in ``.svg``, else PNG.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    import matplotlib.pyplot as plt

    with style():
        if Path(path).suffix == ".svg":
            drawn = io.StringIO()
            figure.savefig(drawn, format="svg", metadata={"Date": None})
            Path(path).write_text(_lean_svg(drawn.getvalue(), alt_text(figure)), "utf-8")
        else:
            figure.savefig(path, format="png", metadata={"Software": None})
    plt.close(figure)


def _lean_svg(svg: str, title: str) -> str:
    """Return Matplotlib's SVG with a title, without what a picture on a page does not need.

    Styles become attributes, which a strict Content-Security-Policy lets pass when the picture is
    opened by itself. Coordinates keep a hundredth of a point.
    """
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = svg[svg.index("<svg") :]  # no address of a DTD
    svg = re.sub(r' id="[\w.]+_\d+"', "", svg)  # nothing refers to groups
    svg = svg.replace("DejaVuSans", "g")  # the font's name, before each letter
    svg = re.sub(r"\b([1-9]\d*\.\d\d)\d+", r"\1", svg)
    svg = re.sub(
        ' style="(.*?)"',
        lambda style: re.sub(r"([\w-]+): ?([^;]+)(; ?|$)", r' \1="\2"', style[1]),
        svg,
    )
    svg = re.sub(
        "(?<=>)", f"<title>{html.escape(title)}</title><g stroke-linejoin='round'>", svg, count=1
    )
    svg = svg.replace("</svg>", "</g></svg>")
    return re.sub(r">\s+<", "><", re.sub(r"\s*\n\s*", " ", svg)).strip() + "\n"


@_styled
def dot_product_arrows(
    pairs: Mapping[str, tuple[tuple[float, float], tuple[float, float]]], *, look: Look = LIGHT
) -> "Figure":
    """Draw pairs of 2-D vectors as arrows, each titled with its dot product.

    Parameters
    ----------
    pairs : mapping of str to two (x, y) pairs
        What the two vectors are to each other, and the vectors.
    look : Look, optional
        Its colours and width.

    Returns
    -------
    matplotlib.figure.Figure
        One panel a pair.
    """
    title = "The dot product says how far two arrows agree"
    figure, panels = _panels(look, len(pairs), (2.5, 2.5), 2.4, title)
    colours = _THEMES[look.dark]
    said = []
    for axes, (name, (a, b)) in zip(panels, pairs.items(), strict=True):
        for tip, other, colour, label in (
            (a, b, colours.words[-2], "a"),
            (b, a, colours.words[-1], "b"),
        ):
            axes.annotate(
                "",
                xy=tip,
                xytext=(0, 0),
                arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2.5},
            )
            end = np.array(tip)
            beyond = end + 0.16 * end / np.linalg.norm(end) + 0.06 * np.sign(end - other)
            axes.text(
                beyond[0], beyond[1], label, color=colour, ha="center", va="center", weight="bold"
            )
        axes.set(xlim=(-1.3, 1.3), ylim=(-0.8, 1.3), aspect="equal", xticks=[], yticks=[])
        axes.axhline(0, color=colours.grid, linewidth=1, zorder=0)
        axes.axvline(0, color=colours.grid, linewidth=1, zorder=0)
        axes.spines[:].set_visible(False)
        product = f"a · b = {np.dot(a, b):+.2f}".replace("-", "−")
        axes.set_title(f"{name}: {product}")
        said.append(f"{name}: a = {_point(*a)}, b = {_point(*b)}, {product}.")
    return _say(figure, f"{title}. Pairs of arrows from one point,", *said)


@_styled
def softmax_in_action(
    world: ToyWorld,
    words: Sequence[str],
    scores: Floats,
    weights: Floats,
    sharp: Floats,
    sharpness: float,
    *,
    look: Look = LIGHT,
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
    look : Look, optional
        Its colours and width.

    Returns
    -------
    matplotlib.figure.Figure
        Three panels, a value over each bar.
    """
    title = "Softmax turns scores into shares of 1"
    figure, panels = _panels(look, 3, (2.5, 3.0), 2.1, title)
    colours = [_word_colours(world, look)[word] for word in words]
    titles = ("raw scores", "softmax", f"softmax of scores × {sharpness:g}")
    said = []
    for axes, name, heights in zip(panels, titles, (scores, weights, sharp), strict=True):
        bars = axes.bar(range(len(words)), heights, color=colours)
        axes.bar_label(bars, [f"{height:.3f}" for height in heights], padding=2)
        axes.set_xticks(range(len(words)), words)
        axes.set(title=name, ylim=(min(0.0, float(heights.min())), 1.12))
        axes.margins(y=0.15)
        said.append(f"{name}: {_shares(words, heights)}.")
    panels[0].set_ylim(min(0.0, 1.15 * scores.min()), max(1.12, 1.15 * float(scores.max())))
    panels[1].set_ylabel("share of 1")
    return _say(figure, f"{title}. Bars of", *said)


@_styled
def raw_attention_heatmaps(
    sentences: Mapping[str, tuple[Sequence[str], Floats]], *, look: Look = LIGHT
) -> "Figure":
    """Draw each sentence's weight matrix as an annotated heatmap.

    Parameters
    ----------
    sentences : mapping of str to (words, weights)
        The sentence's words and its weights, shape (n, n).
    look : Look, optional
        Its colours and width.

    Returns
    -------
    matplotlib.figure.Figure
        One panel a sentence.
    """
    return _heatmaps(
        "Raw attention: who gives how much weight to whom",
        {f"“{text}”": shown for text, shown in sentences.items()},
        look,
    )


@_styled
def bank_water_money_plane(
    world: ToyWorld, outputs: Mapping[str, Floats], *, look: Look = LIGHT
) -> "Figure":
    """Draw where attention moves the focus word, on the plane of the first two contexts.

    Parameters
    ----------
    world : ToyWorld
        Its first two sentences' contexts choose the plane: *water* for *river*, *money* for
        *money*.
    outputs : mapping of str to ndarray, shape (len(world.axes),)
        The focus word's output in each sentence.
    look : Look, optional
        Its colours and width.

    Returns
    -------
    matplotlib.figure.Figure
        The words as dots, the outputs as arrow heads.
    """
    from matplotlib.ticker import MaxNLocator

    contexts = [world.context(sentence) for sentence in outputs]
    across, up = (world.main_axis(context) for context in contexts[:2])
    title = f"One input row for {world.focus}, one output a sentence"
    figure, [axes] = _panels(look, 1, (5.2, 4.7), 3.7, title)
    colours = _word_colours(world, look)
    for axis, name, context in (
        (axes.xaxis, world.axes[across], contexts[0]),
        (axes.yaxis, world.axes[up], contexts[1]),
    ):
        axis.set_label_text(f"{name} axis", color=colours[context])
    said = []
    for word in [*dict.fromkeys(contexts), world.focus]:
        x, y = world.vector(word)[[across, up]]
        axes.plot(x, y, "o", color=colours[word], markersize=11)
        axes.annotate(
            word, (x, y), (9, 9), textcoords="offset points", color=colours[word], weight="bold"
        )
        said.append(f"{word} at {_point(x, y)}")
    start = world.vector(world.focus)[[across, up]]
    moves = []
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
        label = f"in “{sentence}”\n({end[0]:.3f}, {end[1]:.3f})"
        axes.annotate(
            label,
            (end[0], end[1]),
            (-20 if end[0] < start[0] else 0, 6 if end[1] > start[1] else -6),
            textcoords="offset points",
            ha="left" if end[0] < start[0] else "center",
            va="bottom" if end[1] > start[1] else "top",
            color=colour,
        )
        moves.append(label.replace("\n", " to "))
    low, high = min(0.0, float(world.embeddings.min())), float(world.embeddings.max())
    margin = 0.12 * (high - low)
    ticks = MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(low, high)
    axes.set(xticks=ticks, yticks=ticks, aspect="equal")
    axes.set(xlim=(low - margin, high + 2 * margin), ylim=(low - margin, high + margin))
    axes.grid()
    axes.set_axisbelow(True)
    return _say(
        figure,
        f"{title}. On the plane of {world.axes[across]} (across) and {world.axes[up]} (up):",
        f"{', '.join(said)}. Arrows lead away from {world.focus}: {', '.join(moves)}.",
    )


@_styled
def qk_vs_raw_heatmaps(
    words: Sequence[str], raw: Floats, wired: Floats, *, look: Look = LIGHT
) -> "Figure":
    """Draw the weights of raw attention beside those of the wired head.

    Parameters
    ----------
    words : sequence of str
        The sentence.
    raw, wired : ndarray, shape (n, n)
        The two weight matrices.
    look : Look, optional
        Its colours and width.

    Returns
    -------
    matplotlib.figure.Figure
        Two annotated heatmaps.
    """
    return _heatmaps(
        "Queries and keys let a word ask for another kind of word",
        {"raw embeddings": (words, raw), "wired queries and keys": (words, wired)},
        look,
    )


@_styled
def scaling_max_weight(
    sizes: Sequence[ScalingMeasurement], keys: int, *, look: Look = LIGHT
) -> "Figure":
    """Draw the mean top weight against the dimension, with and without scaling.

    Parameters
    ----------
    sizes : sequence of ScalingMeasurement
        One a dimension.
    keys : int
        Keys a query; 1/keys is the even share.
    look : Look, optional
        Its colours and width.

    Returns
    -------
    matplotlib.figure.Figure
        Two curves on a log-2 axis and the even share as a dotted line.
    """
    title = "Unscaled, the winner takes all as d grows"
    figure, [axes] = _panels(look, 1, (6.2, 4.4), 4.5, title)
    colours = _THEMES[look.dark]
    measure = f"largest of {keys} weights, on average"
    d = [size.d for size in sizes]
    said = []
    for label, values, colour, marker in (
        ("unscaled", [size.top_unscaled for size in sizes], colours.words[-1], "s"),
        ("divided by √d", [size.top_scaled for size in sizes], colours.words[-2], "o"),
    ):
        axes.plot(d, values, marker=marker, color=colour, linewidth=2, markersize=8, label=label)
        for x, y in zip(d, values, strict=True):
            axes.annotate(
                f"{y:.3f}", (x, y), (0, 9), textcoords="offset points", ha="center", color=colour
            )
        points = ", ".join(f"{y:.3f} at d = {x}" for x, y in zip(d, values, strict=True))
        said.append(f"{label}: {points}.")
    axes.axhline(1 / keys, color=colours.ink, linestyle=":", label=f"even share, 1/{keys}")
    axes.set_xscale("log", base=2)
    axes.set_xticks(d, [str(size) for size in d])
    axes.minorticks_off()
    axes.margins(x=0.17)
    axes.set(ylim=(0, 1.08), xlabel="d, entries in each query and key")
    axes.set_ylabel(measure.replace(", ", ",\n"))
    figure.legend(loc="outside lower center", ncols=1 if look.narrow else 3, frameon=False)
    return _say(figure, f"{title}. The {measure},", *said, f"The even share is 1/{keys}.")


@_styled
def causal_mask(words: Sequence[str], weights: Floats, *, look: Look = LIGHT) -> "Figure":
    """Draw masked weights as an annotated heatmap.

    Parameters
    ----------
    words : sequence of str
        The sentence.
    weights : ndarray, shape (n, n)
        The weights, 0 above the diagonal.
    look : Look, optional
        Its colours and width.

    Returns
    -------
    matplotlib.figure.Figure
        One heatmap.
    """
    return _heatmaps(
        "The causal mask: no word looks ahead", {"wired head, masked": (words, weights)}, look
    )


@_styled
def attention_heatmap(
    title: str, head: str, words: Sequence[str], weights: Floats, *, look: Look = LIGHT
) -> "Figure":
    """Draw the weights of any head on any sentence as an annotated heatmap.

    Parameters
    ----------
    title, head : str
        What stands over the figure, and over the matrix.
    words : sequence of str
        The sentence.
    weights : ndarray, shape (n, n)
        The weights.
    look : Look, optional
        Its colours and width.

    Returns
    -------
    matplotlib.figure.Figure
        One heatmap.
    """
    return _heatmaps(title, {head: (words, weights)}, look)


def _heatmaps(
    title: str, panels: Mapping[str, tuple[Sequence[str], Floats]], look: Look
) -> "Figure":
    """Weight matrices: queries down, keys across the top, a number a cell."""
    from matplotlib.colors import LinearSegmentedColormap

    figure, all_axes = _panels(look, len(panels), (3.75, 4.0), 3.8, title)
    colours = _THEMES[look.dark]
    shades = LinearSegmentedColormap.from_list("weights", colours.shades)
    said = []
    for axes, (name, (words, weights)) in zip(all_axes, panels.items(), strict=True):
        edges = np.arange(len(words) + 1) - 0.5
        axes.pcolormesh(
            *(edges, edges, weights),
            cmap=shades,
            vmin=0,
            vmax=1,
            edgecolor=colours.background,
            linewidth=2,
        )
        for (i, j), weight in np.ndenumerate(weights):
            ink = _ink_on(shades(float(weight)))
            axes.text(j, i, f"{weight:.3f}", ha="center", va="center", color=ink)
        axes.set_xticks(range(len(words)), words)
        axes.set_yticks(range(len(words)), words)
        axes.tick_params(length=0, labeltop=True, labelbottom=False)
        axes.spines[:].set_visible(False)
        axes.invert_yaxis()
        axes.set_title(name)
        axes.set(
            xlabel="key: the word looked at", ylabel="query: the word that looks", aspect="equal"
        )
        rows = [f"{q} gives {_shares(words, row)}" for q, row in zip(words, weights, strict=True)]
        said.append(f"{name}: {'; '.join(rows)}.")
    return _say(figure, f"{title}. Heatmap of the weights,", *said)


def _ink_on(colour: tuple[float, float, float, float]) -> str:
    """Return black or white, whichever is easier to read on a colour."""
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in colour[:3]]
    # At this luminance (WCAG 2.2), the contrast with black is that with white.
    return "black" if np.dot(linear, [0.2126, 0.7152, 0.0722]) > 0.179 else "white"


def _panels(
    look: Look, count: int, wide: tuple[float, float], narrow: float, title: str
) -> tuple["Figure", list["Axes"]]:
    """Return a new figure of panels under a title.

    Each is as wide and high as `wide` says, in inches; on a narrow figure, `narrow` high.
    """
    import matplotlib.pyplot as plt

    rows, columns = (count, 1) if look.narrow else (1, count)
    width, height = (_NARROW, narrow * count) if look.narrow else (wide[0] * count, wide[1])
    figure, grid = plt.subplots(rows, columns, figsize=(width, height), squeeze=False)
    lines = len(title) // int(9 * width) + 1
    figure.suptitle(textwrap.fill(title, len(title) // lines + 5))  # lines of like length
    return figure, list(grid.flat)


def _point(x: float, y: float) -> str:
    """Return a point as it is written: ``(0.9, 0)``."""
    return f"({x:g}, {y:g})".replace("-", "−")


def _word_colours(world: ToyWorld, look: Look) -> dict[str, str]:
    """Each word's colour, the same in every figure."""
    colours = _THEMES[look.dark].words
    return {word: colours[i % len(colours)] for i, word in enumerate(world.words)}
