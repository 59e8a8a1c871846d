"""Every printed number of S1 to S4, and of S6's masked head, proved to its last digit.

Nothing of attnlab is imported: the constants are typed anew from the specification, and the
formulas are computed again with 50 digits. Each number of the canonical log is then walked in
order and must lie within half a unit of its last place of the exact value.
"""

import re
from pathlib import Path

import mpmath as mp
import pytest

LOG = Path(__file__).parents[1] / "attnlab" / "canonical" / "results.log"
NUMBER = re.compile(r"(?:(?<!\w)-)?\d+(?:\.\d+)?")
EXACT = mp.mpf("1e-40")  # what 50 digits cannot tell from equal

mp.mp.dps = 50


def matrix(text):
    return [[mp.mpf(entry) for entry in row.split()] for row in text.strip().splitlines()]


AXES = ["water", "money", "place", "filler"]
#            water money place filler
TABLE = {
    "the": "  0.0   0.0   0.0   1.0",
    "river": "0.9   0.0   0.3   0.0",
    "money": "0.0   0.9   0.1   0.0",
    "bank": " 0.3   0.3   0.9   0.0",
}
VECTOR = {word: matrix(row)[0] for word, row in TABLE.items()}
RIVER, MONEY = ["the", "river", "bank"], ["the", "money", "bank"]
W_Q = matrix("""
    0 0
    0 0
    2 0
    0 1.5
""")
W_K = matrix("""
    1 0
    1 0
    0 1
    0 0
""")


def dot(a, b):
    return mp.fsum(x * y for x, y in zip(a, b, strict=True))


def product(A, B):
    return [[dot(row, column) for column in zip(*B, strict=True)] for row in A]


def softmax(scores):
    total = mp.fsum(mp.exp(score) for score in scores)
    return [mp.exp(score) / total for score in scores]


def scores_of(Q, K):
    return [[dot(q, k) for k in K] for q in Q]


def raw(words):
    """Scores, weights and outputs of raw attention."""
    X = [VECTOR[word] for word in words]
    scores = scores_of(X, X)
    weights = [softmax(row) for row in scores]
    return scores, weights, product(weights, X)


X = [VECTOR[word] for word in RIVER]
Q, K = product(X, W_Q), product(X, W_K)
WIRED_SCORES = scores_of(Q, K)
WIRED = [softmax([score / mp.sqrt(2) for score in row]) for row in WIRED_SCORES]
WIRED_OUTPUT = product(WIRED, X)[2]
MASKED = [
    softmax([score / mp.sqrt(2) for score in row[: i + 1]]) + [mp.mpf(0)] * (2 - i)
    for i, row in enumerate(WIRED_SCORES)
]
RAW_SCORES, RAW, (_, _, IN_RIVER) = raw(RIVER)
_, RAW_MONEY, (_, _, IN_MONEY) = raw(MONEY)
BANK_SCORES = RAW_SCORES[2]
SHARP = softmax([5 * score for score in BANK_SCORES])


def rows(words, values):
    """The lines of a matrix: how each begins, and its numbers."""
    return [(word, row) for word, row in zip(words, values, strict=True)]


