"""What must hold for any numbers: properties of softmax and attention."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attnlab import attention, raw_attention, softmax

EPS = np.finfo(np.float64).eps


def numbers(limit, width=64):
    return st.floats(-limit, limit, width=width)


@st.composite
def heads(draw, limit=3.0, width=64):
    """X, W_q, W_k, W_v whose sizes all may differ, with batch axes or without."""
    batch = draw(st.sampled_from([(), (2,), (2, 1)]))
    n, d_model, d_k, d_v = (draw(st.integers(1, 5)) for _ in range(4))
    shapes = (*batch, n, d_model), (d_model, d_k), (d_model, d_k), (d_model, d_v)
    dtype = np.dtype(f"f{width // 8}")
    return [draw(arrays(dtype, shape, elements=numbers(limit, width))) for shape in shapes]


SCORES = arrays(np.float64, array_shapes(max_dims=3, max_side=6), elements=numbers(1e3))


@given(SCORES)
def test_weights_are_positive_shares_of_1(scores):
    weights = softmax(scores)
    assert ((weights >= 0) & (weights <= 1)).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=8 * EPS)


@given(SCORES, numbers(1e3))
def test_softmax_does_not_see_a_shift(scores, shift):
    np.testing.assert_allclose(softmax(scores + shift), softmax(scores), rtol=1e-11, atol=1e-300)


@given(SCORES)
def test_softmax_keeps_the_order_of_scores(scores):
    order = np.argsort(scores, axis=-1)
    assert (np.diff(np.take_along_axis(softmax(scores), order, axis=-1), axis=-1) >= 0).all()


@given(heads(), st.booleans())
def test_each_row_of_attention_sums_to_1(head, causal):
    weights = attention(*head, causal=causal).weights
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=8 * EPS)


@given(heads(), st.randoms(use_true_random=False))
def test_permuted_words_give_permuted_outputs(head, random):
    X, *Ws = head
    order = list(range(X.shape[-2]))
    random.shuffle(order)
    for ours, permuted in (
        (attention(X, *Ws), attention(X[..., order, :], *Ws)),
        (raw_attention(X), raw_attention(X[..., order, :])),
    ):
        np.testing.assert_allclose(permuted.output, ours.output[..., order, :], atol=1e-11)
        rows = ours.weights[..., order, :]
        np.testing.assert_allclose(permuted.weights, rows[..., order], atol=1e-11)


@given(heads(), st.integers(0, 2**32))
def test_later_words_change_nothing_for_earlier_ones(head, seed):
    X, *Ws = head
    later = np.random.default_rng(seed).standard_normal((*X.shape[:-2], 3, X.shape[-1]))
    n = X.shape[-2]
    alone = attention(X, *Ws, causal=True)
    longer = attention(np.concatenate([X, later], axis=-2), *Ws, causal=True)
    np.testing.assert_allclose(longer.output[..., :n, :], alone.output, atol=1e-12)
    np.testing.assert_allclose(longer.weights[..., :n, :n], alone.weights, atol=1e-12)
    assert not longer.weights[..., :n, n:].any()


@given(heads(), st.booleans())
def test_an_output_lies_among_the_values_it_may_see(head, causal):
    X, W_q, W_k, W_v = head
    V, output = X @ W_v, attention(X, W_q, W_k, W_v, causal=causal).output
    slack = 16 * EPS * (1 + abs(V).max())
    for i in range(X.shape[-2]):
        seen = V[..., : i + 1 if causal else None, :]
        assert (output[..., i, :] >= seen.min(axis=-2) - slack).all()
        assert (output[..., i, :] <= seen.max(axis=-2) + slack).all()


@given(heads())
def test_raw_scores_are_symmetric(head):
    scores = raw_attention(head[0]).scores
    np.testing.assert_allclose(scores, scores.mT, rtol=0, atol=1e-13)


@given(heads(limit=1.0, width=32), st.booleans())
def test_float32_agrees_with_float64(head, causal):
    single = attention(*head, causal=causal)
    double = attention(*(array.astype(np.float64) for array in head), causal=causal)
    for ours, expected in zip(single, double, strict=True):
        assert ours.dtype == np.float32
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_equal_words_share_equally(n):
    weights = raw_attention(np.tile([0.3, -2.0], (n, 1))).weights
    np.testing.assert_allclose(weights, 1 / n, rtol=4 * EPS)
