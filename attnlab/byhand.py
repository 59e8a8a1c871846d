r"""One calculation written out in full, so that a reader can follow it with a pencil.

- :func:`calculate` takes what a reader would write, ``"softmax bank"`` and options, and returns
  a :class:`Calculation`.
- A calculation is a few steps, each a sentence and short lines of formula, as TeX for a page and
  as plain text for a terminal.
- Every step is calculated from the one before in full precision, entry by entry. Weights and
  outputs must agree with :func:`attnlab.attention` in the end.
"""

import difflib
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attnlab.attention import AttentionResult, Floats, attention
from attnlab.errors import AttnlabError, InvalidValueError
from attnlab.toy_world import ToyWorld

HEADS = ("raw", "wired")
#: A line of formula holds no more signs than this, its name included, to fit on a phone.
_WIDTH = 36
#: Exponentials of scores between these are handy numbers; otherwise the largest is subtracted.
_HANDY = (-1.0, 10.0)
_TEX = {"×": r"\times", "·": r"\cdot", "≈": r"\approx", "−∞": r"{-\infty}", "−": "-", "": "{}"}


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
        What the scores are multiplied by in the end.
    """

    sentence: tuple[str, ...]
    name: str = "raw"
    causal: bool = False
    scaled: bool = True
    sharpness: float = 1.0


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
    """A piece of formula, as TeX and as plain text."""

    tex: str
    text: str


@dataclass(frozen=True)
class Step:
    """A sentence and the lines of formula that it speaks of.

    Attributes
    ----------
    words : str
        With ``*emphasis*``.
    lines : tuple of (Formula, Formula)
        What is calculated (empty where a line goes on), and how.
    """

    words: str
    lines: tuple[tuple[Formula, Formula], ...]

    @property
    def tex(self) -> str:
        """The lines as one aligned formula."""
        rows = " \\\\\n".join(f"{name.tex} & {formula.tex}" for name, formula in self.lines)
        return f"\\begin{{aligned}}\n{rows}\n\\end{{aligned}}"

    @property
    def text(self) -> str:
        """The sentence, and the lines indented below it."""
        width = max(len(name.text) for name, _ in self.lines)
        rows = [f"    {name.text:<{width}} {formula.text}" for name, formula in self.lines]
        return "\n".join([self.words.replace("*", ""), *rows])


@dataclass(frozen=True)
class Calculation:
    """A calculation, ready to be shown.

    Attributes
    ----------
    steps : tuple of Step
        In order.
    result : ndarray
        What comes out, in full precision.
    note : str
        What was rounded; empty if nothing was.
    """

    steps: tuple[Step, ...]
    result: Floats
    note: str

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
            parts += [step.words, f".. math::\n\n{rows}"]
        return "\n\n".join([*parts, self.note] if self.note else parts) + "\n"


class _Pencil:
    """Writes numbers with so many decimals, and remembers whether one had to be rounded."""

    def __init__(self, places: int) -> None:
        self.places = places
        self.rounded = False

    def exact(self, *values: float) -> bool:
        """Whether values have no more decimals than are written."""
        exact = all(
            math.isinf(v) or math.isclose(v, round(v, self.places), rel_tol=1e-12, abs_tol=1e-15)
            for v in values
        )
        self.rounded |= not exact
        return exact

    def equals(self, value: float, *of: float) -> str:
        """The sign before a result: = if it is exact, and what it comes from is, or else ≈."""
        exact = self.exact(value) and self.exact(*of)
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

    def note(self) -> str:
        """Say what was rounded."""
        if not self.rounded:
            return ""
        places = {1: "one decimal", 2: "two decimals", 3: "three decimals", 4: "four decimals"}
        return (
            f"Rounded to {places.get(self.places, f'{self.places} decimals')}; "
            "calculated with all digits."
        )


def _digits(digits: str) -> Formula:
    """A number; the braces keep its minus from looking like a subtraction."""
    digits = digits.replace("−", "-")
    return Formula(f"{{{digits}}}" if digits.startswith("-") else digits, digits.replace("-", "−"))


def _symbol(sign: str) -> Formula:
    return Formula(_TEX.get(sign, sign), sign)


def _word(text: str) -> Formula:
    """A word or a name within a formula."""
    if bad := re.search(r"[\\{}$&%#^~]", text):
        raise InvalidValueError(f"{text!r} cannot stand in a formula because of its {bad[0]!r}")
    # To MathML, \text is space, and the operator between two spaces gets none of its own.
    command = "mathrm" if text.isascii() and text.isalpha() else "text"
    return Formula(rf"\{command}{{{text}}}", text)


def _name(text: str) -> Formula:
    """What a line of formula begins with when it is not one side of an equation."""
    name = _word(f"{text}:")
    return Formula(rf"{name.tex}\;", name.text)


def _join(*pieces: Formula | str) -> Formula:
    """Pieces side by side; a string is a sign."""
    formulas = [_symbol(piece) if isinstance(piece, str) else piece for piece in pieces]
    return Formula(
        " ".join(piece.tex for piece in formulas), " ".join(piece.text for piece in formulas)
    )


def _term(formula: Formula) -> Formula:
    """A number as a factor or as a term: in brackets if it begins with a minus."""
    if not formula.text.startswith("−"):
        return formula
    return Formula(rf"\left({formula.tex}\right)", f"({formula.text})")


def _times(a: Formula, b: Formula) -> Formula:
    return _join(_term(a), "×", _term(b))


def _plus(terms: Sequence[Formula]) -> list[Formula]:
    """Terms to be added, each but the first with its plus sign."""
    return [terms[0], *(_join("+", _term(term)) for term in terms[1:])]


def _over(above: Formula, below: Formula) -> Formula:
    return Formula(rf"\frac{{{above.tex}}}{{{below.tex}}}", f"{above.text} / {below.text}")


def _root(number: int) -> Formula:
    return Formula(rf"\sqrt{{{number}}}", f"√{number}")


def _exponential(power: Formula) -> Formula:
    return Formula(f"e^{{{power.tex}}}", f"e^{power.text}")


def _of(letter: str, word: str) -> Formula:
    """A letter with a word below: the query of *bank*."""
    return Formula(rf"{letter}_{{{_word(word).tex}}}", f"{letter}_{word}")


def _dot(a: Formula, b: Formula) -> Formula:
    return _join(a, "·", b)


def _broken(name: Formula, pieces: Sequence[Formula]) -> list[tuple[Formula, Formula]]:
    """Break a long line before one of its pieces, as often as it takes."""
    lines: list[Formula] = []
    for piece in pieces:
        if lines and len(name.text + lines[-1].text + piece.text) + 2 <= _WIDTH:
            lines[-1] = _join(lines[-1], piece)
        else:
            # The empty group keeps a sign that begins a line as far apart as within one.
            lines.append(_join("", piece) if lines else piece)
    lines = [Formula(line.tex, line.text.strip()) for line in lines]
    nothing = Formula("", "")
    return [(nothing if i else name, line) for i, line in enumerate(lines)]


def _products(
    names: Sequence[str], a: Floats, b: Floats, total: Formula, pencil: _Pencil
) -> tuple[tuple[Formula, Formula], ...]:
    """Two vectors multiplied entry by entry, a line an entry, and the sum of the products."""
    lines, products = [], []
    for name, x, y in zip(names, a.tolist(), b.tolist(), strict=True):
        product = pencil.short(x * y)
        products.append(product)
        formula = _join(
            _times(pencil.given(x), pencil.given(y)), pencil.equals(x * y, x, y), product
        )
        lines.append((_name(name), formula))
    result = float(a @ b)
    added, sign = _plus(products), pencil.equals(result, *a, *b)
    start = "=" if pencil.exact(*a, *b, *(a * b)) else "≈"
    pieces = [
        _join(start, added[0]),
        *added[1:],
        _join(sign, pencil.full(result)),
    ]
    return (*lines, *_broken(total, pieces))


def _dot_product(
    world: ToyWorld, head: Head, words: Sequence[str], pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out the dot product of two words, axis by axis."""
    first, second = words
    a, b = world.vector(first), world.vector(second)
    step = Step(
        f"Multiply the entries of *{first}* and *{second}* axis by axis, and add the products:",
        _products(world.axes, a, b, _dot(_word(first), _word(second)), pencil),
    )
    return [step], np.asarray(a @ b)


