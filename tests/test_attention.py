"""Every function of attention.py against loops in plain Python."""

import math

import numpy as np
import pytest

import attnlab
from attnlab import attention, causal_mask, dot_product, raw_attention, softmax

INF, NAN = math.inf, math.nan
FLOATS = [np.float16, np.float32, np.float64, np.longdouble]
TOLERANCE = {np.float16: 1e-2, np.float32: 2e-6, np.float64: 1e-14, np.longdouble: 1e-14}
BATCHES = [(), (1,), (2,), (0,), (2, 3)]


# --- The oracles: lists of Python floats, one sum at a time.


def plain_dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def plain_softmax(scores):
    largest = max(scores)
    exponentials = [math.exp(score - largest) for score in scores]
    return [exponential / math.fsum(exponentials) for exponential in exponentials]


def plain_product(A, B):
    return [[plain_dot(row, column) for column in zip(*B, strict=True)] for row in A]


def plain_head(Q, K, V, divisor, causal=False):
    scores = [
        [-INF if causal and j > i else plain_dot(q, k) / divisor for j, k in enumerate(K)]
        for i, q in enumerate(Q)
    ]
    weights = [plain_softmax(row) for row in scores]
    return plain_product(weights, V), weights, scores


def plain_attention(X, W_q, W_k, W_v, causal):
    Q, K, V = (plain_product(X, W) for W in (W_q, W_k, W_v))
    return plain_head(Q, K, V, math.sqrt(len(W_k[0])), causal)


def draw(*shape, dtype=np.float64, seed=1):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def head_inputs(batch=(), n=5, d_model=4, d_k=3, d_v=2, dtype=np.float64):
    shapes = (*batch, n, d_model), (d_model, d_k), (d_model, d_k), (d_model, d_v)
    return [draw(*shape, dtype=dtype, seed=i) for i, shape in enumerate(shapes)]


def assert_close(ours, plain, dtype=np.float64):
    assert ours.dtype == dtype
    plain = np.array(plain).reshape(ours.shape)
    np.testing.assert_allclose(ours, plain, rtol=TOLERANCE[dtype], atol=4 * TOLERANCE[dtype])


# --- What comes out.


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("batch", BATCHES)
def test_dot_product(batch, dtype):
    a, b = draw(*batch, 7, dtype=dtype), draw(*batch, 7, dtype=dtype, seed=2)
    plain = [plain_dot(a[i].tolist(), b[i].tolist()) for i in np.ndindex(batch)]
    assert dot_product(a, b).shape == batch
    assert_close(dot_product(a, b), plain, dtype)


def test_dot_product_broadcasts():
    a, b = draw(3, 1, 4), draw(2, 4)
    plain = [[plain_dot(x[0].tolist(), y.tolist()) for y in b] for x in a]
    assert_close(dot_product(a, b), plain)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("batch", BATCHES)
def test_softmax(batch, dtype):
    scores = draw(*batch, 6, dtype=dtype)
    plain = [plain_softmax(scores[i].tolist()) for i in np.ndindex(batch)]
    assert softmax(scores).shape == scores.shape
    assert_close(softmax(scores), plain, dtype)


@pytest.mark.parametrize(
    ("scores", "weights"),
    [
        ([5.0], [1.0]),
        ([-INF, 0.0, -INF, 0.0], [0.0, 0.5, 0.0, 0.5]),
        ([1e308, -1e308], [1.0, 0.0]),
        ([1000.0, 1000.0], [0.5, 0.5]),
        ([-1e300, -1e300], [0.5, 0.5]),
        ([0.0, -745.2], [1.0, 0.0]),
    ],
    ids=str,
)
def test_softmax_at_the_edges(scores, weights):
    assert softmax(scores).tolist() == weights


def test_softmax_of_more_float16_scores_than_float16_can_count():
    weights = softmax(np.zeros(70_000, np.float16))
    np.testing.assert_allclose(weights.astype(float), 1 / 70_000, rtol=1e-2)


