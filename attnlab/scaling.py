"""How dot products spread as vectors grow longer, and what that does to a softmax."""

from __future__ import annotations  # NumPy loads its generators when one is named

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnlab.attention import check_count, softmax
from attnlab.errors import InvalidTypeError

#: Numbers drawn at a time: 512 kB, so that a chunk stays in the processor's cache.
_CHUNK = 2**16


@dataclass(frozen=True)
class ScalingMeasurement:
    """What :func:`measure_scaling` finds at one dimension.

    Attributes
    ----------
    d : int
        Entries in each query and key.
    std : float
        Population standard deviation of all dot products; √d is expected.
    top_unscaled, top_scaled : float
        The largest softmax weight of a row, averaged over rows: of the dot products as they
        are, and of the dot products divided by √d.
    """

    d: int
    std: float
    top_unscaled: float
    top_scaled: float


def winner_takes_all(sizes: Sequence[ScalingMeasurement]) -> bool:
    """Whether the unscaled top weight grows with each size, and comes near to 1."""
    tops = [size.top_unscaled for size in sizes]
    return tops == sorted(set(tops)) and tops[-1] > 0.9


def stays_flat(sizes: Sequence[ScalingMeasurement]) -> bool:
    """Whether the scaled top weight hardly changes from size to size."""
    tops = [size.top_scaled for size in sizes]
    return max(tops) - min(tops) < 0.05


def measure_scaling(
    rng: np.random.Generator, d: int, trials: int = 2000, keys: int = 8
) -> ScalingMeasurement:
    """Measure dot products of random queries and keys with d entries.

    Each trial draws one query, then `keys` keys, all entries from N(0, 1).

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the entries come from; trials·(1 + keys)·d of them are drawn.
    d : int
        Entries in each query and key.
    trials : int, optional
        Queries, each with keys of its own. Memory does not grow with it.
    keys : int, optional
        Keys a query.

    Returns
    -------
    ScalingMeasurement
        The spread and the mean top weights.

    Raises
    ------
    InvalidTypeError, InvalidValueError
        If d, trials or keys is not a whole number of at least 1; if rng is no generator.

    Notes
    -----
    Vaswani et al., "Attention Is All You Need", 2017, section 3.2.1, footnote 4: the sum of d
    products of independent N(0, 1) numbers has mean 0 and variance d.
    """
    for name, number in (("d", d), ("trials", trials), ("keys", keys)):
        check_count(name, number)
    if not isinstance(rng, np.random.Generator):
        raise InvalidTypeError(f"rng must be a numpy.random.Generator, but it is {rng!r}")
    d, trials, keys = int(d), int(trials), int(keys)  # NumPy's small integers would overflow
    total = squares = top_unscaled = top_scaled = 0.0
    for scores in _scores(rng, d, trials, keys):
        total += float(scores.sum())
        squares += float((scores**2).sum())
        top_unscaled += float(softmax(scores).max(axis=-1).sum())
        top_scaled += float(softmax(scores / math.sqrt(d)).max(axis=-1).sum())
    count = trials * keys
    # The mean lies near 0 beside the spread, so this difference loses no digits.
    variance = max(0.0, squares / count - (total / count) ** 2)
    return ScalingMeasurement(d, math.sqrt(variance), top_unscaled / trials, top_scaled / trials)


def _scores(
    rng: np.random.Generator, d: int, trials: int, keys: int
) -> Iterator[NDArray[np.float64]]:
    """Yield the dot products of all trials, chunk by chunk, each of shape (rows, keys)."""
    rows = max(1, min(trials, _CHUNK // ((1 + keys) * d)))
    block = np.empty((rows, 1 + keys, d))
    for start in range(0, trials, rows):
        block = block[: trials - start]
        rng.standard_normal(out=block)
        query, key = block[:, 0, :, None], block[:, 1:]  # (rows, d, 1), (rows, keys, d)
        yield (key @ query)[..., 0]