def _query(
    world: ToyWorld, head: Head, words: Sequence[str], pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out the query of a word: q = x W_Q."""
    return _by_channel(world, words[0], world.W_Q, "q", "asks for", pencil)


def _key(
    world: ToyWorld, head: Head, words: Sequence[str], pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out the key of a word: k = x W_K."""
    return _by_channel(world, words[0], world.W_K, "k", "advertises", pencil)


def _by_channel(
    world: ToyWorld, word: str, W: Floats, letter: str, does: str, pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out the product of a word's row with a matrix, channel by channel."""
    x = world.vector(word)
    steps = [
        Step(
            f"On the channel *{channel}*, multiply each entry of *{word}* by what its axis {does} "
            "there, and add the products:",
            _products(world.axes, x, column, _of(letter, channel), pencil),
        )
        for channel, column in zip(world.channels, W.T, strict=True)
    ]
    return steps, x @ W


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
    ways: list[tuple[str, Callable[[Formula], Formula], float]] = []
    if head.name == "wired" and head.scaled:
        root = _root(len(world.channels))
        ways.append(
            (
                "Divide by the square root of the number of channels:",
                lambda score: _over(score, root),
                1 / math.sqrt(len(world.channels)),
            )
        )
    if head.sharpness != 1:
        factor = pencil.short(head.sharpness)
        ways.append(
            (f"Multiply by {factor.text}:", lambda score: _times(factor, score), head.sharpness)
        )
    steps = []
    for words, write, factor_value in ways:
        new = [score * factor_value for score in scores]
        steps.append(
            Step(
                words,
                tuple(
                    (
                        _name(name),
                        _join(
                            write(pencil.full(before)),
                            pencil.equals(after, before),
                            pencil.full(after),
                        ),
                    )
                    for name, before, after in zip(names, scores, new, strict=True)
                ),
            )
        )
        scores = new
    return steps, list(scores)


def _score(
    world: ToyWorld, head: Head, words: Sequence[str], pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out the score that the first word gives to the second."""
    first, second = words
    a, b = _vectors(world, head, first, second)
    if head.name == "raw":
        names, what = world.axes, f"the entries of *{first}* and *{second}* axis by axis"
    else:
        names = world.channels
        what = f"the query of *{first}* and the key of *{second}* channel by channel"
    step = Step(
        f"Multiply {what}, and add the products:",
        _products(names, a, b, _sides(head, first, second), pencil),
    )
    more, (result,) = _reshaped(world, head, ["score"], [float(a @ b)], pencil)
    return [step, *more], np.asarray(result)


def _softmax(
    world: ToyWorld, head: Head, words: Sequence[str], pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out the row of weights of a word: scores, exponentials, their sum, quotients."""
    word = words[0]
    row = head.sentence.index(word)
    seen = head.sentence[: row + 1] if head.causal else head.sentence
    hidden = head.sentence[len(seen) :]

    scores = [float(np.dot(*_vectors(world, head, word, other))) for other in seen]
    how = f"its dot product with *{word}*"
    if head.name == "wired":
        how = f"the dot product of the query of *{word}* with the word's key"
    end = ". Later words are hidden: they score minus infinity:" if hidden else ":"
    lines = [
        (_name(other), _join(_sides(head, word, other), pencil.equals(s), pencil.full(s)))
        for other, s in zip(seen, scores, strict=True)
    ]
    lines += [(_name(other), _symbol("−∞")) for other in hidden]
    steps = [Step(f"The score of each word is {how}{end}", tuple(lines))]

    more, scores = _reshaped(world, head, seen, scores, pencil)
    steps += more
    if not _HANDY[0] <= max(scores) <= _HANDY[1]:
        step, scores = _less_the_largest(seen, scores, pencil)
        steps.append(step)
    scores += [-math.inf] * len(hidden)

    powers = [math.exp(s) for s in scores]
    total = math.fsum(powers)
    lines = [
        (_name(other), _join(_exponential(pencil.full(s)), *_power(s, power, pencil)))
        for other, s, power in zip(head.sentence, scores, powers, strict=True)
    ]
    terms = _plus([pencil.full(power) for power in powers])
    terms.append(_join(pencil.equals(total, *powers), pencil.full(total)))
    lines += _broken(_name("sum"), terms)
    steps.append(Step("Take the exponential of each score, and add them up:", tuple(lines)))

    weights = [power / total for power in powers]
    lines = [
        (
            _name(other),
            _join(
                _over(pencil.full(power), pencil.full(total)),
                pencil.equals(weight, *((power, total) if power else ())),
                pencil.full(weight),
            ),
        )
        for other, power, weight in zip(head.sentence, powers, weights, strict=True)
    ]
    steps.append(Step("Divide each by the sum to get the weights:", tuple(lines)))
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
            pencil.equals(after, before, largest),
            pencil.full(after),
        )
        lines.append((_name(name), formula))
    words = (
        "Subtract the largest, to have handy exponentials; it would cancel in the quotients below:"
    )
    return Step(words, tuple(lines)), [score - largest for score in scores]


def _power(score: float, power: float, pencil: _Pencil) -> tuple[str, Formula]:
    """What an exponential equals; only those of 0 and −∞ are exact."""
    if score == 0 or math.isinf(score):
        return "=", pencil.full(power)
    pencil.rounded = True
    return "≈", pencil.full(power)


def _output(
    world: ToyWorld, head: Head, words: Sequence[str], pencil: _Pencil
) -> tuple[list[Step], Floats]:
    """Write out the output of a word: the rows of the sentence, added up by its weights."""
    word = words[0]
    row = head.sentence.index(word)
    _, shares = _softmax(world, head, words, _Pencil(pencil.places))
    weights = shares.tolist()
    sign = "=" if pencil.exact(*weights) else "≈"
    written = [pencil.full(weight) for weight in weights]

    first, *others = _plus(
        [_times(weight, _word(other)) for weight, other in zip(written, head.sentence, strict=True)]
    )
    whole = _broken(_word("output"), [_join(sign, first), *others])
    lines: list[tuple[Formula, Formula]] = []
    result = []
    for axis, column in zip(world.axes, world.embed(head.sentence).T.tolist(), strict=True):
        entry = math.fsum(weight * x for weight, x in zip(weights, column, strict=True))
        result.append(entry)
        first, *others = _plus(
            [_times(weight, pencil.given(x)) for weight, x in zip(written, column, strict=True)]
        )
        end = _join(pencil.equals(entry, *weights, *column), pencil.full(entry))
        lines += _broken(_word(axis), [_join(sign, first), *others, end])
    steps = [
        Step(f"Add up the words' rows, each times the weight that *{word}* gives it:", (*whole,)),
        Step("Axis by axis:", tuple(lines)),
    ]
    return steps, _agreed("output", np.asarray(result), attend(world, head).output[row])


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
        ``score bank river``, ``softmax bank`` or ``output bank``.
    options : mapping of str to str or None, optional
        ``places`` (how many decimals, 3 if left out), and for the last three kinds those that
        ``read_head`` knows. A flag such as ``causal`` has no value, or an empty one.

    Returns
    -------
    Calculation
        Its steps, its result and what was rounded.

    Raises
    ------
    InvalidValueError
        If the kind, an option or its value is unknown, or the words do not fit.
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
    world.split(words)
    check_options(name, options, (*kind.options, "places"))
    head = read_head(world, options)
    if name in ("softmax", "output") or head.causal or "sentence" in options:
        _check_in_sentence(head, words)
    first, last = words[0], words[-1]
    if head.causal and head.sentence.index(first) < head.sentence.index(last):
        raise InvalidValueError(
            f"{first!r} may not look at {last!r}, which comes later, so under the causal "
            "mask there is no score to write out"
        )
    pencil = _Pencil(_read_places(options.get("places")))
    steps, result = kind.write(world, head, words, pencil)
    return Calculation(tuple(steps), result, pencil.note())


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
    if "unscaled" in options and name != "wired":
        raise InvalidValueError(
            "unscaled goes with head: wired only, since raw scores are never scaled"
        )
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


def _check_in_sentence(head: Head, words: Sequence[str]) -> None:
    """Raise unless each word stands in the sentence, and once."""
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
    if not 0 < value <= 1000:
        raise InvalidValueError(
            f"sharpness must be a number above 0 and at most 1000, but it is {text or ''!r}"
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
