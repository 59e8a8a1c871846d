"""S6. The general head: checked against PyTorch, masked, and its limits."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attnlab import figures
from attnlab.attention import Floats, attention, raw_attention
from attnlab.errors import MissingDependencyError
from attnlab.results_log import Block, part
from attnlab.sections.section import Section
from attnlab.toy_world import ToyWorld

#: Columns of the random W_q, W_k and W_v.
D_K = 3
#: The two comparisons' differences are rounding noise, since other processors and libraries add in
#: another order. Outputs are numbers of size about 1 that pass through some twenty roundings of
#: relative size 1.1e-16 each, so differences stay near 1e-15; a wrong formula is off by 1e-3 and
#: more. The bound lies between, an order of magnitude above the noise.
NOISE_BOUND = 1e-14

#: GPT-2's size, in entries a word, entries a head's query, heads a layer, layers.
D_MODEL, D_HEAD, HEADS, LAYERS = 768, 64, 12, 12


@dataclass(frozen=True)
class Measured:
    """Differences from PyTorch, the masked wired head, and the order check."""

    world: ToyWorld
    difference: float
    difference_causal: float
    causal_weights: Floats
    order_blind: bool


def measure(world: ToyWorld, rng: np.random.Generator) -> Measured:
    """Draw a random head, compare it with PyTorch, then mask and reverse.

    Raises
    ------
    MissingDependencyError
        If PyTorch cannot be imported.
    """
    sentence = world.sentences[0]
    X = world.embed(sentence)
    W_q, W_k, W_v = random_head(rng, len(world.axes))
    wired = attention(X, world.W_Q, world.W_K, np.eye(len(world.axes)), causal=True)
    return Measured(
        world,
        torch_difference(X, W_q, W_k, W_v),
        torch_difference(X, W_q, W_k, W_v, causal=True),
        wired.weights,
        is_order_blind(world, sentence),
    )


def random_head(rng: np.random.Generator, d_model: int) -> tuple[Floats, Floats, Floats]:
    """Draw W_q, W_k and W_v in that order, each of shape (d_model, D_K), from N(0, 1)."""
    W_q, W_k, W_v = (rng.standard_normal((d_model, D_K)) for _ in range(3))
    return W_q, W_k, W_v


def torch_difference(
    X: Floats,
    W_q: Floats,
    W_k: Floats,
    W_v: Floats,
    causal: bool = False,
) -> float:
    """Largest absolute difference between our head's output and PyTorch's.

    Parameters
    ----------
    X, W_q, W_k, W_v, causal
        As for :func:`attnlab.attention`.

    Returns
    -------
    float
        0 or a few times 1e-16, when both are right.

    Raises
    ------
    MissingDependencyError
        If PyTorch cannot be imported.
    """
    try:
        import torch
    except (ImportError, OSError) as error:  # OSError: a library of its own is missing
        raise MissingDependencyError(
            f"PyTorch is needed for this comparison and cannot be imported ({error}); "
            "install it with: python -m pip install 'attnlab[torch]'"
        ) from error
    Q, K, V = (torch.from_numpy(X @ W) for W in (W_q, W_k, W_v))
    theirs = torch.nn.functional.scaled_dot_product_attention(Q, K, V, is_causal=causal)
    ours = attention(X, W_q, W_k, W_v, causal=causal).output
    return float(np.abs(ours - theirs.numpy()).max())


def is_order_blind(world: ToyWorld, sentence: str) -> bool:
    """Whether the focus word's raw output stays the same when the sentence is reversed."""
    words = world.split(sentence)
    heads = {order: raw_attention(world.embed(order)) for order in (words, words[::-1])}
    forwards, backwards = (head.output[order.index(world.focus)] for order, head in heads.items())
    # Scores may differ by their rounding, and shift the weights, by which vectors are averaged.
    noise = 1e-13 * max(1, np.abs(heads[words].scores).max()) * np.abs(world.embed(words)).max()
    return bool(np.allclose(forwards, backwards, rtol=0, atol=noise))


def report(m: Measured) -> Iterator[Block]:
    """The section's blocks, in order."""
    yield comparison(m.difference)
    yield comparison_causal(m.difference_causal)
    yield causal_weights(m.world, m.causal_weights)
    yield row_sums(m.world, m.causal_weights)
    yield order_blindness(m.world, m.order_blind)
    yield counts()


def comparison(difference: float) -> Block:
    """Return the largest difference from PyTorch."""
    block = Block("S6.comparison")
    block.line("  ours vs torch.nn.functional.scaled_dot_product_attention:")
    shown = block.number("difference.plain", difference, ".2e", noise_bound=NOISE_BOUND)
    block.line(f"    max |difference| = {shown}")
    return block


def comparison_causal(difference: float) -> Block:
    """Return the largest difference from PyTorch when both mask."""
    block = Block("S6.comparison_causal")
    block.line("  same comparison with the causal mask on both sides:")
    shown = block.number("difference.causal", difference, ".2e", noise_bound=NOISE_BOUND)
    block.line(f"    max |difference| = {shown}")
    return block


def causal_weights(world: ToyWorld, A: Floats) -> Block:
    """Return the wired head's weights under the causal mask."""
    words = world.split(world.sentences[0])
    block = Block("S6.causal_weights")
    block.line("  wired head with a causal mask (upper right forced to 0):")
    block.matrix("causal_weights", words, words, A)
    return block


def row_sums(world: ToyWorld, A: Floats) -> Block:
    """Return the sum of each row of masked weights."""
    words = world.split(world.sentences[0])
    block = Block("S6.row_sums")
    sums = ", ".join(
        block.number(f"row_sum.{part(word)}", total, ".6f")
        for word, total in zip(words, A.sum(axis=-1), strict=True)
    )
    block.line(f"  every row still sums to 1: {sums}")
    return block


def order_blindness(world: ToyWorld, same: bool) -> Block:
    """Return whether reversing the sentence changes the focus word's output."""
    sentence = world.sentences[0]
    reversed_sentence = " ".join(reversed(world.split(sentence)))
    block = Block("S6.order_blindness")
    block.line(f'  order-blindness: {world.focus}\'s output in "{sentence}" equals its')
    answer = block.number("order_blind", same)
    hint = " (real LLMs add position information)" if same else ""
    block.line(f'  output in "{reversed_sentence}" -> {answer}{hint}')
    return block


def counts() -> Block:
    """Return how many weights attention has at GPT-2's size, biases left out."""
    head = 3 * D_MODEL * D_HEAD
    layer = HEADS * head + D_MODEL * D_MODEL
    block = Block("S6.counts")
    d_model, d_k = block.number("d_model", D_MODEL, "d"), block.number("d_k", D_HEAD, "d")
    per_head = block.number("parameters.head", head, ",d")
    block.line(
        f"  one GPT-2 sized head: d_model = {d_model}, d_k = {d_k} "
        f"-> W_q + W_k + W_v = {per_head} numbers"
    )
    heads, layers = block.number("heads", HEADS, "d"), block.number("layers", LAYERS, "d")
    total = block.number("parameters.attention", LAYERS * layer, ",d")
    block.line(
        f"  {heads} heads x {layers} layers (+ output projections) "
        f"-> {total} attention parameters of GPT-2's ~124M"
    )
    return block


SECTION = Section(
    "S6",
    "the general head, checked against PyTorch",
    measure,
    report,
    {
        "causal_mask": lambda m: figures.causal_mask(
            m.world.split(m.world.sentences[0]), m.causal_weights
        )
    },
)
