// One number of the explorer, calculated in lines of text as a person would on paper. The wording is
// that of the lessons' tables.

export const PLACES = 3;
const minus = (text) => text.replace("-", "−");

/** A calculated number, rounded to three decimals; −0 is 0. */
export const shown = (x) => {
  if (x === -Infinity) return "−∞";
  const text = Math.abs(x) >= 1e15 ? x.toExponential(PLACES) : x.toFixed(PLACES);
  return minus(Number(text) === 0 ? text.replace("-", "") : text);
};
/** A number as the reader gave it. */
export const given = (x) => minus(String(x));
const factor = (x) => (x < 0 ? `(${given(x)})` : given(x));
const sign = (x) => (Math.abs(x - Number(x.toFixed(PLACES))) <= 1e-12 * Math.max(1, Math.abs(x)) ? "=" : "≈");
const equals = (x) => `${sign(x)} ${shown(x)}`;
const added = (terms) =>
  terms.map((term, i) => (i && term.startsWith("−") ? `+ (${term})` : i ? `+ ${term}` : term)).join(" ");

function products(names, a, b) {
  return names.map((name, i) => `${name}: ${factor(a[i])} × ${factor(b[i])} ${equals(a[i] * b[i])}`);
}

const total = (name, terms, sum) =>
  terms.length === 1 ? `${name} ${equals(sum)}` : `${name} = ${added(terms.map(shown))} ${equals(sum)}`;

/** Scores between these have handy exponentials; otherwise the largest is subtracted. */
const HANDY = [-1, 10];

/**
 * The lines that lead to one entry of a matrix.
 *
 * `kind` is Q, K, V, scores, weights or output; `i` and `j` the entry's row and column; `result`
 * what attend() gave for `head`, its input; `names` the words, axes and channels.
 */
export function lines(kind, i, j, head, result, { words, axes, channels }) {
  const word = words[i];
  if (kind === "Q" || kind === "K" || kind === "V") {
    const column = head[`W_${kind}`].map((row) => row[j]);
    const terms = result.X[i].map((x, axis) => x * column[axis]);
    const name = `${kind.toLowerCase()} of ${word}, ${(kind === "V" ? axes : channels)[j]}`;
    return [...products(axes, result.X[i], column), total(name, terms, result[kind][i][j])];
  }
  if (kind === "scores") {
    if (head.causal && j > i) return [`${words[j]} comes after ${word} and is hidden: −∞`];
    const terms = result.Q[i].map((q, channel) => q * result.K[j][channel]);
    const product = result.products[i][j];
    const steps = [...products(channels, result.Q[i], result.K[j])];
    steps.push(total(`${word} · ${words[j]}`, terms, product));
    let score = product;
    if (head.scaled) {
      const count = channels.length;
      score = product / Math.sqrt(count);
      steps.push(`divided: ${shown(product)} / √${count} ${equals(score)}`);
    }
    if (head.sharpness !== 1)
      steps.push(`sharpened: ${shown(score)} × ${given(head.sharpness)} ${equals(score * head.sharpness)}`);
    return steps;
  }
  if (kind === "weights") {
    if (head.causal && j > i) return [`${words[j]} comes after ${word} and is hidden: 0.000`];
    const seen = words.map((name, k) => [name, result.scores[i][k]]).filter(([, s]) => s !== -Infinity);
    const scores = seen.map(([, score]) => score);
    const [least, most] = [Math.min(...scores), Math.max(...scores)];
    const less = least < HANDY[0] || most > HANDY[1] ? most : 0;
    const powers = scores.map((score) => Math.exp(score - less));
    const sum = powers.reduce((a, b) => a + b, 0);
    const steps = less ? [`the largest score, ${shown(less)}, is subtracted from each`] : [];
    seen.forEach(([name, score], k) => {
      const power = score - less;
      steps.push(`${name}: e^${power < 0 ? `(${shown(power)})` : shown(power)} ${equals(powers[k])}`);
    });
    steps.push(total("sum", powers, sum));
    const at = seen.findIndex(([name]) => name === words[j]);
    steps.push(`share: ${shown(powers[at])} / ${shown(sum)} ${equals(result.weights[i][j])}`);
    return steps;
  }
  const terms = result.weights[i].map((weight, k) => weight * result.V[k][j]);
  return [
    ...words.map((name, k) =>
      `${name}: ${shown(result.weights[i][k])} × ${shown(result.V[k][j])} ${equals(terms[k])}`),
    total(`${word}, ${axes[j]}`, terms, result.output[i][j]),
  ];
}
