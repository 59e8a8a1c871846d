r"""One calculation written out in full, so that a reader can follow it with a pencil.

- :func:`calculate` takes what a reader would write, ``"softmax bank"`` and options, and returns
  a :class:`Calculation`.
- A calculation is a few steps, each a sentence and short lines of formula: as plain text for a
  terminal, as TeX, and as MathML for a browser.
- Every step is calculated from the one before in full precision, entry by entry. Weights and
  outputs must agree with :func:`attnlab.attention` in the end.
- What is shown is rounded. A calculation knows how far from its result a line may end for a
  reader who works with the numbers shown.
"""

import difflib
import html
import math
import operator
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attnlab.attention import AttentionResult, Floats, attention
from attnlab.errors import AttnlabError, InvalidTypeError, InvalidValueError
from attnlab.results_log import columns_of, pad
from attnlab.toy_world import ToyWorld

HEADS = ("raw", "wired")
#: A row of formula with so many signs, its name included, fits on a phone.
PHONE = 36
#: Exponentials of scores between these are handy numbers; otherwise the largest is subtracted.
_HANDY = (-1.0, 10.0)
#: A number is written with at most so many digits: a float holds them all, with room for error.
_DIGITS = 14
_TEX = {"×": r"\times", "·": r"\cdot", "≈": r"\approx", "−∞": r"{-\infty}", "−": "-", "": "{}"}
_TEX_ESCAPES = {
    **{sign: f"\\{sign}" for sign in "{}$&%#_"},
    **{"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"},
}


@dataclass(frozen=True)
class Head:
    """Which attention is meant, on which sentence.

    Attributes
    ----------
    sentence : tuple of str
        The words, in order.
    name : str
        ``raw``: each word is its own query and key. ``wired``: the world's W_Q and W_K.
    causal : bool
        Whether no word may look at later ones.
    scaled : bool
        Whether the wired head's scores are divided by √d_k. Raw scores never are.
    sharpness : float
        What the scores are multiplied by in the end, above 0 and at most 1000.

    Raises
    ------
    InvalidValueError
        If the name or the sharpness is none of these, or a raw head is said to be unscaled.
    InvalidTypeError
        If the sharpness is not a number.
    """

    sentence: tuple[str, ...]
    name: str = "raw"
    causal: bool = False
    scaled: bool = True
    sharpness: float = 1.0

    def __post_init__(self) -> None:
        one_of("head", self.name, HEADS)
        if not self.scaled and self.name != "wired":
            raise InvalidValueError(
                "unscaled goes with head: wired only, since raw scores are never scaled"
            )
        if not isinstance(self.sharpness, (int, float)) or isinstance(self.sharpness, bool):
            raise InvalidTypeError(f"sharpness must be a number, but it is {self.sharpness!r}")
        _check_sharpness(self.sharpness, repr(self.sharpness))


def describe(head: Head) -> str:
    """Return which head it is, in words: ``wired head, causal mask``."""
    words = ["raw attention" if head.name == "raw" else "wired head"]
    words += ["unscaled"] if not head.scaled else []
    words += ["causal mask"] if head.causal else []
    return ", ".join(words)


def attend(world: ToyWorld, head: Head) -> AttentionResult:
    """Apply a head to its sentence with :func:`attnlab.attention`.

    Parameters
    ----------
    world : ToyWorld
        Gives the embeddings, which are the values too, and the wired head.
    head : Head
        What to apply to which sentence.

    Returns
    -------
    AttentionResult
        output (n, axes), weights (n, n) and the scores that the softmax was given (n, n).
    """
    identity = np.eye(len(world.axes))
    W_q, W_k = (world.W_Q, world.W_K) if head.name == "wired" else (identity, identity)
    undo = 1.0 if head.name == "wired" and head.scaled else math.sqrt(W_q.shape[1])
    return attention(
        world.embed(head.sentence), W_q * (undo * head.sharpness), W_k, identity, head.causal
    )


@dataclass(frozen=True)
class Formula:
    """A piece of formula: as TeX, as plain text, and as MathML."""

    tex: str
    text: str
    mathml: str


@dataclass(frozen=True)
class Line:
    """How one quantity is calculated.

    Attributes
    ----------
    name : Formula
        What is calculated.
    pieces : tuple of Formula
        How; the line may be broken before each of them.
    value : float or None
        What comes out, in full precision. None where the line says it with words.
    """

    name: Formula
    pieces: tuple[Formula, ...]
    value: float | None = None

    @property
    def formula(self) -> Formula:
        """The pieces as one."""
        return _join(*self.pieces)

    def rows(self, width: int = PHONE) -> list[tuple[Formula, Formula]]:
        """The line broken to so many signs, if that can be; the name is empty where it goes on."""
        rows = [self.pieces[0]]
        for piece in self.pieces[1:]:
            if columns_of(self.name.text + rows[-1].text + piece.text) + 2 <= width:
                rows[-1] = _join(rows[-1], piece)
            else:  # the empty group keeps a sign that begins a row as far apart as within one
                rows.append(Formula(f"{{}} {piece.tex}", piece.text, piece.mathml))
        nothing = Formula("", "", "")
        return [(nothing if i else self.name, row) for i, row in enumerate(rows)]


