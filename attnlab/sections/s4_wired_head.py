"""S4. A query/key head wired by hand."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attnlab import figures
from attnlab.attention import AttentionResult, Floats, attention, raw_attention
from attnlab.results_log import Block
from attnlab.sections.s3_raw_attention import axis_values
from attnlab.sections.section import Section
from attnlab.toy_world import ToyWorld


@dataclass(frozen=True)
class Measured:
    """The wired head on the first sentence, with raw attention beside it."""

    world: ToyWorld
    words: tuple[str, ...]
    Q: Floats
    K: Floats
    scores: Floats
    wired: AttentionResult
    raw: AttentionResult


def measure(world: ToyWorld, rng: np.random.Generator) -> Measured:
    """Apply the wired head to the first sentence; the values are the embeddings themselves."""
    sentence = world.sentences[0]
    X = world.embed(sentence)
    Q, K = X @ world.W_Q, X @ world.W_K
    wired = attention(X, world.W_Q, world.W_K, np.eye(len(world.axes)))
    return Measured(world, world.split(sentence), Q, K, Q @ K.T, wired, raw_attention(X))


def report(m: Measured) -> Iterator[Block]:
    """The section's blocks, in order."""
    yield queries_and_keys(m.world, m.Q, m.K)
    yield scores(m.world, m.scores)
    yield weights(m.world, m.wired.weights)
    yield rows(m.world, m.raw.weights, m.wired.weights)
    yield output(m.world, m.wired.output)


def queries_and_keys(world: ToyWorld, Q: Floats, K: Floats) -> Block:
    """Return each word's query and key."""
    sentence, channels = world.sentences[0], world.channels
    block = Block("S4.queries_and_keys")
    block.line(
        f'  queries and keys for "{sentence}" ({len(channels)} channels: {", ".join(channels)}):'
    )
    for word, q, k in zip(world.split(sentence), Q, K, strict=True):
        query = block.numbers(f"query.{word}", channels, q, "5.2f")
        advertised = block.numbers(f"key.{word}", channels, k, "5.2f")
        block.line(f"    {word:<8}q = {query}   k = {advertised}")
    return block


def scores(world: ToyWorld, S: Floats) -> Block:
    """Return the scores before scaling, and one pair that shows whether they are symmetric."""
    words, focus = world.split(world.sentences[0]), world.focus
    context = world.context(world.sentences[0])
    block = Block("S4.scores")
    block.line("  score matrix Q @ K.T:")
    block.matrix("scores", words, words, S)
    symmetric = block.number("symmetric", bool(np.allclose(S, S.T, rtol=0, atol=1e-12)))
    i, j = words.index(focus), words.index(context)
    there = block.number(f"scores.{focus}.{context}", S[i, j], ".3f")
    back = block.number(f"scores.{context}.{focus}", S[j, i], ".3f")
    block.line(
        f"  symmetric? {symmetric}  ({focus}->{context} = {there}, {context}->{focus} = {back})"
    )
    return block


def weights(world: ToyWorld, A: Floats) -> Block:
    """Return the wired head's weights."""
    words = world.split(world.sentences[0])
    block = Block("S4.weights")
    block.line(f"  weights after dividing by sqrt({len(world.channels)}) and softmaxing each row:")
    block.matrix("weights", words, words, A)
    return block


def rows(world: ToyWorld, raw: Floats, wired: Floats) -> Block:
    """Return the focus word's and the first word's weights, raw against wired."""
    words = world.split(world.sentences[0])
    block = Block("S4.rows")
    for word, label in (
        (world.focus, f"{world.focus}'s row, "),
        (words[0], f"'{words[0]}'s row, "),
    ):
        i = words.index(word)
        before = block.numbers(f"raw_weights.{word}", words, raw[i])
        after = block.numbers(f"weights.{word}", words, wired[i])
        block.line(f"  {label} raw vs wired: {before} -> {after}")
    block.line(
        f"  {world.focus} now takes half its update from '{world.context(world.sentences[0])}'; "
        f"'{words[0]}' now looks at its noun"
    )
    return block


def output(world: ToyWorld, outputs: Floats) -> Block:
    """Return the focus word's output."""
    words = world.split(world.sentences[0])
    block = Block("S4.output")
    entries = axis_values(block, "output", world.axes, outputs[words.index(world.focus)])
    block.line(f"  {world.focus}'s output vector: {entries}")
    return block


SECTION = Section(
    "S4",
    "a hand-wired query/key head",
    measure,
    report,
    {
        "qk_vs_raw_heatmaps": lambda m: figures.qk_vs_raw_heatmaps(
            m.words, m.raw.weights, m.wired.weights
        )
    },
)
