// Attention on plain arrays, one array a row: the mathematics of the explorer and nothing else.
// It calculates what attnlab.attention calculates; the tests compare the two.

export const identity = (size) =>
  Array.from({ length: size }, (_, i) => Array.from({ length: size }, (_, j) => Number(i === j)));

export const transposed = (A) => A[0].map((_, j) => A.map((row) => row[j]));

export const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

export const product = (A, B) => {
  const columns = transposed(B);
  return A.map((row) => columns.map((column) => dot(row, column)));
};

/** Turn scores, of which −∞ counts nothing, into weights that sum to 1. */
export function softmax(scores) {
  const largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/**
 * One head: softmax(sharpness · Q Kᵀ / √d_k) V, with Q = X W_Q, K = X W_K and V = X W_V.
 *
 * X has one row a word (n × axes), W_Q and W_K one row an axis and one column a channel, W_V one row
 * and one column an axis. `scaled` divides by √d_k, the root of the number of channels; `causal`
 * hides later words. Returns X, Q, K, V, the dot products (n × n), the scores that the softmax gets
 * (n × n), the weights (n × n) and the output (n × axes).
 */
export function attend({ X, W_Q, W_K, W_V, scaled, causal, sharpness }) {
  const Q = product(X, W_Q);
  const K = product(X, W_K);
  const V = product(X, W_V);
  const products = product(Q, transposed(K));
  const divisor = scaled ? Math.sqrt(W_Q[0].length) : 1;
  const scores = products.map((row, i) =>
    row.map((x, j) => (causal && j > i ? -Infinity : (x / divisor) * sharpness)),
  );
  const weights = scores.map(softmax);
  return { X, Q, K, V, products, scores, weights, output: product(weights, V) };
}