@dataclass(frozen=True)
class Step:
    """A sentence and the lines of formula that it speaks of.

    Attributes
    ----------
    kind : str
        What is done: ``product``, ``query``, ``key``, ``scores``, ``scaling``, ``sharpening``,
        ``shift``, ``exponentials``, ``weights``, ``check``, ``sum`` or ``output``.
    words : tuple of str
        Plain and emphasized text in turn, plain first.
    lines : tuple of Line
        What is calculated, in order.
    """

    kind: str
    words: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def tex(self) -> str:
        """The lines as one aligned formula."""
        rows = " \\\\\n".join(f"{name.tex} & {formula.tex}" for name, formula in self.rows())
        return f"\\begin{{aligned}}\n{rows}\n\\end{{aligned}}"

    @property
    def text(self) -> str:
        """The sentence, and the lines indented below it."""
        return "\n".join(["".join(map(isolated, self.words)), self.block()])

    def block(self, width: int = PHONE) -> str:
        """The lines as plain text, indented."""
        longest = max(columns_of(line.name.text) for line in self.lines)
        return "\n".join(
            f"    {pad(name.text, longest)} {formula.text}" for name, formula in self.rows(width)
        )

    def rows(self, width: int = PHONE) -> list[tuple[Formula, Formula]]:
        """All rows of all lines."""
        return [row for line in self.lines for row in line.rows(width)]


@dataclass(frozen=True)
class Calculation:
    """A calculation, ready to be shown.

    Attributes
    ----------
    steps : tuple of Step
        In order.
    result : ndarray
        What comes out, in full precision.
    places : int
        How many decimals are shown.
    rounded : bool
        Whether a number has more decimals than that.
    slack : int
        A reader who works a line out from the numbers shown, and rounds, ends at most so many
        units of the last place away from the result shown.
    """

    steps: tuple[Step, ...]
    result: Floats
    places: int
    rounded: bool
    slack: int

    @property
    def note(self) -> str:
        """What was rounded; empty if nothing was."""
        if not self.rounded:
            return ""
        return f"Rounded to {_decimals(self.places)}; calculated with all digits."

    @property
    def bound(self) -> str:
        """How exact the numbers are that are shown, in two sentences."""
        if not self.rounded:
            return "Nothing is rounded: every number shown is exact."
        half = f"{0.5 * 10**-self.places:.{self.places + 1}f}"
        shown = (
            f"Each number shown is rounded to {_decimals(self.places)} from a calculation with "
            f"all digits, so it is at most {half} off."
        )
        if not self.slack:
            return f"{shown} Worked out from the numbers shown, each line ends in what it shows."
        away = f"{self.slack * 10**-self.places:,.{self.places}f}"
        return (
            f"{shown} Worked out from the numbers shown and rounded, a line may end up to {away} "
            "away from what it shows."
        )

    @property
    def text(self) -> str:
        """The whole calculation for a terminal."""
        parts = [step.text for step in self.steps]
        return "\n\n".join([*parts, self.note] if self.note else parts) + "\n"

    @property
    def rst(self) -> str:
        """The whole calculation as reStructuredText without directives but ``math``."""
        parts = []
        for step in self.steps:
            rows = "\n".join(f"   {row}" for row in step.tex.splitlines())
            words = (
                f"*{_rst(part)}*" if i % 2 else _rst(part) for i, part in enumerate(step.words)
            )
            parts += ["".join(words), f".. math::\n\n{rows}"]
        return "\n\n".join([*parts, self.note] if self.note else parts) + "\n"


def _decimals(places: int) -> str:
    """Return how many decimals, in words."""
    words = {1: "one decimal", 2: "two decimals", 3: "three decimals", 4: "four decimals"}
    return words.get(places, f"{places} decimals")


