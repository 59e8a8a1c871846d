"""Numbers as texts show them, and expressions over measurements."""

import math
import sys
from decimal import Decimal

import pytest

pytest.importorskip("sphinx", reason="the site's packages are not installed")

from attnlab.errors import InvalidValueError
from attnlab.sphinxext import expressions, numbers

FOUND = {
    # text: value, place of the last digit
    "0.435": ("0.435", "0.001"),
    "+0.435": ("0.435", "0.001"),
    "-0.5": ("-0.5", "0.1"),
    "−0.5": ("-0.5", "0.1"),
    "≈ 0.5": ("0.5", "0.1"),
    ".5": ("0.5", "0.1"),
    "about 12 heads": ("12", "1"),
    "147,456": ("147456", "1"),
    "16\u202f000": ("16000", "1"),
    "1,234.50": ("1234.50", "0.01"),
    "18.5 %": ("0.185", "0.001"),
    "18.5%": ("0.185", "0.001"),
    "18.5 percent": ("0.185", "0.001"),
    "18.5 per cent": ("0.185", "0.001"),
    "28.3 million": ("28300000", "1e5"),
    "2.22e-16": ("2.22e-16", "1e-18"),
    "1e3": ("1000", "1000"),
    "2.2 × 10⁻¹⁶": ("2.2e-16", "1e-17"),
    "5 Million": ("5000000", "1e6"),
    "10⁻¹⁶": ("1e-16", "1e-16"),
    "GPT-2 has 12": ("12", "1"),
    "S3 says 0.5.": ("0.5", "0.1"),
    "x − 3": ("3", "1"),
    "half of 8": ("8", "1"),
}


@pytest.mark.parametrize(("text", "expected"), FOUND.items(), ids=list(FOUND))
def test_finds_a_number(text, expected):
    (shown,) = numbers.find(text)
    value, unit = expected
    assert shown.value == Decimal(value)
    assert shown.unit == Decimal(unit)


@pytest.mark.parametrize(
    "text", ["S1", "GPT-2", "W_Q2", "results.log", "x86-64", "two", "someone", ""]
)
def test_finds_no_number_in_a_name(text):
    assert numbers.find(text) == []


@pytest.mark.parametrize(
    ("text", "count"), [("3-4", 2), ("3–4", 2), ("64 or 128", 2), ("a 2 b", 1)]
)
def test_finds_every_number(text, count):
    assert len(numbers.find(text)) == count


SHOWS = [
    ("0.435", 0.4349309328309787),
    ("0.43", 0.4349309328309787),
    ("43 %", 0.4349309328309787),
    ("0.12", 0.125),  # as format(0.125, ".2f") rounds
    ("0.13", 0.1250001),
    ("1.0", 1.0),
    ("64", 64),
    ("-0.0", -1e-17),
    ("0.000", 1e-17),
    ("147,456", 147456),
    ("0.15 million", 147456.0),
    ("28 million", 28311552),
    ("2.22e-16", 2.220446049250313e-16),
    ("2 × 10⁻¹⁶", 2.220446049250313e-16),
    ("4.34930932830979e-1", 0.4349309328309787),
    ("half", 0.5),
    ("third", 1 / 3),
    ("two", 2),
    ("two", 2.0),
    ("yes", True),
    ("False", False),
    ("about 0.43", 0.4349309328309787),
    ("≈0.43", 0.4349309328309787),
    ("Exactly\u00a00.3", 0.3),
    ("16\u202f000", 16000),
    ("2000%", 20),
    ("0", 1e-17),
    ("10⁻¹⁶", 1e-16),
    ("about a half", 0.5),
    ("a quarter", 0.25),
    ("Twice", 2),
    ("28311552000000000001", 28311552000000000001),
]


@pytest.mark.parametrize(("text", "value"), SHOWS, ids=[text for text, _ in SHOWS])
def test_a_text_shows_a_value(text, value):
    numbers.check(text, value)


