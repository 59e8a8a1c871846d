"""The workshop's figures: measurements in, a Matplotlib figure out.

- Each function makes one pyplot figure in the house style, whatever the reader's own Matplotlib
  settings, and returns it. Matplotlib loads when the first figure is drawn.
- A figure can be drawn light or dark, and for a wide or a narrow page: see :class:`Look`. It
  remembers how it was drawn, so :func:`redraw` draws it again in another look.
- A figure knows in words what it shows, made from the same numbers: see :func:`alt_text`.
"""

import html
import io
import math
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from attnlab.attention import Floats
from attnlab.results_log import columns_of
from attnlab.scaling import ScalingMeasurement, winner_takes_all
from attnlab.toy_world import ToyWorld

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
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
    "text.parse_math": False,  # a word such as $x$ is drawn as it is
    "svg.hashsalt": "attnlab",  # the same names within each file each time
}
#: What has the colour of the background, and of the ink.
_PAPER = ("figure.facecolor", "axes.facecolor")
_INK = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
#: Panels beside each other, at most, and signs of a word that are drawn, at most.
_ACROSS, _SIGNS = 3, 16
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

    with style(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # a box is drawn for it
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
    width = max(2.5, 0.56 * len(words))
    room = _room(look, width, len(words))
    tall = 0.09 * _longest(words) * _upright(words, room)
    figure, panels = _panels(look, 3, (width, 3.0 + tall), 2.1 + tall, title)
    colours = [_word_colours(world, look)[word] for word in words]
    titles = ("raw scores", "softmax", f"softmax of scores × {sharpness:g}")
    said = []
    for axes, name, heights in zip(panels, titles, (scores, weights, sharp), strict=True):
        bars = axes.bar(range(len(words)), heights, color=colours)
        size = min(11.0, room / 3.3)
        axes.bar_label(bars, [_digits(height) for height in heights], padding=2, fontsize=size)
        _name_ticks(axes.xaxis, words, room)
        axes.set(title=name, ylim=(0, 1.12))
        said.append(f"{name}: {_shares(words, heights)}.")
    low, high = min(0.0, float(scores.min())), max(1.12 / 1.15, float(scores.max()))
    panels[0].set_ylim(low - (0.15 * (high - low) if low < 0 else 0), high + 0.15 * high)
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
        The words as dots, the outputs as arrow heads. Where both contexts are largest on the
        same axis, the other one is that on which the dots and the outputs lie furthest apart; a
        world of one axis is drawn as a line. Names that would run together stand below.
    """
    from matplotlib.ticker import MaxNLocator

    contexts = [world.context(sentence) for sentence in outputs]
    across, up = _plane(world, contexts, outputs)
    plane = [across] if up is None else [across, up]

    def place(vector: Floats, level: int = 0) -> tuple[float, float]:
        """Where a vector stands; on a world's only axis, at a level of its own."""
        return float(vector[across]), float(level if up is None else vector[up])

    title = f"One input row for {_cut(world.focus)}, one output a sentence"
    low, high = min(0.0, float(world.embeddings.min())), max(0.0, float(world.embeddings.max()))
    high = high if high > low else 1.0
    words = [*dict.fromkeys(contexts), world.focus]
    ends = [place(output, level) for level, output in enumerate(outputs.values(), start=1)]
    points = [*(place(world.vector(word)) for word in words), *ends]
    crowded = _crowded(np.array(points) / (high - low)) or max(map(columns_of, outputs)) > 24
    below = 0.24 * len(points) * crowded
    figure, [axes] = _panels(look, 1, (5.2, 4.7 + below), 3.7 + below, title)
    colours = _word_colours(world, look)
    for axis, entry in zip((axes.xaxis, axes.yaxis), plane, strict=False):
        own = [context for context in contexts[:2] if world.main_axis(context) == entry]
        colour = colours[own[0]] if len(own) == 1 else _THEMES[look.dark].ink
        axis.set_label_text(f"{_cut(world.axes[entry])} axis", color=colour)
    said = []
    for word in words:
        x, y = place(world.vector(word))
        where = _point(*world.vector(word)[plane])
        label = f"“{_cut(word)}” at {where}"  # a label that begins with _ would not show
        axes.plot(x, y, "o", color=colours[word], markersize=11, label=label)
        if not crowded:
            axes.annotate(
                _cut(word),
                (x, y),
                (9, 9),
                textcoords="offset points",
                color=colours[word],
                weight="bold",
            )
        said.append(f"{word} at {where}")
    start = place(world.vector(world.focus))
    moves = []
    for end, (sentence, output) in zip(ends, outputs.items(), strict=True):
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
        reached = f"({', '.join(map(_digits, output[plane]))})"
        if crowded:
            axes.plot([], [], color=colour, label=f"in “{_cut(sentence, 32)}” to {reached}")
        else:
            axes.annotate(
                f"in “{sentence}”\n{reached}",
                (end[0], end[1]),
                (-20 if end[0] < start[0] else 0, 6 if end[1] > start[1] else -6),
                textcoords="offset points",
                ha="left" if end[0] < start[0] else "center",
                va="bottom" if end[1] > start[1] else "top",
                color=colour,
            )
        moves.append(f"in “{sentence}” to {reached}")
    if crowded:
        figure.legend(loc="outside lower center", frameon=False, fontsize=8.5)
    margin = 0.12 * (high - low)
    ticks = MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(low, high)
    axes.set(xticks=ticks, xlim=(low - margin, high + 2 * margin))
    if up is None:
        axes.set(yticks=[], ylim=(-0.5, len(outputs) + 0.5))
        axes.spines["left"].set_visible(False)
        where = f"On the {world.axes[across]} axis"
    else:
        axes.set(yticks=ticks, ylim=(low - margin, high + margin), aspect="equal")
        where = f"On the plane of {world.axes[across]} (across) and {world.axes[up]} (up)"
    axes.grid()
    axes.set_axisbelow(True)
    return _say(
        figure,
        f"{title}. {where}:",
        f"{', '.join(said)}. Arrows lead away from {world.focus}: {', '.join(moves)}.",
    )


def _crowded(points: Floats) -> bool:
    """Whether names beside these points, on a plane about 1 wide and high, would run together."""
    apart = np.abs(points[:, None] - points)
    near = (apart[..., 0] < 0.4) & (apart[..., 1] < 0.09)
    return bool(np.count_nonzero(near) > len(points))  # each is near itself


def _plane(
    world: ToyWorld, contexts: Sequence[str], outputs: Mapping[str, Floats]
) -> tuple[int, int | None]:
    """Return the axes across and up; no second one if the world has but one."""
    across, up = (world.main_axis(context) for context in contexts[:2])
    if across != up:
        return across, up
    shown = np.array([*map(world.vector, [*contexts, world.focus]), *outputs.values()])
    others = [axis for axis in range(len(world.axes)) if axis != across]
    return across, max(others, key=lambda axis: float(np.ptp(shown[:, axis])), default=None)


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
    title = "The largest weight as d grows"
    if winner_takes_all(sizes):
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


@_styled
def causal_mask(words: Sequence[str], weights: Floats, *, look: Look = LIGHT) -> "Figure":
    """Draw masked weights, 0 above the diagonal; the rest is as for :func:`attention_heatmap`."""
    panel = {"wired head, masked": (words, weights)}
    return _heatmaps("The causal mask: no word looks ahead", panel, look)


def _heatmaps(
    title: str, panels: Mapping[str, tuple[Sequence[str], Floats]], look: Look
) -> "Figure":
    """Weight matrices: queries down, keys across the top, a number a cell."""
    from matplotlib.colors import LinearSegmentedColormap

    count = max(len(words) for words, _ in panels.values())
    names = [word for words, _ in panels.values() for word in words]
    width = max(3.75, 0.55 * count + 1.2)
    room = _room(look, width, count)
    width += 0.09 * max(0, _longest(names) - 6)
    tall = 0.09 * _longest(names) * _upright(names, room)
    wide = (width, max(4.0, 0.55 * count + 2.2) + tall)
    figure, all_axes = _panels(look, len(panels), wide, 3.8 + tall, title)
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
            size = min(11.0, room / 3.3)
            axes.text(j, i, f"{weight:.3f}", ha="center", va="center", color=ink, fontsize=size)
        _name_ticks(axes.xaxis, words, room)
        _name_ticks(axes.yaxis, words)
        axes.tick_params(length=0, labeltop=True, labelbottom=False)
        axes.spines[:].set_visible(False)
        axes.invert_yaxis()
        axes.set_title(_cut(name, int(10 * (_NARROW if look.narrow else width))))
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

    columns = 1 if look.narrow else min(count, _ACROSS)
    rows = -(-count // columns)
    width, height = (_NARROW, narrow * rows) if look.narrow else (wide[0] * columns, wide[1] * rows)
    figure, grid = plt.subplots(rows, columns, figsize=(width, height), squeeze=False)
    lines = len(title) // int(9 * width) + 1
    figure.suptitle(textwrap.fill(title, len(title) // lines + 5))  # lines of like length
    for axes in grid.flat[count:]:
        axes.remove()
    return figure, list(grid.flat[:count])


def _room(look: Look, wide: float, count: int) -> float:
    """Return how many points of a panel's width each of so many columns has, about."""
    return 0.75 * 72 * (_NARROW if look.narrow else wide) / count


def _name_ticks(axis: "Axis", words: Sequence[str], room: float = math.inf) -> None:
    """Name each tick by a word, upright where words are wider than so many points."""
    rotation = 90 if _upright(words, room) else 0
    axis.set_ticks(range(len(words)), list(map(_cut, words)), rotation=rotation)


def _upright(words: Sequence[str], room: float) -> bool:
    """Whether words must stand upright, since one is wider than so many points."""
    return 6.5 * _longest(words) > room


def _longest(words: Sequence[str]) -> int:
    """Return the width of the longest word that is drawn, in letters."""
    return max(columns_of(_cut(word)) for word in words)


def _cut(text: str, signs: int = _SIGNS) -> str:
    """Return text cut to what a figure has room for."""
    return text if len(text) <= signs else f"{text[: signs - 1]}…"


def _digits(value: float) -> str:
    """Return a number with three decimals, or fewer where it is large."""
    return f"{value:z.3f}" if abs(value) < 1000 else f"{value:.4g}"


def _point(*entries: float) -> str:
    """Return a point as it is written: ``(0.9, 0)``."""
    return f"({', '.join(f'{entry:zg}' for entry in entries)})".replace("-", "−")


def _word_colours(world: ToyWorld, look: Look) -> dict[str, str]:
    """Each word's colour, the same in every figure."""
    colours = _THEMES[look.dark].words
    return {word: colours[i % len(colours)] for i, word in enumerate(world.words)}