def _rst(text: str) -> str:
    """Escape what reStructuredText would read as markup."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)


class _Pencil:
    """Writes numbers with so many decimals, and remembers what rounding does to a reader."""

    def __init__(self, places: int) -> None:
        self.places = places
        self.rounded = False
        self.gap = 0.0

    def exact(self, *values: float) -> bool:
        """Whether values have no more decimals than are written, errors of rounding aside."""
        exact = True
        for value in values:
            if math.isinf(value):
                continue
            if abs(value) >= 10 ** (_DIGITS - self.places):
                raise InvalidValueError(
                    f"{value:.6g} has too many digits to be written with {_decimals(self.places)}: "
                    f"a number is held to about {_DIGITS} digits; take fewer decimals, or smaller "
                    "entries or sharpness"
                )
            noise = max(1e-15, 16 * math.ulp(value))
            exact &= abs(value - round(value, self.places)) <= noise
        self.rounded |= not exact
        return exact

    def equals(self, value: float, work: Callable[..., float], *of: float) -> str:
        """The sign before a result: = if it is exact, and what it comes from is, or else ≈.

        Parameters
        ----------
        value : float
            The result.
        work : callable
            What makes the result of the numbers that are written before it.
        *of : float
            Those numbers.
        """
        exact = self.exact(value) and self.exact(*of)
        if not any(map(math.isinf, of)):
            again = work(*(round(number, self.places) for number in of))
            self.gap = max(self.gap, abs(again - round(value, self.places)))
        return "=" if exact else "≈"

    def full(self, value: float) -> Formula:
        """A number with all its decimals: 0.540."""
        self.exact(value)
        if math.isinf(value):
            return _symbol("−∞")
        return _digits(f"{value:z.{self.places}f}")

    def short(self, value: float, least: int = 0) -> Formula:
        """A number without the zeros at its end, if it is exact: 0.54."""
        full = self.full(value)
        if not self.exact(value):
            return full
        whole, _, decimals = full.text.partition(".")
        decimals = decimals.rstrip("0").ljust(least, "0")
        return _digits(f"{whole}.{decimals}" if decimals else whole)

    def given(self, value: float) -> Formula:
        """An entry of the toy world or of a matrix: 0.3, and 0.0 rather than 0."""
        return self.short(value, least=1)

    @property
    def slack(self) -> int:
        """As for :class:`Calculation`, whichever way a reader rounds a number halfway between."""
        return math.floor(self.gap * 10.0**self.places + 0.5 + 1e-6)


def isolated(text: str) -> str:
    """Keep text that runs from right to left from taking its surroundings with it."""
    if any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in text):
        return f"\u2068{text}\u2069"
    return text


def tex_escaped(text: str) -> str:
    """Return text as TeX shows it, outside formulas or in their text."""
    escaped = "".join(_TEX_ESCAPES.get(sign, sign) for sign in text)
    # Pairs that TeX's fonts would draw as one sign.
    return re.sub(r"([-`',<>])(?=\1)|([?!])(?=`)", r"\g<0>{}", escaped)


def values(step: Step) -> Floats:
    """What a step's lines end in, in full precision, shape (n lines,)."""
    return np.asarray([line.value for line in step.lines if line.value is not None])


def decimal(value: float, places: int) -> Formula:
    """Return a number with all its decimals."""
    return _Pencil(places).full(value)


def written(entries: Floats, places: int) -> tuple[tuple[Formula, ...], ...]:
    """Return the entries of a matrix as they are written in a calculation."""
    pencil = _Pencil(places)
    return tuple(tuple(map(pencil.given, row)) for row in entries.tolist())


def _digits(digits: str) -> Formula:
    """A number; the braces keep its minus from looking like a subtraction."""
    digits, shown = digits.replace("−", "-"), digits.replace("-", "−")
    tex = f"{{{digits}}}" if digits.startswith("-") else digits
    return Formula(tex, shown, f"<mn>{shown}</mn>")


def _symbol(sign: str) -> Formula:
    # A browser would set a plus that begins a row as the sign of a number.
    return Formula(_TEX.get(sign, sign), sign, f'<mo form="infix">{sign}</mo>')


def _word(text: str) -> Formula:
    """A word or a name within a formula."""
    # To MathML, \\text is space, and the operator between two spaces gets none of its own.
    command = "mathrm" if text.isascii() and text.isalpha() else "text"
    return Formula(
        rf"\{command}{{{tex_escaped(text)}}}",
        isolated(text),
        f"<mtext>{html.escape(text)}</mtext>",
    )


def _name(text: str) -> Formula:
    """What a line of formula begins with when it is not one side of an equation."""
    name = _word(f"{text}:")
    return Formula(rf"{name.tex}\;", f"{isolated(text)}:", name.mathml)


def _join(*pieces: Formula | str) -> Formula:
    """Pieces side by side; a string is a sign."""
    formulas = [_symbol(piece) if isinstance(piece, str) else piece for piece in pieces]
    return Formula(
        " ".join(piece.tex for piece in formulas),
        " ".join(piece.text for piece in formulas),
        "".join(piece.mathml for piece in formulas),
    )