DOES_NOT_SHOW = [
    ("0.436", 0.4349309328309787, "which is 0.435 at that precision"),
    ("-0.435", 0.4349309328309787, "0.435 at"),
    ("43.4 %", 0.4349309328309787, "43.5 % at"),
    ("43.4 per cent", 0.4349309328309787, "43.5 per cent at"),
    ("147,457", 147456, "which is 147,456 at"),
    ("29 million", 28311552, "which is 28 million at"),
    ("2.23e-16", 2.220446049250313e-16, "which is 2.22e-16 at"),
    ("2.3 × 10⁻¹⁶", 2.220446049250313e-16, "2.2e-16 at"),
    ("64.0", 64, "shows decimals, but the value is the whole number 64"),
    ("0.4349309328309787", 0.4349309328309787, "shows 16 digits, but a float has 15"),
    ("0.0", 0.04, "show a digit of it"),
    ("two", 1.9998, "must be exact"),
    ("half", 0.4998, "must be exact"),
    ("no number", 0.5, "'no number' cannot be read (the value is 0.5): show one number"),
    ("1 to 2", 0.5, "cannot be read"),
    ("one of 8", 0.5, "cannot be read"),
    ("1.2.3", 1.2, "cannot be read"),
    ("0.5", math.nan, "the value is nan"),
    ("0.5", math.inf, "the value is inf"),
    ("no", True, "the value is True"),
    ("1", True, "must say yes, no, true or false"),
    ("not true", True, "must say yes, no, true or false"),
    ("1", 0.6, "more than 5 % away: show decimals"),
    ("1 million", 600000, "more than 5 % away"),
    ("exactly 0.43", 0.4349309328309787, "must be exact"),
    ("1e401", 1.0, "beyond 400"),
    ("0e99999999", 0.0, "beyond 400"),
    ("1e" + "9" * 20, 1.0, "beyond 400"),
    ("1" * 61, 1.0, "cannot be read"),
    ("yes and no", True, "must say yes, no, true or false"),
]


@pytest.mark.parametrize(
    ("text", "value", "message"), DOES_NOT_SHOW, ids=[f"{t}|{v}" for t, v, _ in DOES_NOT_SHOW]
)
def test_a_text_that_does_not_show_a_value_is_refused(text, value, message):
    with pytest.raises(InvalidValueError) as caught:
        numbers.check(text, value)
    assert message in str(caught.value)


# What a hasty reader would take for a number that it is not; the value is what it seems to be.
NOT_READ = [
    ("minus 0.5", 0.5), ("negative 0.5", 0.5), ("–0.5", 0.5), ("—0.5", 0.5), ("- 0.5", -0.5),
    ("--0.5", 0.5), ("±0.5", 0.5), ("√2", 2), ("5²", 5), ("5^2", 5), ("10^2", 10), ("½", 0.5),
    ("3½", 3), ("1/2", 1), ("5‰", 5), ("5 hundred", 5), ("5 trillion", 5), ("two hundred", 2),
    ("two million", 2), ("minus two", 2), ("half a million", 0.5), ("twenty two", 20),
    ("5 e5", 5), ("1e5e5", 1e5), ("0,435", 435), ("1,23", 123), ("1,234 567", 1234567),
    ("007", 7), ("5k", 5), ("5x", 5), ("0.435.", 0.435), ("(5)", 5), ("not 5", 5), ("$5", 5),
    ("\u202e5", 5), ("0\u200b.5", 0.5), ("٥", 5), ("５", 5), ("thouſand", 5), ("5 thouſand", 5),
    ("5 %%", 0.05), ("about about 5", 5), ("less than 5", 5), ("S5", 5), ("", 0.5), ("yes", 1),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), NOT_READ, ids=[ascii(text) for text, _ in NOT_READ])
def test_any_other_form_is_refused(text, value):
    with pytest.raises(InvalidValueError, match=r"cannot be read .*: show one number such as"):
        numbers.check(text, value)


NOT_FOUND = [
    "0,435", "5²", "5^2", "½", "5‰", "5k", "5 hundred", "5 millions", "5 e5", "1e5e5", "√5", "–5",
    "minus 5", "0\u200b.5", "٥", "1.2.3", "10^-16", "5 %x",
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_FOUND, ids=[ascii(text) for text in NOT_FOUND])
def test_a_number_in_a_sentence_that_cannot_be_read_is_refused(text):
    with pytest.raises(InvalidValueError, match="cannot be read: write it as"):
        numbers.find(f"it is {text} here")