@pytest.mark.parametrize("n", [1, 2, 5, np.int64(3)])
def test_causal_mask(n):
    mask = causal_mask(n)
    assert mask.dtype == np.bool_
    assert mask.tolist() == [[j <= i for j in range(n)] for i in range(n)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("batch", BATCHES)
def test_raw_attention(batch, dtype):
    X = draw(*batch, 5, 3, dtype=dtype)
    plain = [plain_head(x, x, x, 1.0) for x in (X[i].tolist() for i in np.ndindex(batch))]
    result = raw_attention(X)
    for i, shape in enumerate([(5, 3), (5, 5), (5, 5)]):
        assert result[i].shape == batch + shape
        assert_close(result[i], [p[i] for p in plain], dtype)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("batch", BATCHES)
def test_attention(batch, dtype, causal):
    X, *Ws = head_inputs(batch, dtype=dtype)
    plain = [plain_attention(X[i].tolist(), *Ws, causal) for i in np.ndindex(batch)]
    result = attention(X, *Ws, causal=causal)
    for i, shape in enumerate([(5, 2), (5, 5), (5, 5)]):
        assert result[i].shape == batch + shape
        assert_close(result[i], [p[i] for p in plain], dtype)


def test_attention_broadcasts_batch_axes_of_the_matrices():
    X, W_q, W_k, W_v = draw(2, 1, 5, 4), draw(3, 4, 3), draw(1, 1, 4, 3), draw(2, 3, 4, 2)
    result = attention(X, W_q, W_k, W_v)
    for i, j in np.ndindex(2, 3):
        plain = plain_attention(X[i, 0].tolist(), W_q[j], W_k[0, 0], W_v[i, j], False)
        for ours, expected in zip(result, plain, strict=True):
            assert_close(ours[i, j], expected)


def test_results_are_named_and_the_output_comes_first():
    assert attention(*head_inputs())._fields == ("output", "weights", "scores")


def test_raw_attention_is_attention_without_scaling():
    X, eye = draw(5, 4), np.eye(4)
    for ours, expected in zip(attention(X, 2 * eye, eye, eye), raw_attention(X), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-14)  # 2 = √d_k


# --- What goes in.

CALLS = {
    "dot_product": (lambda A: dot_product(A, A), 1),
    "softmax": (softmax, 1),
    "raw_attention": (raw_attention, 1),
    "attention": (lambda A: attention(A, A, A, A), 1),
    "attention causal": (lambda A: attention(A, A, A, A, causal=True), 1),
}
SQUARE = np.array([[3, 0, 1], [0, 1, 0], [1, 1, 2]])


def flat(result):
    """All numbers of a result, as float64."""
    arrays = result if isinstance(result, tuple) else (result,)
    return np.concatenate([np.ravel(a).astype(np.float64) for a in arrays])


@pytest.mark.parametrize("call", [call for call, _ in CALLS.values()], ids=list(CALLS))
@pytest.mark.parametrize(
    "given",
    [
        SQUARE,
        SQUARE.astype(np.uint8),
        SQUARE.tolist(),
        tuple(map(tuple, SQUARE.tolist())),
        SQUARE.astype(">f8"),
        np.asfortranarray(SQUARE, dtype=float),
        SQUARE.astype(float)[::-1, ::-1].copy()[::-1, ::-1],
        np.repeat(SQUARE.astype(float), 2, axis=1)[:, ::2],
    ],
    ids=["int", "uint8", "lists", "tuples", "big-endian", "F order", "negative strides", "strided"],
)
def test_any_layout_gives_the_same_float64(call, given):
    before = np.array(given)
    result = call(given)
    np.testing.assert_allclose(flat(result), flat(call(SQUARE.astype(np.float64))), rtol=1e-15)
    assert all(array.dtype == np.float64 for array in np.atleast_1d(result[0]))
    assert np.array_equal(np.asarray(given), before)


@pytest.mark.parametrize("call", [call for call, _ in CALLS.values()], ids=list(CALLS))
def test_booleans_count_as_0_and_1(call):
    np.testing.assert_array_equal(flat(call(SQUARE > 0)), flat(call((SQUARE > 0) * 1.0)))


@pytest.mark.parametrize("call", [call for call, _ in CALLS.values()], ids=list(CALLS))
@pytest.mark.parametrize("dtype", FLOATS)
def test_inputs_are_never_changed_nor_shared(call, dtype):
    given = SQUARE.astype(dtype)
    given.flags.writeable = False
    result = call(given)
    for array in result if isinstance(result, tuple) else (result,):
        assert array.dtype == dtype
        assert not np.shares_memory(array, given)


@pytest.mark.parametrize("call", [call for call, _ in CALLS.values()], ids=list(CALLS))
def test_a_reader_who_makes_numpy_raise_is_not_disturbed_by_underflow(call):
    with np.errstate(all="raise"):
        assert not np.isnan(flat(call(SQUARE * 1e-170))).any()
        assert not np.isnan(flat(call(SQUARE * 1e3))).any()


# --- What is refused: a call, the error, and what its message must show.

SHAPE, VALUE, TYPE = attnlab.ShapeError, attnlab.InvalidValueError, attnlab.InvalidTypeError
X, W = np.ones((3, 4)), np.ones((4, 2))


def poke(shape, where, value, dtype=np.float64):
    array = np.ones(shape, dtype)
    array[where] = value
    return array


class Refusing:
    """Another library's array that cannot become NumPy's."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("detach me first")


LARGEST = np.full((27, 1), 65504, np.float16)
HUGE = {np.float16: 300.0, np.float32: 1e30, np.float64: 1e200}

BAD = {
    # Shapes.
    "dot: no axis": (lambda: dot_product(1.0, [1.0]), SHAPE, ["a must", "()"]),
    "dot: entries": (lambda: dot_product(np.ones(2), np.ones(3)), SHAPE, ["(2,)", "(3,)"]),
    "dot: one entry is no wildcard": (lambda: dot_product([1], [1, 2]), SHAPE, ["(1,)", "(2,)"]),
    "dot: batch": (
        lambda: dot_product(np.ones((2, 3)), np.ones((4, 3))),
        SHAPE,
        ["a: (2,)", "b: (4,)"],
    ),
    "dot: empty": (lambda: dot_product([], []), SHAPE, ["a must", "(0,)"]),
    "softmax: no axis": (lambda: softmax(1.0), SHAPE, ["scores must", "(..., entries)", "()"]),
    "softmax: empty": (lambda: softmax(np.ones((2, 0))), SHAPE, ["(2, 0)"]),
    "raw: one axis": (lambda: raw_attention(np.ones(3)), SHAPE, ["(..., words, entries)", "(3,)"]),
    "raw: no words": (lambda: raw_attention(np.ones((0, 3))), SHAPE, ["(0, 3)"]),
    "raw: no entries": (lambda: raw_attention(np.ones((3, 0))), SHAPE, ["(3, 0)"]),
    "head: X has one axis": (lambda: attention(X[0], W, W, W), SHAPE, ["X must", "(4,)"]),
    "head: W_v has one axis": (lambda: attention(X, W, W, W[0]), SHAPE, ["W_v must", "(2,)"]),
    "head: no columns": (lambda: attention(X, W[:, :0], W, W), SHAPE, ["W_q must", "(4, 0)"]),
    "head: W_q rows": (lambda: attention(X, W.T, W, W), SHAPE, ["W_q", "(3, 4)", "(2, 4)"]),
    "head: W_k rows": (lambda: attention(X, W, W.T, W), SHAPE, ["W_k", "(3, 4)", "(2, 4)"]),
    "head: W_v rows": (lambda: attention(X, W, W, W.T), SHAPE, ["W_v", "(3, 4)", "(2, 4)"]),
    "head: d_k": (lambda: attention(X, W, W[:, :1], W), SHAPE, ["d_k", "(4, 2)", "(4, 1)"]),
    "head: batch": (
        lambda: attention(np.ones((2, 3, 4)), W, np.ones((5, 4, 2)), W),
        SHAPE,
        ["X: (2,)", "W_k: (5,)"],
    ),
    "ragged": (lambda: softmax([[1, 2], [3]]), SHAPE, ["scores must be a rectangular"]),
    # Numbers that are none.
    "nan": (lambda: raw_attention(poke((2, 3), (1, 2), NAN)), VALUE, ["X[1, 2] is nan"]),
    "inf": (lambda: dot_product([1.0], [-INF]), VALUE, ["b[0] is -inf"]),
    "nan in W_k": (
        lambda: attention(X, W, poke((4, 2), (3, 0), NAN), W),
        VALUE,
        ["W_k[3, 0] is nan"],
    ),
    "softmax: nan": (
        lambda: softmax(poke((2, 3), (1, 0), NAN)),
        VALUE,
        ["scores[1, 0] is nan"],
    ),
    "softmax: inf": (lambda: softmax([0, 1, INF]), VALUE, ["scores[2] is inf"]),
    "softmax: −inf, then nan": (lambda: softmax([-INF, NAN]), VALUE, ["scores[1] is nan"]),
    "softmax: nothing but −inf": (lambda: softmax([-INF, -INF]), VALUE, ["scores is −∞"]),
    "softmax: a row of −inf": (
        lambda: softmax([[0, 0], [-INF, -INF], [-INF, -INF]]),
        VALUE,
        ["scores[1] is −∞"],
    ),
    # Types.
    "complex": (lambda: softmax([1j]), TYPE, ["scores", "complex128", "1j"]),
    "objects": (lambda: dot_product([None], [1]), TYPE, ["a must", "object", "None"]),
    "text": (lambda: softmax("river"), TYPE, ["scores", "<U5", "'river'"]),
    "numbers as text": (lambda: raw_attention([["1", "2"]]), TYPE, ["X must", "'1'"]),
    "no entry of another type": (lambda: softmax(np.empty(0, "U1")), TYPE, ["none"]),
    "dates": (lambda: softmax(np.array(["2020-01-01"], "M8[D]")), TYPE, ["datetime64"]),
    "whole numbers beyond 64 bits": (lambda: softmax([10**30]), TYPE, ["object"]),
    "an array that refuses": (lambda: softmax(Refusing()), TYPE, ["scores", "detach me first"]),
    # Finite numbers, too large a result.
    "dot: overflow": (lambda: dot_product([1e200], [1e200]), VALUE, ["float64: products is inf"]),
    "dot: overflow in a batch": (
        lambda: dot_product([[1.0], [1e200]], [1e200]),
        VALUE,
        ["products[1] is inf"],
    ),
    "Q overflows": (lambda: attention(X, W * 1e308, W, W), VALUE, ["Q[0, 0] is inf"]),
    "K overflows": (lambda: attention(X, W, W * 1e308, W), VALUE, ["K[0, 0] is inf"]),
    "V overflows": (lambda: attention(X, W, W, W * -1e308), VALUE, ["V[0, 0] is -inf"]),
    "masked scores overflow": (
        lambda: attention(np.diag([1e200, 1]), [[1], [0]], [[1], [0]], np.eye(2), causal=True),
        VALUE,
        ["too large for float64", "scores[0, 0] is inf"],
    ),
    # Shares of 1/27, rounded to float16, add up to more than 1.
    "output overflows": (
        lambda: attention(np.eye(27, dtype=np.float16), *[LARGEST * 0] * 2, LARGEST),
        VALUE,
        ["float16", "output[0, 0] is inf"],
    ),
    **{
        f"scores overflow {dtype.__name__}": (
            lambda dtype=dtype, huge=huge: raw_attention(np.full((2, 2), huge, dtype)),
            VALUE,
            [dtype.__name__, "scores[0, 0] is inf"],
        )
        for dtype, huge in HUGE.items()
    },
    # The mask.
    "mask: 0": (lambda: causal_mask(0), VALUE, ["n must be at least 1", "0"]),
    "mask: −1": (lambda: causal_mask(-1), VALUE, ["-1"]),
    "mask: 2.0": (lambda: causal_mask(2.0), TYPE, ["whole number", "2.0"]),
    "mask: True": (lambda: causal_mask(True), TYPE, ["True"]),
    "mask: text": (lambda: causal_mask("3"), TYPE, ["'3'"]),
}


@pytest.mark.parametrize(("call", "error", "shown"), BAD.values(), ids=list(BAD))
def test_refused(call, error, shown):
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert isinstance(caught.value, attnlab.AttnlabError)
    assert isinstance(caught.value, TypeError if error is TYPE else ValueError)
    for fragment in shown:
        assert fragment in str(caught.value)


@pytest.mark.parametrize("function", [softmax, raw_attention])
def test_a_masked_entry_is_refused_since_its_mask_would_be_lost(function):
    masked = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 0], [0, 1]])
    with pytest.raises(attnlab.InvalidTypeError, match="no masked entries"):
        function(masked)


@pytest.mark.parametrize("causal", ["no", float("nan"), None, 1, np.array([True])])
def test_causal_is_true_or_false(causal):
    with pytest.raises(attnlab.InvalidTypeError, match="causal must be True or False"):
        attention(np.eye(2), np.eye(2), np.eye(2), np.eye(2), causal=causal)