def _term(formula: Formula) -> Formula:
    """A number as a factor or as a term: in brackets if it begins with a minus."""
    if not formula.text.startswith("−"):
        return formula
    return Formula(
        rf"\left({formula.tex}\right)",
        f"({formula.text})",
        f"<mrow><mo>(</mo>{formula.mathml}<mo>)</mo></mrow>",
    )


def _times(a: Formula, b: Formula) -> Formula:
    return _join(_term(a), "×", _term(b))


def _plus(terms: Sequence[Formula]) -> list[Formula]:
    """Terms to be added, each but the first with its plus sign."""
    return [terms[0], *(_join("+", _term(term)) for term in terms[1:])]


def _over(above: Formula, below: Formula) -> Formula:
    return Formula(
        rf"\frac{{{above.tex}}}{{{below.tex}}}",
        f"{above.text} / {below.text}",
        f"<mfrac><mrow>{above.mathml}</mrow><mrow>{below.mathml}</mrow></mfrac>",
    )


def _root(number: int) -> Formula:
    return Formula(rf"\sqrt{{{number}}}", f"√{number}", f"<msqrt><mn>{number}</mn></msqrt>")


def _exponential(power: Formula) -> Formula:
    return Formula(
        f"e^{{{power.tex}}}",
        f"e^{power.text}",
        f"<msup><mi>e</mi><mrow>{power.mathml}</mrow></msup>",
    )


def _of(letter: str, word: str) -> Formula:
    """A letter with a word below: the query of *bank*."""
    below = _word(word)
    return Formula(
        rf"{letter}_{{{below.tex}}}",
        f"{letter}_{below.text}",
        f"<msub><mi>{letter}</mi>{below.mathml}</msub>",
    )


def _dot(a: Formula, b: Formula) -> Formula:
    return _join(a, "·", b)


def _dotted(a: Floats, b: Floats) -> float:
    """The dot product, with no error but that of the last rounding of each product."""
    return math.fsum((a * b).tolist())


def _dotted_halves(*numbers: float) -> float:
    """The dot product of the first half of numbers with the second."""
    half = len(numbers) // 2
    return math.fsum(map(operator.mul, numbers[:half], numbers[half:]))


def _added(*numbers: float) -> float:
    return math.fsum(numbers)


def _sum_of_products(
    name: Formula, sign: str, a: Sequence[Formula], b: Sequence[Formula], *end: Formula
) -> tuple[Formula, tuple[Formula, ...]]:
    """A line's name, and its pieces: numbers times numbers or words, added up."""
    first, *others = _plus([_times(x, y) for x, y in zip(a, b, strict=True)])
    return name, (_join(sign, first), *others, *end)


def _on_one_line(name: Formula, a: Floats, b: Floats, pencil: _Pencil) -> Line:
    """Write two vectors multiplied entry by entry and added up, all in one line."""
    numbers = (*a.tolist(), *b.tolist())
    value = _dotted(a, b)
    written = [pencil.given(number) for number in numbers]
    end = _join(pencil.equals(value, _dotted_halves, *numbers), pencil.full(value))
    sign = "=" if pencil.exact(*numbers) else "≈"
    half = len(a)
    return Line(*_sum_of_products(name, sign, written[:half], written[half:], end), value)


def _products(
    names: Sequence[str], a: Floats, b: Floats, total: Formula, pencil: _Pencil
) -> tuple[Line, ...]:
    """Two vectors multiplied entry by entry, a line an entry, and the sum of the products."""
    lines, products = [], []
    for name, x, y in zip(names, a.tolist(), b.tolist(), strict=True):
        sign, product = pencil.equals(x * y, operator.mul, x, y), pencil.short(x * y)
        products.append(product)
        formula = _join(_times(pencil.given(x), pencil.given(y)), sign, product)
        lines.append(Line(_name(name), (formula,), x * y))
    result = _dotted(a, b)
    first, *others = _plus(products)
    sign = pencil.equals(result, _added, *(a * b).tolist())
    start = "=" if pencil.exact(*a, *b, *(a * b)) else "≈"
    end = _join(sign, pencil.full(result))
    return (*lines, Line(total, (_join(start, first), *others, end), result))