def test_a_number_in_a_sentence_has_a_usual_size():
    for text in ("1" * 61, "1e401", "1 × 10⁻⁹⁹⁹"):
        with pytest.raises(InvalidValueError, match=r"longer than 60|beyond 400"):
            numbers.find(text)


VALUES = {
    "S2.scores.river": 0.54,
    "S5.std.4": 1.97,
    "S6.d_k": 64,
    "a.b": True,
    "a.bb": False,
    "S6.nan": math.nan,
}

EVALUATES = {
    "S2.scores.river": 0.54,
    "exp(S2.scores.river)": math.exp(0.54),
    "exp(1)": math.e,
    "S5.std.4 * 2": 3.94,
    "-S6.d_k": -64,
    "+S6.d_k": 64,
    "S6.d_k ** 0.5": 8.0,
    "2 ** S6.d_k": 2**64,
    "2 ** -1": 0.5,
    "(S6.d_k - 1) / 7": 9.0,
    "3*S6.d_k+1": 193,
    "sqrt(S6.d_k)": 8.0,
    "log(exp(2))": 2.0,
    "abs(-1)": 1,
    "min(S5.std.4, 1)": 1,
    "max(S5.std.4, 1)": 1.97,
    "1e-14": 1e-14,
    "a.b": True,
    "a.b == True": True,
    "a.b and a.bb": False,
    "S5.std.4 < 2": True,
    "1 < S5.std.4 <= 1.97 < 3": True,
    "1 < S5.std.4 > 2": False,
    "S6.d_k >= 64 and S6.d_k == 64 and S6.d_k != 65": True,
}


@pytest.mark.parametrize(("text", "value"), EVALUATES.items(), ids=list(EVALUATES))
def test_evaluates(text, value):
    result = expressions.parse(text).evaluate(VALUES)
    assert result == pytest.approx(value, rel=1e-15)
    assert type(result) is type(value)


REFUSED = {
    "": "cannot read",
    "1 +": "cannot read",
    "1; 2": "cannot read",
    "S6.d_k if 1 else 2": "is not allowed: use measurement names",
    "S6.d_k or 1": "is not allowed",
    "not a.b": "is not allowed",
    "S6.d_k % 7": "'S6.d_k % 7' is not allowed",
    "~S6.d_k": "is not allowed",
    "S6.d_k in (1, 2)": "is not allowed",
    "[1][0]": "is not allowed",
    "'text'": "is not allowed",
    "name": "'name' is not allowed",
    "open('x')": "is not allowed",
    "exp(x=1)": "is not allowed",
    "().__class__": "is not allowed",
    "a.b and S6.d_k": "joins comparisons, not numbers",
    "1 / 0": "cannot calculate '1 / 0'",
    "sqrt(0 - 1)": "cannot calculate",
    "(0 - 1) ** 0.5": "the root of a negative number",
    "9 ** 9 ** 9": "cannot calculate",
    "(10 ** 300) ** 2": "cannot calculate",
    "exp(1000)": "cannot calculate",
    "exp()": "cannot calculate",
    "1e999 > S6.d_k": "is inf",
    "S6.nan < 1": "'S6.nan' is nan",
    "S6.d_k == S6.d_k": "compared with itself",
    "S6.d_k < 65 < 66 > S6.d_k": "compared with itself",
    "1_000": "'_' is not allowed",
    "0x10": "'0x' is not allowed",
    "0B1": "'0B' is not allowed",
    "S6.d_k # 5": "'#' is not allowed",
    "_0_ + S6.d_k": "'_' is not allowed",
    "ｅxp(1)": "is not allowed",
    "None": "is not allowed",
    "*".join(["(2 ** 1000)"] * 40): "too large",
    "9" * 400: "too large",
    "-" * 2500 + "S6.d_k": "has over 500 characters",
    "(" * 240 + "1" + ")" * 240: "cannot read",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items(), ids=list(REFUSED))