# Every line of these sections that shows a number: how it begins, and what it must show.
EXPECTED = {
    "S1": rows(VECTOR, VECTOR.values()),
    "S2": [
        (
            "bank . river",
            [x for pair in zip(VECTOR["bank"], VECTOR["river"], strict=True) for x in pair]
            + [dot(VECTOR["bank"], VECTOR["river"])],
        ),
        *[
            (f"bank . {word}", [dot(VECTOR["bank"], VECTOR[word])])
            for word in ("money", "the", "bank")
        ],
        ("softmax([", [*BANK_SCORES, *softmax(BANK_SCORES), mp.fsum(softmax(BANK_SCORES))]),
        ("softmax(same scores x 5)", [5, *SHARP]),
    ],
    "S3": [
        *rows(RIVER, RAW_SCORES),
        *rows(RIVER, RAW),
        *rows(MONEY, RAW_MONEY),
        ('in "the river bank"', IN_RIVER),
        ('in "the money bank"', IN_MONEY),
        ("water vs money, river sentence", IN_RIVER[:2]),
        ("water vs money, money sentence", IN_MONEY[:2]),
    ],
    "S4": [
        ("queries and keys", [2]),
        *[(word, [*q, *k]) for word, q, k in zip(RIVER, Q, K, strict=True)],
        *rows(RIVER, WIRED_SCORES),
        ("symmetric?", [WIRED_SCORES[2][1], WIRED_SCORES[1][2]]),
        ("weights after dividing by sqrt(2)", [2]),
        *rows(RIVER, WIRED),
        ("bank's row,  raw vs wired", [*RAW[2], *WIRED[2]]),
        ("'the's row,  raw vs wired", [*RAW[0], *WIRED[0]]),
        ("bank's output vector", WIRED_OUTPUT),
    ],
    "S6": [
        ("wired head with a causal mask", [0]),
        *rows(RIVER, MASKED),
        ("every row still sums to 1", [1, *map(mp.fsum, MASKED)]),
        ("one GPT-2 sized head", [2, 768, 64, 3 * 768 * 64]),
        ("12 heads x 12 layers", [12, 12, 12 * (12 * 3 * 768 * 64 + 768 * 768), 2, 124]),
    ],
}
# The rounding noise of S6 has a bound, not digits.
NOISE = "max |difference|"


def shown_lines(section):
    """The section's lines that show a number, with line numbers, as (number, text)."""
    lines = LOG.read_text(encoding="utf-8").split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith(f"[{section}]"))
    end = lines.index("", start)
    return [
        (i + 1, lines[i].strip())
        for i in range(start + 1, end)
        if NUMBER.search(lines[i]) and NOISE not in lines[i]
    ]


def margin_of(printed, exact):
    """Prove a printed number; how far the exact value lies from where rounding turns.

    In units of the printed number's last place, 1/2 at most; None for a value that is exactly
    what is printed.
    """
    unit = mp.mpf(10) ** -len(printed.partition(".")[2])
    off = abs(mp.mpf(exact) - mp.mpf(printed)) / unit
    assert off < mp.mpf("0.5") - EXACT, f"printed {printed}, exact {mp.nstr(exact, 20)}"
    assert "." in printed or off == 0, f"a whole number must be exact, but {printed} is {exact}"
    return None if off < EXACT else mp.mpf("0.5") - off


def prove(section):
    """Prove all numbers of a section; every margin, and what it is the margin of."""
    shown = shown_lines(section)
    assert len(shown) == len(EXPECTED[section])
    margins = []
    for (number, text), (begins, values) in zip(shown, EXPECTED[section], strict=True):
        assert text.startswith(begins), f"line {number}: {text}"
        printed = NUMBER.findall(text.replace(",", "") if "GPT-2" in text else text)
        assert len(printed) == len(values), f"line {number} shows {printed}"
        for digits, exact in zip(printed, values, strict=True):
            margin = margin_of(digits, exact)
            if margin is not None:
                margins.append((margin, f"line {number}, {digits}: exactly {mp.nstr(exact, 10)}"))
    return margins, sum(len(values) for _, values in EXPECTED[section])


@pytest.mark.parametrize("section", EXPECTED)
def test_every_printed_digit(section):
    prove(section)


def test_closest_margin(summary):
    proofs = [prove(section) for section in EXPECTED]
    margin, where = min(margin for margins, _ in proofs for margin in margins)
    count = sum(count for _, count in proofs)
    summary(
        f"digits: {count} printed numbers proved; the closest rounding margin is "
        f"{mp.nstr(margin, 3)} units of the last place ({where})"
    )
    assert margin > 1e-6  # float64 is off by 1e-13 of such a unit at most


@pytest.mark.parametrize(
    ("printed", "exact"), [("0.185", "0.1856"), ("0.18", "0.185"), ("2", "2.1"), ("1.0", "1.1")]
)
def test_a_wrong_digit_is_found(printed, exact):
    with pytest.raises(AssertionError):
        margin_of(printed, mp.mpf(exact))
