"""Numbers as readers see them: found in a text, and compared with a value.

A number is compared at the precision it is shown in: the value is rounded to as many decimals,
as Python's ``format`` rounds (which is how the log rounds), and must then be the same number.
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

# fmt: off
#: Numbers in words, and what they are exactly: numerator and denominator.
WORDS = {
    "zero": (0, 1), "one": (1, 1), "two": (2, 1), "three": (3, 1), "four": (4, 1),
    "five": (5, 1), "six": (6, 1), "seven": (7, 1), "eight": (8, 1), "nine": (9, 1),
    "ten": (10, 1), "eleven": (11, 1), "twelve": (12, 1), "thirteen": (13, 1),
    "fourteen": (14, 1), "fifteen": (15, 1), "sixteen": (16, 1), "seventeen": (17, 1),
    "eighteen": (18, 1), "nineteen": (19, 1), "twenty": (20, 1),
    "once": (1, 1), "twice": (2, 1), "half": (1, 2), "third": (1, 3), "quarter": (1, 4),
}
# fmt: on
#: What a word after a number multiplies it by, as a power of ten.
SCALES = {"%": -2, "percent": -2, "thousand": 3, "million": 6, "billion": 9}
BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
# A digit within a name, as in S1, GPT-2 or x86-64, is no number.
_NUMBER = re.compile(
    r"""
    (?<![\w.^]) (?<![A-Za-z]-)
    (?P<sign> [-+−]? )
    (?P<digits> \d{1,3} (?:[,\u00a0\u2009\u202f]\d{3})+ (?:\.\d+)? | \d* \.? \d+ )
    (?![.,]?\d)
    (?: [eE](?P<e>[-+−]?\d+)
      | (?: (?P<times>\s*[×x·*]\s*10) | (?<=(?<!\d)10) )
        (?: (?P<superscript>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+) | \^\{?(?P<caret>[-−]?\d+)\}? )
    )?
    (?: \s* (?P<scale> % | (?:percent|per\ cent|thousand|million|billion)\b ) )?
    """,
    re.VERBOSE,
)
_WORD = re.compile(rf"(?<![\w-])({'|'.join(WORDS)})(?![\w-])", re.IGNORECASE)


@dataclass(frozen=True)
class Shown:
    """A number as a text shows it.

    Attributes
    ----------
    text : str
        As it stands there.
    value : Decimal
        What it says.
    unit : Decimal or None
        The place of its last digit: 0.001 for ``0.435``. None for a word, which is exact.
    digits : str
        The part of the text that is digits, point and separators.
    exponent : int or None
        The power of ten that it is written with.
    scale : int
        The power of ten that a word or sign after it means: -2 for ``%``.
    """

    text: str
    value: Decimal
    unit: Decimal | None
    digits: str = ""
    exponent: int | None = None
    scale: int = 0


def find(text: str) -> list[Shown]:
    """Find the numbers in a text, in digits and in words.

    Parameters
    ----------
    text : str
        As the reader sees it.

    Returns
    -------
    list of Shown
        From left to right, digits before words.
    """
    found = [_parse(match) for match in _NUMBER.finditer(text)]
    for match in _WORD.finditer(text):
        numerator, denominator = WORDS[match[1].lower()]
        found.append(Shown(match[1], Decimal(numerator) / denominator, None))
    return found


def _parse(match: re.Match[str]) -> Shown:
    """Return what a match of the pattern says."""
    digits = re.sub(r"[^\d.]", "", match["digits"])
    written = match["e"] or match["superscript"] or match["caret"]
    exponent = int(written.translate(_SUPERSCRIPTS).replace("−", "-")) if written else None
    if written and not (match["e"] or match["times"]):  # 10⁻¹⁶ on its own
        digits = "1"
    scale = SCALES[match["scale"].replace(" ", "")] if match["scale"] else 0
    power = (exponent or 0) + scale
    value = Decimal(digits).scaleb(power)
    return Shown(
        text=match[0].strip(),
        value=-value if match["sign"] in ("-", "−") else value,
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
        Words with exactly one number in them, or with *yes*, *no*, *true* or *false* for a bool.
    value : float, int or bool
        In full precision.

    Raises
    ------
    InvalidValueError
        If the text says something else, has no number or several, or shows more digits than the
        value has. The message shows both.
    """
    if isinstance(value, bool):
        _check_bool(text, value)
        return
    shown = find(text)
    if len(shown) != 1:
        raise InvalidValueError(
            f"exactly one number must stand in {text!r}, but "
            + (f"there are {', '.join(number.text for number in shown)}" if shown else "none does")
            + f" (the value is {value!r})"
        )
    _check_number(shown[0], value)


def _check_bool(text: str, value: bool) -> None:
    """Raise unless a text says yes for True and no for False."""
    said = [BOOLEANS[word] for word in re.findall(r"\w+", text.lower()) if word in BOOLEANS]
    if len(said) != 1:
        raise InvalidValueError(
            f"{text!r} must say yes, no, true or false, because the value is {value}"
        )
    if said[0] is not value:
        raise InvalidValueError(f"{text!r} is shown, but the value is {value}")


def _check_number(shown: Shown, value: float | int) -> None:
    """Raise unless a number shown is the value, rounded."""
    exact = Decimal(value)
    if not exact.is_finite():
        raise InvalidValueError(f"{shown.text!r} is shown, but the value is {value}")
    if shown.unit is None:
        if abs(exact - shown.value) > Decimal(NOISE):
            raise InvalidValueError(
                f"{shown.text!r} is shown, but the value is {value!r} "
                "(a number in words must be exact)"
            )
        return
    if isinstance(value, int) and shown.unit < 1:
        raise InvalidValueError(
            f"{shown.text!r} shows decimals, but the value is the whole number {value:,}"
        )
    digits = len(re.sub(r"\D", "", shown.digits).lstrip("0"))
    if isinstance(value, float) and digits > DIGITS:
        raise InvalidValueError(
            f"{shown.text!r} shows {digits} digits, but a float has {DIGITS}; "
            f"the value is {value!r}"
        )
    rounded = exact.quantize(shown.unit, ROUND_HALF_EVEN, Context(prec=700))
    if rounded != shown.value:
        raise InvalidValueError(
            f"{shown.text!r} is shown, but the value is {value!r}, "
            f"which is {_like(shown, rounded)} at that precision"
        )
    if not shown.value and abs(value) > NOISE:
        raise InvalidValueError(
            f"{shown.text!r} is shown, but the value is {value!r}: show a digit of it"
        )


def _like(shown: Shown, value: Decimal) -> str:
    """Write a value in the way that a number is shown."""
    if shown.exponent is not None:
        return f"{value:e}"
    digits = format(value.scaleb(-shown.scale), ",f" if "," in shown.digits else "f")
    return digits + shown.text.partition(shown.digits)[2]