def test_refuses(text, message):
    with pytest.raises(InvalidValueError) as caught:
        expressions.parse(text).evaluate(VALUES)
    assert message in str(caught.value)


VACUOUS = {
    "S6.d_k * 0 + 5": "'S6.d_k * 0 + 5' is the same whatever S6.d_k is",
    "S6.d_k - S6.d_k": "whatever S6.d_k is",
    "S6.d_k / S6.d_k": "whatever S6.d_k is",
    "S6.d_k ** 0": "whatever S6.d_k is",
    "(S5.std.4 + 0.1) - S5.std.4": "whatever S5.std.4 is",
    "exp(S5.std.4) * 0 + S6.d_k": "whatever S5.std.4 is",
    "sqrt(S5.std.4) * 0 + log(S6.d_k)": "whatever S5.std.4 is",
    "S6.d_k > 1 and S5.std.4 * 0 < 1": "'S5.std.4 * 0' is the same whatever S5.std.4 is",
    "S6.d_k - S6.d_k < S5.std.4": "whatever S6.d_k is",
    "1 < 2 and S6.d_k > 1": "each comparison must name a measurement, but 1 is compared with 2",
    "S6.d_k > 1 and exp(1) > 2": "but exp(1) is compared with 2",
    "0 < 1 < S6.d_k": "but 0 is compared with 1",
    "0 < S6.d_k > 2 > 1": "but 2 is compared with 1",
}
TELLING = [
    "S6.d_k",
    "exp(1)",
    "4 * S5.std.4 / 28311552",
    "max(S5.std.4, S6.d_k)",
    "min(S5.std.4, S6.d_k)",
    "abs(S6.d_k - 64)",
    "sqrt(S5.std.4)",
    "log(S6.d_k)",
    "a.b",
    "a.b == True",
    "0 < S6.d_k < 65 > S5.std.4",
    "(S6.d_k != 64) + (S5.std.4 != S6.d_k)",
    "tiny.one * 2",
    "S6.d_k - 64",
    "1 / S6.d_k",
]


@pytest.mark.parametrize(("text", "message"), VACUOUS.items(), ids=list(VACUOUS))
def test_refuses_what_says_nothing_of_a_measurement_that_it_names(text, message):
    with pytest.raises(InvalidValueError) as caught:
        expressions.parse(text).check_matters(VALUES)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", TELLING)
def test_takes_what_changes_with_each_measurement_that_it_names(text):
    expressions.parse(text).check_matters(VALUES | {"tiny.one": 2.2e-16})


def test_names_and_constants_of_an_expression():
    parsed = expressions.parse("0.98 * S5.std.4 < S6.d_k and S5.std.4 != 2 and a.b == True")
    assert parsed.names == ("S5.std.4", "S6.d_k", "a.b")
    assert sorted(parsed.constants) == [0.98, 2]
    assert sorted(expressions.parse("-0.5 < a.b - 1 < --3").constants) == [-0.5, 1, 3]


@pytest.mark.parametrize(
    ("text", "nothing"),
    [("0.5", True), ("exp(1) + 1", True), ("abs(5)", True), ("min(5, 6)", True), ("True", True),
     ("exp(2 + 3)", True), ("exp(1)", False), ("sqrt(2)", False), ("3 * a.b", False)],
)  # fmt: skip
def test_an_expression_without_a_measurement_proves_nothing(text, nothing):
    assert expressions.parse(text).proves_nothing is nothing


def test_an_expression_nested_too_deeply_is_refused():
    parsed = expressions.parse("-" * 400 + "S6.d_k")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        with pytest.raises(InvalidValueError, match="nested too deeply"):
            parsed.evaluate(VALUES)
    finally:
        sys.setrecursionlimit(limit)


def test_an_unknown_name_gets_the_nearest_names():
    with pytest.raises(InvalidValueError, match=r"'S5\.st\.4': did you mean S5\.std\.4"):
        expressions.look_up(["S6.d_k", "S5.st.4"], VALUES)
    with pytest.raises(InvalidValueError, match="no name is like it"):
        expressions.look_up(["qqqqqqqq"], VALUES)
