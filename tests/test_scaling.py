"""The scaling measurement against one trial after another in plain Python."""

import dataclasses
import math
import tracemalloc

import numpy as np
import pytest

import attnlab
from attnlab import ScalingMeasurement, measure_scaling


def plain_scaling(rng, d, trials, keys):
    """Draw and measure trial by trial: a query, then its keys."""
    dots, unscaled, scaled = [], [], []
    for _ in range(trials):
        query = rng.standard_normal(d).tolist()
        row = [
            math.fsum(q * k for q, k in zip(query, key, strict=True))
            for key in rng.standard_normal((keys, d)).tolist()
        ]
        dots += row
        for tops, divisor in ((unscaled, 1), (scaled, math.sqrt(d))):
            # The top weight is 1 over the sum of all exponentials relative to the largest.
            tops.append(1 / math.fsum(math.exp((s - max(row)) / divisor) for s in row))
    mean = math.fsum(dots) / len(dots)
    std = math.sqrt(math.fsum((s - mean) ** 2 for s in dots) / len(dots))
    return ScalingMeasurement(d, std, math.fsum(unscaled) / trials, math.fsum(scaled) / trials)


@pytest.mark.parametrize(
    ("d", "trials", "keys"),
    [
        (1, 1, 1),
        (5, 1, 3),
        (3, 7, 1),
        (4, 2000, 8),
        (40, 500, 8),  # several chunks, the last one shorter
        (70_000, 3, 2),  # a trial is longer than a chunk
        (np.int64(4), 3, 2),
    ],
)
def test_measure_scaling(d, trials, keys):
    ours = measure_scaling(np.random.default_rng(3), d, trials, keys)
    plain = plain_scaling(np.random.default_rng(3), d, trials, keys)
    assert ours.d == d
    for name in ("std", "top_unscaled", "top_scaled"):
        assert getattr(ours, name) == pytest.approx(getattr(plain, name), rel=1e-12, abs=1e-7)


def test_two_thousand_trials_of_eight_keys_unless_told_otherwise():
    rngs = [np.random.default_rng(5) for _ in range(2)]
    assert measure_scaling(rngs[0], 2) == measure_scaling(rngs[1], 2, 2000, 8)
    assert rngs[0].random() == rngs[1].random()


class Constant(np.random.Generator):
    """Draws the same number again and again."""

    def __init__(self, number):
        super().__init__(np.random.PCG64(0))
        self.number = number

    def standard_normal(self, out):
        out[...] = self.number


@pytest.mark.parametrize("number", [0.1, 0.3, 0.7, 1.1])
@pytest.mark.parametrize("trials", [1, 3, 7])
def test_equal_dot_products_do_not_spread(number, trials):
    measured = measure_scaling(Constant(number), 3, trials, keys=5)
    assert 0 <= measured.std < 1e-7
    assert measured.top_scaled == pytest.approx(1 / 5)


def test_memory_does_not_grow_with_trials():
    tracemalloc.start()
    measure_scaling(np.random.default_rng(0), 64, trials=10_000)  # 46 MB at once
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4e6


def test_a_measurement_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ScalingMeasurement(4, 2.0, 0.5, 0.25).std = 3.0


RNG = np.random.default_rng(0)
VALUE, TYPE = attnlab.InvalidValueError, attnlab.InvalidTypeError


@pytest.mark.parametrize(
    ("arguments", "error", "shown"),
    [
        ((RNG, 0), VALUE, "d must be at least 1, but it is 0"),
        ((RNG, 4, -1), VALUE, "trials must be at least 1, but it is -1"),
        ((RNG, 4, 2, 0), VALUE, "keys must be at least 1, but it is 0"),
        ((RNG, 4.0), TYPE, "d must be a whole number, but it is 4.0"),
        ((RNG, 4, "9"), TYPE, "trials must be a whole number, but it is '9'"),
        ((RNG, 4, 9, True), TYPE, "keys must be a whole number, but it is True"),
        ((0, 4), TYPE, "rng must be a numpy.random.Generator, but it is 0"),
    ],
)
def test_refused(arguments, error, shown):
    with pytest.raises(error, match=shown):
        measure_scaling(*arguments)


def test_small_integers_of_numpy_count_like_any_other():
    small = measure_scaling(np.random.default_rng(0), np.int8(100), np.int16(300), np.int8(8))
    assert small == measure_scaling(np.random.default_rng(0), 100, 300, 8)
