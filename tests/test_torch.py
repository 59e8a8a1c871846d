"""The general head against PyTorch, on shapes where no two sizes are the same.

With sizes that differ, a wrong scale (√n for √d_k, or none), a wrong axis, a mask upside down
or transposed cannot pass.
"""

import numpy as np
import pytest

from attnlab import attention, causal_mask, softmax

torch = pytest.importorskip("torch", reason="PyTorch is not installed", exc_type=ImportError)
sdpa = torch.nn.functional.scaled_dot_product_attention

#: batch axes, words, d_model, d_k, d_v
SHAPES = [
    ((), 5, 7, 3, 4),
    ((2,), 3, 5, 4, 6),
    ((2, 3), 4, 6, 5, 7),
    ((), 1, 4, 2, 3),
    ((), 40, 16, 64, 8),
]
TOLERANCE = {np.float32: 2e-5, np.float64: 1e-13}


@pytest.mark.parametrize("causal", [False, True], ids=["plain", "causal"])
@pytest.mark.parametrize("dtype", TOLERANCE, ids=["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_attention(shape, dtype, causal):
    batch, n, d_model, d_k, d_v = shape
    rng = np.random.default_rng(0)
    X, W_q, W_k, W_v = (
        rng.standard_normal(size).astype(dtype)
        for size in ((*batch, n, d_model), (d_model, d_k), (d_model, d_k), (d_model, d_v))
    )
    words = torch.from_numpy(X)
    Q, K, V = (words @ torch.from_numpy(W) for W in (W_q, W_k, W_v))
    ours = attention(X, W_q, W_k, W_v, causal=causal)
    for theirs in (
        sdpa(Q, K, V, is_causal=causal),
        sdpa(Q, K, V, attn_mask=torch.from_numpy(causal_mask(n)) if causal else None),
    ):
        assert ours.output.dtype == dtype
        np.testing.assert_allclose(
            ours.output, theirs.numpy(), rtol=TOLERANCE[dtype], atol=4 * TOLERANCE[dtype]
        )


@pytest.mark.parametrize("dtype", TOLERANCE, ids=["float32", "float64"])
def test_softmax(dtype):
    scores = (9 * np.random.default_rng(0).standard_normal((2, 3, 5))).astype(dtype)
    scores[0, 1, 2] = -np.inf
    theirs = torch.softmax(torch.from_numpy(scores), dim=-1).numpy()
    np.testing.assert_allclose(softmax(scores), theirs, rtol=TOLERANCE[dtype])
