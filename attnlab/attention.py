"""Self-attention on arrays, each function one formula.

- ``dot_product``: how much two vectors agree.
- ``softmax``: scores in, positive weights that sum to 1 out.
- ``causal_mask``: which keys each query may see when it must not look ahead.
- ``raw_attention``: attention with nothing learned, softmax(X Xᵀ) X.
- ``attention``: the head of real models, softmax(Q Kᵀ / √d_k) V.

Arrays are whatever NumPy can read. The last two axes are (words, entries); axes in front of
them are batch axes and broadcast as in NumPy. Floating types are kept, integers and booleans
become float64, and no argument is ever changed.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnlab.errors import InvalidTypeError, InvalidValueError, ShapeError

Floats = NDArray[np.floating[Any]]


class AttentionResult(NamedTuple):
    """What one attention head computes, result first.

    Attributes
    ----------
    output : ndarray, shape (..., n, d_v)
        One vector a word: the values, averaged with that word's weights.
    weights : ndarray, shape (..., n, n)
        Row i holds the shares that word i gives to each word; each row sums to 1.
    scores : ndarray, shape (..., n, n)
        What the softmax was given: after scaling, and −∞ where the causal mask forbids.
    """

    output: Floats
    weights: Floats
    scores: Floats


@np.errstate(all="ignore")  # overflow is refused in words
def dot_product(a: ArrayLike, b: ArrayLike) -> Floats:  # (..., d), (..., d) -> (...)
    """Multiply entry by entry and add up: a · b = Σ aᵢ bᵢ.

    Parameters
    ----------
    a, b : array_like, shape (..., d)
        Vectors along the last axis; axes in front of it broadcast.

    Returns
    -------
    ndarray, shape (...)
        The dot products.

    Raises
    ------
    ShapeError
        If a or b has no axis, or their shapes do not fit.
    InvalidValueError, InvalidTypeError
        If a or b holds NaN or infinity, or numbers that are not real; if the result is too
        large for their floating type.
    """
    a, b = _vector_pair(a, b)
    products = np.asarray((a * b).sum(axis=-1))
    _refuse_overflow(products=products)
    return products


@np.errstate(over="ignore", under="ignore")  # a weight too small to hold is 0
def softmax(scores: ArrayLike) -> Floats:  # (..., n) -> (..., n), rows sum to 1
    """Turn each row of scores into positive weights that sum to 1.

    wᵢ = exp(sᵢ − m) / Σⱼ exp(sⱼ − m), with m the row's largest score. Subtracting m changes no
    weight, since it cancels, and keeps the exponentials from overflowing.

    Parameters
    ----------
    scores : array_like, shape (..., n)
        Any real numbers; −∞ gives weight 0.

    Returns
    -------
    ndarray, shape (..., n)
        The weights along the last axis.

    Raises
    ------
    ShapeError
        If scores has no axis or its last axis is empty.
    InvalidValueError, InvalidTypeError
        If a row holds NaN or +∞, or nothing but −∞; if the scores are not real numbers.
    """
    scores = real_array("scores", scores, axes=1, finite=False)
    largest = scores.max(axis=-1, keepdims=True)
    if not np.isfinite(largest).all():
        _raise_bad_scores(scores, largest)
    exponentials = np.exp(scores - largest)
    wide = np.result_type(scores, np.float32)  # float16 cannot count beyond 65504
    total = exponentials.sum(axis=-1, keepdims=True, dtype=wide)
    return np.asarray(exponentials / total, dtype=scores.dtype)


def causal_mask(n: int) -> NDArray[np.bool_]:  # -> (n, n)
    """Which keys each query may see when no word may look at a later one.

    Parameters
    ----------
    n : int
        The number of words, at least 1.

    Returns
    -------
    ndarray of bool, shape (n, n)
        True on and below the diagonal: query i may see key j when j ≤ i. PyTorch's
        ``scaled_dot_product_attention`` reads a boolean mask the same way.

    Raises
    ------
    InvalidTypeError, InvalidValueError
        If n is not a whole number of at least 1.
    """
    check_count("n", n)
    return np.tri(int(n), dtype=np.bool_)


@np.errstate(all="ignore")  # overflow is refused in words
def raw_attention(X: ArrayLike) -> AttentionResult:  # (..., n, d) -> output (..., n, d)
    """Attention with nothing learned: softmax(X Xᵀ) X.

    Every word is its own query, key and value.

    Parameters
    ----------
    X : array_like, shape (..., n, d)
        One row a word, one column an embedding axis.

    Returns
    -------
    AttentionResult
        output (..., n, d), weights (..., n, n) and scores X Xᵀ (..., n, n).

    Raises
    ------
    ShapeError
        If X has fewer than two axes, no word or no entry.
    InvalidValueError, InvalidTypeError
        If X holds NaN or infinity, or numbers that are not real; if a score is too large for
        their floating type.
    """
    X = real_array("X", X, axes=2)

    scores = X @ X.mT
    _refuse_overflow(scores=scores)
    weights = softmax(scores)
    return AttentionResult(weights @ X, weights, scores)


@np.errstate(all="ignore")  # overflow is refused in words
def attention(
    X: ArrayLike,  # (..., n, d_model)
    W_q: ArrayLike,  # (..., d_model, d_k)
    W_k: ArrayLike,  # (..., d_model, d_k)
    W_v: ArrayLike,  # (..., d_model, d_v)
    causal: bool = False,
) -> AttentionResult:  # output (..., n, d_v)
    """One attention head: softmax(Q Kᵀ / √d_k) V, with Q = X W_q, K = X W_k, V = X W_v.

    Parameters
    ----------
    X : array_like, shape (..., n, d_model)
        One row a word.
    W_q, W_k : array_like, shape (..., d_model, d_k)
        What each word asks, and what each word advertises.
    W_v : array_like, shape (..., d_model, d_v)
        What each word hands over.
    causal : bool, optional
        Whether to forbid every word to look at later words.

    Returns
    -------
    AttentionResult
        output (..., n, d_v), weights (..., n, n) and scaled, masked scores (..., n, n).

    Raises
    ------
    ShapeError
        If an array has fewer than two axes or an empty one, or two shapes do not fit.
    InvalidValueError, InvalidTypeError
        If an array holds NaN or infinity, or numbers that are not real; if a product of
        finite numbers is too large for their floating type; if causal is no bool.

    Notes
    -----
    Vaswani et al., "Attention Is All You Need", 2017, equation 1.
    """
    X, W_q, W_k, W_v = _head_inputs(X, W_q, W_k, W_v, causal)
    n, d_k = X.shape[-2], W_k.shape[-1]

    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    scores = Q @ K.mT / math.sqrt(d_k)
    _refuse_overflow(Q=Q, K=K, V=V, scores=scores)
    if causal:
        scores = np.where(causal_mask(n), scores, -np.inf)
    weights = softmax(scores)
    output = weights @ V
    _refuse_overflow(output=output)
    return AttentionResult(output, weights, scores)


def real_array(name: str, value: ArrayLike, axes: int, finite: bool = True) -> Floats:
    """Read an argument as a floating array with at least `axes` axes, none of them empty."""
    if np.ma.is_masked(value):
        raise InvalidTypeError(
            f"{name} must hold no masked entries, since attention would read what the mask hides; "
            "fill them first, or set the scores to −∞"
        )
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError(
            f"{name} must be a rectangular array, but NumPy cannot read it as one: {error}"
        ) from error
    except (TypeError, RuntimeError) as error:  # another library's array may refuse
        raise InvalidTypeError(f"{name} cannot be read as a NumPy array: {error}") from error
    if array.dtype.kind in "biu":
        array = array.astype(np.float64)
    if array.dtype.kind != "f":
        raise InvalidTypeError(
            f"{name} must hold real numbers, but its NumPy type is {array.dtype} "
            f"(first entry: {array.flat[0] if array.size else 'none'!r})"
        )
    if array.ndim < axes or 0 in array.shape[-axes:]:
        wanted = "(..., entries)" if axes == 1 else "(..., words, entries)"
        raise ShapeError(
            f"{name} must have shape {wanted} with no empty axis, but it has shape {array.shape}"
        )
    if finite and not np.isfinite(array).all():
        raise InvalidValueError(
            f"{name} must hold finite numbers, but {_first(name, array, ~np.isfinite(array))}"
        )
    return array


def check_count(name: str, value: object) -> None:
    """Raise unless a number is whole and at least 1."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise InvalidTypeError(f"{name} must be a whole number, but it is {value!r}")
    if value < 1:
        raise InvalidValueError(f"{name} must be at least 1, but it is {value}")


