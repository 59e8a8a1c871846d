"""Arithmetic as a reader does it: with the numbers that are shown, each a little uncertain."""

import math
import re
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st

from attnlab import ToyWorld


@dataclass(frozen=True)
class Span:
    """Every number that a shown number may stand for, and the number itself."""

    low: float
    high: float
    shown: float

    @classmethod
    def read(cls, digits, places):
        value = float(digits)
        decimals = len(digits.partition(".")[2])
        half = 0.5 * 10**-places if decimals == places else 0.0
        return cls(value - half, value + half, value)

    def combine(self, other, operation):
        ends = [operation(x, y) for x in (self.low, self.high) for y in (other.low, other.high)]
        return Span(min(ends), max(ends), operation(self.shown, other.shown))

    def __add__(self, other):
        return self.combine(other, lambda x, y: x + y)

    def __sub__(self, other):
        return self.combine(other, lambda x, y: x - y)

    def __mul__(self, other):
        return self.combine(other, lambda x, y: x * y)

    def __truediv__(self, other):
        return self.combine(other, lambda x, y: x / y)

    def __neg__(self):
        return Span(-self.high, -self.low, -self.shown)

    def __rpow__(self, base):
        return Span(math.exp(self.low), math.exp(self.high), math.exp(self.shown))


def evaluate(formula, places):
    """Calculate one side of an equation."""
    code = re.sub(r"√(\d+)", lambda m: f"Span(*3 * [{math.sqrt(int(m[1]))!r}])", formula)
    code = re.sub(
        r"(?<![\w.*\[(])\d+(?:\.\d+)?(?![\w.])|(?<=[(^−])\d+(?:\.\d+)?",
        lambda m: f"Span.read({m[0]!r}, {places})",
        code,
    )
    code = code.replace("∞", "Span(math.inf, math.inf, math.inf)").replace("e^", "1 ** ")
    code = code.translate({ord("×"): "*", ord("−"): "-"})
    return eval(code, {"Span": Span, "math": math})


def equations(lines):
    """Yield each left side, sign and right side in lines of formula, but for sides with words."""
    for line in lines:
        sides = re.split(r" ?([=≈]) ", line)
        for left, sign, right in zip(sides[::2], sides[1::2], sides[2::2], strict=False):
            if left and not re.search(r"[^\W\d_]", re.sub(r"\be\^", "", left + right)):
                yield left, sign, right


def assert_equation_follows(left, sign, right, places):
    """Check that the right side lies among what the left side can be."""
    a, b = evaluate(left, places), evaluate(right, places)
    slack = 1e-9 + 1e-14 * abs(b.shown)
    if sign == "=":
        assert a.shown == pytest.approx(b.shown, abs=slack), (left, sign, right)
    else:
        assert a.low - slack <= b.high, (left, sign, right)
        assert b.low - slack <= a.high, (left, sign, right)


entry = st.integers(-300, 300).map(lambda n: n / 100)


@st.composite
def worlds(draw):
    d, channels = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    matrix = lambda rows, columns: [  # noqa: E731
        [draw(entry) for _ in range(columns)] for _ in range(rows)
    ]
    return ToyWorld(
        axes=tuple(f"axis{i}" for i in range(d)),
        words=("a", "b-c", "été"),
        embeddings=np.array(matrix(3, d)),
        sentences=("a b-c", "a été"),
        focus="a",
        channels=tuple(f"ch{i}" for i in range(channels)),
        W_Q=np.array(matrix(d, channels)),
        W_K=np.array(matrix(d, channels)),
    )
