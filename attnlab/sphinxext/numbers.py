"""Numbers as readers see them: read from a text, and compared with a value.

A number is compared at the precision it is shown in: the value is rounded to as many decimals,
as Python's ``format`` rounds (which is how the log rounds), and must then be the same number. A
number without decimals must also be within 5 % of the value, so 0.6 is no ``1``.

Only a few forms are read, and every other is refused, so that no number is read in another way
than a reader does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal

from attnlab.errors import InvalidValueError

#: float64 carries this many decimal digits, whatever the number.
DIGITS = 15
#: What a calculation may be off by and still be a whole number, or zero.
NOISE = 1e-12
#: What a number without decimals may be off by, as a part of the value.
TOLERANCE = Decimal("0.05")
#: The longest number that is read, and the largest power of ten in it.
LENGTH, EXPONENT = 60, 400

# fmt: off
#: Numbers in words, and what they are exactly: numerator and denominator.
WORDS = {
    "zero": (0, 1), "one": (1, 1), "two": (2, 1), "three": (3, 1), "four": (4, 1),
    "five": (5, 1), "six": (6, 1), "seven": (7, 1), "eight": (8, 1), "nine": (9, 1),
    "ten": (10, 1), "eleven": (11, 1), "twelve": (12, 1), "thirteen": (13, 1),
    "fourteen": (14, 1), "fifteen": (15, 1), "sixteen": (16, 1), "seventeen": (17, 1),
    "eighteen": (18, 1), "nineteen": (19, 1), "twenty": (20, 1),
    "once": (1, 1), "twice": (2, 1), "half": (1, 2), "a half": (1, 2), "one half": (1, 2),
    "third": (1, 3), "a third": (1, 3), "quarter": (1, 4), "a quarter": (1, 4),
}
# fmt: on
#: What a word after a number multiplies it by, as a power of ten.
SCALES = {"%": -2, "percent": -2, "per cent": -2, "thousand": 3, "million": 6, "billion": 9}
BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
FORMS = (
    "one number such as 0.435, -0.5, 147,456, 2.2e-16, 2.2 × 10⁻¹⁶, 18.5 % or 28.3 million, or one "
    "word such as two, half or twice, with at most about, around, roughly, nearly, almost, just, "
    "only, exactly, ≈ or ~ before it"
)

_EXACT = Context(prec=2000)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
_NUMBER = r"""
    (?P<sign> [-+−]? )
    (?P<digits> [1-9][0-9]{0,2} (?P<comma>[,\ ])[0-9]{3} (?:(?P=comma)[0-9]{3})* (?:\.[0-9]+)?
              | (?:0|[1-9][0-9]*) (?:\.[0-9]+)? | \.[0-9]+ )
    (?: [eE] (?P<e>[-+−]?[0-9]+)
      | (?: (?P<times>\s*×\s*10) | (?<=(?<![0-9.,])10) ) (?P<superscript>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)
    )?
    (?: \s* (?P<scale> % | (?ai:percent|per\ cent|thousand|million|billion)\b ) )?
"""
_HEDGE = r"(?: (?P<hedge>about|around|roughly|nearly|almost|just|only|exactly)\s+ | [≈~]\s* )?"
_WHOLE = re.compile(
    rf"{_HEDGE} (?: {_NUMBER} | (?P<word>[a-z]+(?:\ [a-z]+)?) )",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
# A digit within a name, as in S1, GPT-2 or x86-64, is no number.
_IN_PROSE = re.compile(
    rf"[A-Za-z]\w*(?:[-._]\w+)* | (?<![\w.,^]) {_NUMBER} (?![.,]?\d|\w|[\^⁻]|\s*[%‰‱])",
    re.VERBOSE,
)
_UNREAD = re.compile(
    r"""
    (?<!\w)[\u2010-\u2015±√][\d.] | \b(?:minus|negative)\s+[\d.]
    | \d\s*(?:hundreds?|dozens?|trillions?|thousands|millions|billions)\b | \d\s+e[-+−]?\d
    | [\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True)
class Shown:
    """A number as a text shows it.

    Attributes
    ----------
    text : str
        As it stands there.
    value : Decimal
        What it says.
    unit : Decimal
        The place of its last digit: 0.001 for ``0.435``.
    digits : str
        The part of the text that is digits, point and separators.
    exponent : int or None
        The power of ten that it is written with.
    scale : int
        The power of ten that a word or sign after it means: -2 for ``%``.
    """

    text: str
    value: Decimal
    unit: Decimal
    digits: str
    exponent: int | None
    scale: int


def find(text: str) -> list[Shown]:
    """Find the numbers that a sentence has in digits.

    Parameters
    ----------
    text : str
        As the reader sees it.

    Returns
    -------
    list of Shown
        From left to right. Numbers in words are not read.

    Raises
    ------
    InvalidValueError
        If a digit, or a sign or word at it, is read in no way.
    """
    text = " ".join(text.split())
    rest = _IN_PROSE.sub(" ", text)
    if _UNREAD.search(text) or any(char.isnumeric() for char in rest):
        raise InvalidValueError(
            f"a number in {text!r} cannot be read: write it as 0.435, -0.5, 147,456, 2.2e-16, "
            "2.2 × 10⁻¹⁶, 18.5 % or 28.3 million"
        )
    return [_parse(match) for match in _IN_PROSE.finditer(text) if match["digits"]]