def _dot_product(
    world: ToyWorld, head: Head, words: Sequence[str], pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out the dot product of two words, axis by axis."""
    first, second = words
    a, b = world.vector(first), world.vector(second)
    step = Step(
        "product",
        (
            *("Multiply the entries of ", first, " and ", second),
            " axis by axis, and add the products:",
        ),
        _products(world.axes, a, b, _dot(_word(first), _word(second)), pencil),
    )
    return [step], np.asarray(step.lines[-1].value)


def _query(
    world: ToyWorld, head: Head, words: Sequence[str], pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out the query of a word: q = x W_Q."""
    return _by_channel("query", world, words[0], pencil)


def _key(
    world: ToyWorld, head: Head, words: Sequence[str], pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out the key of a word: k = x W_K."""
    return _by_channel("key", world, words[0], pencil)


def _wiring(kind: str, world: ToyWorld) -> tuple[Floats, str, str]:
    """The matrix that makes queries or keys, their letter, and what an axis does there."""
    if kind == "query":
        return world.W_Q, "q", "asks for"
    return world.W_K, "k", "advertises"


def _by_channel(
    kind: str, world: ToyWorld, word: str, pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out the product of a word's row with a matrix, channel by channel."""
    W, letter, does = _wiring(kind, world)
    x = world.vector(word)
    steps = [
        Step(
            kind,
            (
                *("On the channel ", channel, ", multiply each entry of ", word),
                f" by what its axis {does} there, and add the products:",
            ),
            _products(world.axes, x, column, _of(letter, channel), pencil),
        )
        for channel, column in zip(world.channels, W.T, strict=True)
    ]
    return steps, np.asarray([step.lines[-1].value for step in steps])


def _projection(kind: str, world: ToyWorld, word: str, pencil: _Pencil) -> Step:
    """Write out the same in one step, a line a channel."""
    W, letter, does = _wiring(kind, world)
    x = world.vector(word)
    how = f": on each channel, multiply its entries by what each axis {does} there, and add:"
    return Step(
        kind,
        (f"The {kind} of ", word, how),
        tuple(
            _on_one_line(_of(letter, channel), x, column, pencil)
            for channel, column in zip(world.channels, W.T, strict=True)
        ),
    )


def _vectors(world: ToyWorld, head: Head, first: str, second: str) -> tuple[Floats, Floats]:
    """Whose dot product the score is that one word gives another."""
    a, b = world.vector(first), world.vector(second)
    return (a @ world.W_Q, b @ world.W_K) if head.name == "wired" else (a, b)


def _sides(head: Head, first: str, second: str) -> Formula:
    """The same as a reader writes it."""
    if head.name == "wired":
        return _dot(_of("q", first), _of("k", second))
    return _dot(_word(first), _word(second))


def _reshaped(
    world: ToyWorld, head: Head, names: Sequence[str], scores: Sequence[float], pencil: _Pencil
) -> tuple[list[Step], list[float]]:
    """Write out what happens to scores before the softmax: scaling, then sharpening."""
    ways: list[
        tuple[str, str, Callable[[Formula], Formula], Callable[..., float], tuple[float, ...]]
    ] = []
    if head.name == "wired" and head.scaled:
        size = len(world.channels)
        ways.append(
            (
                "scaling",
                "Divide by the square root of the number of channels:",
                lambda score: _over(score, _root(size)),
                lambda score: score / math.sqrt(size),
                (),
            )
        )
    if head.sharpness != 1:
        factor = pencil.short(head.sharpness)
        ways.append(
            (
                "sharpening",
                f"Multiply by {factor.text}:",
                lambda score: _times(factor, score),
                operator.mul,
                (head.sharpness,),
            )
        )
    steps = []
    for kind, words, write, work, factors in ways:
        lines = []
        for name, before in zip(names, scores, strict=True):
            after = work(before, *factors)
            sign = pencil.equals(after, work, before, *factors)
            end = _join(write(pencil.full(before)), sign, pencil.full(after))
            lines.append(Line(_name(name), (end,), after))
        steps.append(Step(kind, (words,), tuple(lines)))
        scores = [line.value for line in lines if line.value is not None]
    return steps, list(scores)


def _score(
    world: ToyWorld, head: Head, words: Sequence[str], pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out the score that the first word gives to the second."""
    first, second = words
    a, b = _vectors(world, head, first, second)
    if head.name == "raw":
        names = world.axes
        what = ("Multiply the entries of ", first, " and ", second, " axis by axis")
    else:
        names = world.channels
        what = ("Multiply the query of ", first, " and the key of ", second, " channel by channel")
    step = Step(
        "product",
        (*what[:-1], f"{what[-1]}, and add the products:"),
        _products(names, a, b, _sides(head, first, second), pencil),
    )
    more, (result,) = _reshaped(world, head, ["score"], [_dotted(a, b)], pencil)
    return [step, *more], np.asarray(result)


def _seen(head: Head, word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words that a word may look at, and those that the causal mask hides from it."""
    end = head.sentence.index(word) + 1 if head.causal else len(head.sentence)
    return head.sentence[:end], head.sentence[end:]


def _hidden_scores(hidden: Sequence[str]) -> list[Line]:
    return [Line(_name(other), (_symbol("−∞"),), -math.inf) for other in hidden]


def _softmax(
    world: ToyWorld, head: Head, words: Sequence[str], pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out the row of weights of a word: scores, exponentials, their sum, quotients."""
    word = words[0]
    seen, hidden = _seen(head, word)
    lines = []
    for other in seen:
        score = _dotted(*_vectors(world, head, word, other))
        sign = "=" if pencil.exact(score) else "≈"
        formula = _join(_sides(head, word, other), sign, pencil.full(score))
        lines.append(Line(_name(other), (formula,), score))
    what = (
        ("the dot product of the query of ", word, " with the word's key")
        if head.name == "wired"
        else ("its dot product with ", word, "")
    )
    end = ". Later words are hidden: they score minus infinity:" if hidden else ":"
    step = Step(
        "scores",
        (f"The score of each word is {what[0]}", word, f"{what[2]}{end}"),
        (*lines, *_hidden_scores(hidden)),
    )
    steps, weights = _weights(world, head, word, step, pencil)
    return [step, *steps], weights


def _weights(
    world: ToyWorld, head: Head, word: str, scored: Step, pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out how the scores of a step become weights."""
    seen, hidden = _seen(head, word)
    scores = [line.value for line in scored.lines[: len(seen)] if line.value is not None]
    steps, scores = _reshaped(world, head, seen, scores, pencil)
    if not _HANDY[0] <= max(scores) <= _HANDY[1]:
        step, scores = _less_the_largest(seen, scores, pencil)
        steps.append(step)
    scores += [-math.inf] * len(hidden)

    powers = [math.exp(s) for s in scores]
    total = math.fsum(powers)
    lines = [
        Line(
            _name(other),
            (_join(_exponential(pencil.full(s)), _power_sign(s, pencil), pencil.full(power)),),
            power,
        )
        for other, s, power in zip(head.sentence, scores, powers, strict=True)
    ]
    terms = _plus([pencil.full(power) for power in powers])
    end = _join(pencil.equals(total, _added, *powers), pencil.full(total))
    lines.append(Line(_name("sum"), (*terms, end), total))
    words = "Take the exponential of each score, and add them up:"
    steps.append(Step("exponentials", (words,), tuple(lines)))

    weights = [power / total for power in powers]
    lines = [
        Line(
            _name(other),
            (
                _join(
                    _over(pencil.full(power), pencil.full(total)),
                    pencil.equals(weight, operator.truediv, power, total) if power else "=",
                    pencil.full(weight),
                ),
            ),
            weight,
        )
        for other, power, weight in zip(head.sentence, powers, weights, strict=True)
    ]
    words = "Divide each by the sum to get the weights:"
    steps.append(Step("weights", (words,), tuple(lines)))
    row = head.sentence.index(word)
    return steps, _agreed("weights", np.asarray(weights), attend(world, head).weights[row])


def _less_the_largest(
    names: Sequence[str], scores: Sequence[float], pencil: _Pencil
) -> tuple[Step, list[float]]:
    """Write out that the largest score is subtracted from each."""
    largest = max(scores)
    lines = []
    for name, before in zip(names, scores, strict=True):
        after = before - largest
        formula = _join(
            pencil.full(before),
            "−",
            _term(pencil.full(largest)),
            pencil.equals(after, operator.sub, before, largest),
            pencil.full(after),
        )
        lines.append(Line(_name(name), (formula,), after))
    words = (
        "Subtract the largest, to have handy exponentials; it would cancel in the quotients below:"
    )
    return Step("shift", (words,), tuple(lines)), [score - largest for score in scores]


def _power_sign(score: float, pencil: _Pencil) -> str:
    """The sign before an exponential; only those of 0 and −∞ are exact."""
    sign = pencil.equals(math.exp(score), math.exp, score)
    if score == 0 or math.isinf(score):
        return sign
    pencil.rounded = True
    return "≈"


def _output(
    world: ToyWorld, head: Head, words: Sequence[str], pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out the output of a word: the rows of the sentence, added up by its weights."""
    _, weights = _softmax(world, head, words, _Pencil(pencil.places))
    return _mixed(world, head, words[0], weights, pencil)


def _mixed(
    world: ToyWorld, head: Head, word: str, weights: Floats, pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out how weights mix the rows of the sentence."""
    sign = "=" if pencil.exact(*weights) else "≈"
    written = [pencil.full(weight) for weight in weights.tolist()]
    whole = _sum_of_products(_word("output"), sign, written, [*map(_word, head.sentence)])
    lines: list[Line] = []
    for axis, column in zip(world.axes, world.embed(head.sentence).T, strict=True):
        numbers = (*weights.tolist(), *column.tolist())
        entry = _dotted(weights, column)
        end = _join(pencil.equals(entry, _dotted_halves, *numbers), pencil.full(entry))
        entries = [pencil.given(x) for x in column.tolist()]
        lines.append(Line(*_sum_of_products(_word(axis), sign, written, entries, end), entry))
    steps = [
        Step(
            "sum",
            ("Add up the words' rows, each times the weight that ", word, " gives it:"),
            (Line(*whole),),
        ),
        Step("output", ("Axis by axis:",), tuple(lines)),
    ]
    result = np.asarray([line.value for line in lines])
    row = head.sentence.index(word)
    return steps, _agreed("output", result, attend(world, head).output[row])


def _trace(
    world: ToyWorld, head: Head, words: Sequence[str], pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out everything that makes the output of a word, from its row on."""
    word = words[0]
    seen, hidden = _seen(head, word)
    steps = []
    if head.name == "wired":
        steps.append(_projection("query", world, word, pencil))
        steps += [_projection("key", world, other, pencil) for other in seen]
        what: tuple[str, ...] = ("Multiply the query of ", word, " and the key of each word ")
        by = "channel by channel"
    else:
        what = ("Multiply the entries of ", word, " and of each word ")
        by = "axis by axis"
    end = ". Later words are hidden: they score minus infinity:" if hidden else ":"
    scored = Step(
        "scores",
        (*what[:2], f"{what[2]}{by}, and add the products{end}"),
        (
            *(
                _on_one_line(_sides(head, word, other), *_vectors(world, head, word, other), pencil)
                for other in seen
            ),
            *_hidden_scores(hidden),
        ),
    )
    shares, weights = _weights(world, head, word, scored, pencil)
    total = math.fsum(weights.tolist())
    terms = _plus([pencil.full(weight) for weight in weights.tolist()])
    terms.append(_join(pencil.equals(total, _added, *weights.tolist()), pencil.full(total)))
    check = Step("check", ("The weights must sum to 1:",), (Line(_name("sum"), (*terms,), total),))
    mixed, output = _mixed(world, head, word, weights, pencil)
    return [*steps, scored, *shares, check, *mixed], output


def _agreed(what: str, by_hand: Floats, by_package: Floats) -> Floats:
    """Raise unless the calculation by hand and the package's agree."""
    if not np.allclose(by_hand, by_package, rtol=1e-9, atol=1e-12):
        raise AttnlabError(
            f"the {what} by hand and by attnlab.attention must agree, "
            f"but they are {by_hand.tolist()} and {by_package.tolist()}"
        )
    return by_hand


@dataclass(frozen=True)
class _Kind:
    """What can be written out: how many words it takes and which options."""

    example: str
    write: Callable[[ToyWorld, Head, Sequence[str], _Pencil], tuple[list[Step], Floats]]
    options: tuple[str, ...] = ()


HEAD_OPTIONS = ("sentence", "head", "causal", "sharpness", "unscaled")
KINDS = {
    "dot": _Kind("dot bank river", _dot_product),
    "query": _Kind("query bank", _query),
    "key": _Kind("key bank", _key),
    "score": _Kind("score bank river", _score, HEAD_OPTIONS),
    "softmax": _Kind("softmax bank", _softmax, HEAD_OPTIONS),
    "output": _Kind("output bank", _output, HEAD_OPTIONS),
    "trace": _Kind("trace bank", _trace, HEAD_OPTIONS),
}


def calculate(
    world: ToyWorld, arguments: str, options: Mapping[str, str | None] | None = None
) -> Calculation:
    """Write out one calculation.

    Parameters
    ----------
    world : ToyWorld
        Gives the words' vectors and the wired head.
    arguments : str
        A kind and its words: ``dot bank river``, ``query bank``, ``key bank``,
        ``score bank river``, ``softmax bank``, ``output bank``, or ``trace bank`` for all that
        leads to the output.
    options : mapping of str to str or None, optional
        ``places`` (how many decimals, 3 if left out), and for the last four kinds those that
        ``read_head`` knows. A flag such as ``causal`` has no value, or an empty one.

    Returns
    -------
    Calculation
        Its steps, its result and what was rounded.

    Raises
    ------
    InvalidValueError
        If the kind, an option or its value is unknown, the words do not fit, or a number is too
        long to be written.
    UnknownWordError
        If a word has no vector.
    """
    options = options or {}
    name, *words = arguments.split() or [""]
    kind = KINDS[one_of("the kind of calculation", name, KINDS)]
    wanted = len(kind.example.split()) - 1
    if len(words) != wanted:
        raise InvalidValueError(
            f"{name} takes {('one word', 'two words')[wanted - 1]}, "
            f"as in {kind.example!r}, but {len(words) or 'none'} came"
        )
    check_options(name, options, (*kind.options, "places"))
    world.split(words)
    head = read_head(world, options)
    if name in ("softmax", "output", "trace") or head.causal or "sentence" in options:
        check_in_sentence(head, words)
    return write_out(world, name, words, head, _read_places(options.get("places")))


def write_out(
    world: ToyWorld, kind: str, words: Sequence[str], head: Head, places: int = 3
) -> Calculation:
    """Write out one calculation of words that are known to stand in the head's sentence.

    Parameters
    ----------
    world : ToyWorld
        Gives the words' vectors and the wired head.
    kind : str
        One of :data:`KINDS`.
    words : sequence of str
        As many as the kind takes.
    head : Head
        The attention that is meant.
    places : int, optional
        How many decimals to show, from 1 to 9.

    Returns
    -------
    Calculation
        Its steps, its result and what was rounded.

    Raises
    ------
    InvalidValueError
        If a number is too long to be written, or the first word may not look at the second.
    """
    first, last = words[0], words[-1]
    if head.causal and head.sentence.index(first) < head.sentence.index(last):
        raise InvalidValueError(
            f"{first!r} may not look at {last!r}, which comes later, so under the causal "
            "mask there is no score to write out"
        )
    pencil = _Pencil(places)
    steps, result = KINDS[kind].write(world, head, words, pencil)
    return Calculation(tuple(steps), result, places, pencil.rounded, pencil.slack)


def read_head(
    world: ToyWorld, options: Mapping[str, str | None], sentence: str | None = None
) -> Head:
    """Read which head is meant from options as a reader writes them.

    Parameters
    ----------
    world : ToyWorld
        Knows the words.
    options : mapping of str to str or None
        ``sentence`` (the world's first if left out), ``head`` (``raw`` or ``wired``),
        ``sharpness`` (what scores are multiplied by), and the flags ``causal`` and ``unscaled``.
    sentence : str, optional
        Stands in for the option.

    Returns
    -------
    Head
        What was meant.

    Raises
    ------
    InvalidValueError
        If a value is not one of those, or ``unscaled`` comes without the wired head.
    UnknownWordError
        If a word of the sentence has no vector.
    """
    text = sentence if sentence is not None else options.get("sentence", world.sentences[0])
    name = one_of("head", options.get("head", "raw"), HEADS)
    for flag in ("causal", "unscaled"):
        if options.get(flag):
            raise InvalidValueError(f"{flag} takes no value, but {options[flag]!r} was given")
    return Head(
        world.split(text or ""),
        name,
        "causal" in options,
        "unscaled" not in options,
        _read_sharpness(options.get("sharpness", "1")),
    )


def check_options(what: str, options: Mapping[str, str | None], known: Sequence[str]) -> None:
    """Raise unless every option is known.

    Raises
    ------
    InvalidValueError
        If one is not; the message names those that are.
    """
    for option in options:
        one_of(f"{what}'s option", option, known)


def check_in_sentence(head: Head, words: Sequence[str]) -> None:
    """Raise unless each word stands in the sentence, and once.

    Raises
    ------
    InvalidValueError
        If one does not.
    """
    for word in words:
        count = head.sentence.count(word)
        if count != 1:
            raise InvalidValueError(
                f"{word!r} must stand once in the sentence {' '.join(head.sentence)!r}, "
                f"but it stands there {'twice or more' if count else 'nowhere'}"
            )


def _read_sharpness(text: str | None) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    return _check_sharpness(value, repr(text or ""))


def _check_sharpness(value: float, shown: str) -> float:
    if not 0 < value <= 1000:
        raise InvalidValueError(
            f"sharpness must be a number above 0 and at most 1000, but it is {shown}"
        )
    return value


def _read_places(text: str | None) -> int:
    if text is None:
        return 3
    if not re.fullmatch(r"[1-9]", text, re.ASCII):
        raise InvalidValueError(f"places must be a whole number from 1 to 9, but it is {text!r}")
    return int(text)


def one_of(what: str, given: str | None, known: Collection[str]) -> str:
    """Return a name that must be a known one.

    Raises
    ------
    InvalidValueError
        If it is not; the message gives the nearest ones, or all of them if they are few.
    """
    if given is not None and given in known:
        return given
    near = difflib.get_close_matches(given or "", known, n=3)
    if near:
        hint = f"; did you mean {' or '.join(map(repr, near))}?"
    else:
        few = list(known)[:12]
        hint = f"; known are {', '.join(few)}{' …' if len(known) > len(few) else ''}"
    raise InvalidValueError(f"{what} {given or ''!r} is not known{hint}")