def _vector_pair(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """Read two arrays of vectors and check that their shapes fit."""
    a, b = real_array("a", a, axes=1), real_array("b", b, axes=1)
    if a.shape[-1] != b.shape[-1]:
        raise ShapeError(
            f"a and b must have as many entries as each other, but a has shape {a.shape} "
            f"and b has shape {b.shape}: {a.shape[-1]} against {b.shape[-1]} entries"
        )
    _check_batch_axes(a=a.shape[:-1], b=b.shape[:-1])
    return a, b


def _head_inputs(
    X: ArrayLike, W_q: ArrayLike, W_k: ArrayLike, W_v: ArrayLike, causal: object
) -> tuple[Floats, Floats, Floats, Floats]:
    """Read the four arrays of a head and check that their shapes fit, and the switch."""
    if not isinstance(causal, (bool, np.bool_)):
        raise InvalidTypeError(f"causal must be True or False, but it is {causal!r}")
    arrays = {
        name: real_array(name, value, axes=2)
        for name, value in {"X": X, "W_q": W_q, "W_k": W_k, "W_v": W_v}.items()
    }
    words = arrays["X"]
    for name in ("W_q", "W_k", "W_v"):
        if arrays[name].shape[-2] != words.shape[-1]:
            raise ShapeError(
                f"{name} must have one row for each entry of X's words, but X has shape "
                f"{words.shape} ({words.shape[-1]} entries a word) and {name} has shape "
                f"{arrays[name].shape} ({arrays[name].shape[-2]} rows)"
            )
    if arrays["W_q"].shape[-1] != arrays["W_k"].shape[-1]:
        raise ShapeError(
            "W_q and W_k must have the same number of columns (d_k), but W_q has shape "
            f"{arrays['W_q'].shape} and W_k has shape {arrays['W_k'].shape}"
        )
    _check_batch_axes(**{name: array.shape[:-2] for name, array in arrays.items()})
    return words, arrays["W_q"], arrays["W_k"], arrays["W_v"]


def _check_batch_axes(**shapes: tuple[int, ...]) -> None:
    """Raise unless the batch axes broadcast together."""
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        came = ", ".join(f"{name}: {shape}" for name, shape in shapes.items())
        raise ShapeError(
            f"the batch axes in front must be equal or 1 (NumPy broadcasting), but they are {came}"
        ) from None


def _raise_bad_scores(scores: Floats, largest: Floats) -> None:
    """Say which entry or row of scores softmax cannot turn into weights, and why."""
    unusable = np.isnan(scores) | np.isposinf(scores)
    if unusable.any():
        reason = _first("scores", scores, unusable)
    else:
        row = tuple(int(i) for i in np.argwhere(np.isneginf(largest))[0])[:-1]
        where = f"scores{list(row)}" if row else "scores"
        reason = f"{where} is −∞ in every entry, so there is nothing to give weight to"
    raise InvalidValueError(f"each row of scores must hold numbers or −∞, but {reason}")


def _refuse_overflow(**results: Floats) -> None:
    """Raise if finite inputs gave a result that their floating type cannot hold."""
    for name, result in results.items():
        if not np.isfinite(result).all():
            raise InvalidValueError(
                f"the numbers are too large for {result.dtype}: "
                f"{_first(name, result, ~np.isfinite(result))}, by overflow"
            )


def _first(name: str, array: Floats, chosen: NDArray[np.bool_]) -> str:
    """Return the first chosen entry in words: ``X[0, 2] is nan``."""
    where = tuple(int(i) for i in np.argwhere(chosen)[0])
    return f"{name}{list(where) if where else ''} is {array[where]}"