def _parse(match: re.Match[str]) -> Shown:
    """Return what a match of the pattern says."""
    text = match[0].strip()
    if len(text) > LENGTH:
        raise InvalidValueError(f"{text[:LENGTH]!r}... is longer than {LENGTH} characters")
    digits = re.sub(r"[^0-9.]", "", match["digits"])
    written = match["e"] or match["superscript"]
    exponent = int(written.translate(_SUPERSCRIPTS)) if written else None
    if abs(exponent or 0) > EXPONENT:
        raise InvalidValueError(f"{text!r} has a power of ten beyond {EXPONENT}")
    if match["superscript"] and not match["times"]:  # 10⁻¹⁶ on its own
        digits = "1"
    scale = SCALES[match["scale"].lower()] if match["scale"] else 0
    power = (exponent or 0) + scale
    value = Decimal(digits).scaleb(power, _EXACT)
    return Shown(
        text=text,
        value=value.copy_negate() if match["sign"] in ("-", "−") else value,
        unit=Decimal(1).scaleb(power - len(digits.partition(".")[2])),
        digits=match["digits"],
        exponent=exponent,
        scale=scale,
    )


def check(text: str, value: float | int | bool) -> None:
    """Raise unless a text shows a value.

    Parameters
    ----------
    text : str
        One number in one of `FORMS`, and nothing else; *yes*, *no*, *true* or *false* for a bool.
    value : float, int or bool
        In full precision.

    Raises
    ------
    InvalidValueError
        If the text says something else, cannot be read, or shows more digits than the value has.
        The message shows both.
    """
    text = " ".join(text.split())
    if isinstance(value, bool):
        _check_bool(text, value)
        return
    match = _WHOLE.fullmatch(text) if len(text) <= LENGTH else None
    word = match and match["word"] and WORDS.get(match["word"].lower())
    if not match or (match["word"] and not word):
        raise InvalidValueError(
            f"{text[:LENGTH]!r} cannot be read (the value is {value!r}): show {FORMS}"
        )
    exact = Decimal(value)
    if not exact.is_finite():
        raise InvalidValueError(f"{text!r} is shown, but the value is {value}")
    if word:
        shown_exactly = Decimal(word[0]) / word[1]
    else:
        shown = _parse(match)
        _check_number(shown, value, exact)
        shown_exactly = shown.value
    if (word or (match["hedge"] or "").lower() == "exactly") and (
        abs(exact - shown_exactly) > Decimal(NOISE)
    ):
        raise InvalidValueError(
            f"{text!r} is shown, but the value is {value!r} "
            "(a number in words, or after 'exactly', must be exact)"
        )


def _check_bool(text: str, value: bool) -> None:
    """Raise unless a text says yes for True and no for False."""
    said = BOOLEANS.get(text.lower())
    if said is None:
        raise InvalidValueError(
            f"{text!r} must say yes, no, true or false, because the value is {value}"
        )
    if said is not value:
        raise InvalidValueError(f"{text!r} is shown, but the value is {value}")


def _check_number(shown: Shown, value: float | int, exact: Decimal) -> None:
    """Raise unless a number shown is the value, rounded."""
    if isinstance(value, int) and shown.unit < 1 and "." in shown.digits:
        raise InvalidValueError(
            f"{shown.text!r} shows decimals, but the value is the whole number {value:,}"
        )
    digits = len(re.sub(r"\D", "", shown.digits).lstrip("0"))
    if isinstance(value, float) and digits > DIGITS:
        raise InvalidValueError(
            f"{shown.text!r} shows {digits} digits, but a float has {DIGITS}; "
            f"the value is {value!r}"
        )
    rounded = exact.quantize(shown.unit, ROUND_HALF_EVEN, _EXACT)
    if rounded != shown.value:
        raise InvalidValueError(
            f"{shown.text!r} is shown, but the value is {value!r}, "
            f"which is {_like(shown, rounded)} at that precision"
        )
    if not shown.value and abs(value) > NOISE:
        raise InvalidValueError(
            f"{shown.text!r} is shown, but the value is {value!r}: show a digit of it"
        )
    off = abs(exact - shown.value)
    whole = "." not in shown.digits and shown.exponent is None
    if whole and off > max(TOLERANCE * abs(exact), Decimal(NOISE)):
        raise InvalidValueError(
            f"{shown.text!r} is shown, but the value is {value!r}, "
            "more than 5 % away: show decimals"
        )


def _like(shown: Shown, value: Decimal) -> str:
    """Write a value in the way that a number is shown."""
    if shown.exponent is not None:
        return f"{value:e}"
    digits = format(value.scaleb(-shown.scale), ",f" if "," in shown.digits else "f")
    return digits + shown.text.partition(shown.digits)[2]
