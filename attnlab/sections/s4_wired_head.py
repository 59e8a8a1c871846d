"""S4. A query/key head wired by hand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from attnlab import figures
from attnlab.attention import AttentionResult, Floats, attention, raw_attention
from attnlab.results_log import Block, columns_of, fitting, pad, part
from attnlab.sections.s3_raw_attention import axis_values, is_symmetric
from attnlab.sections.section import Section
from attnlab.toy_world import TOY_WORLD, ToyWorld


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
        f'  queries and keys for "{sentence}" '
        f"({len(channels)} channel{'s' * (len(channels) > 1)}: {', '.join(channels)}):"
    )
    words = world.split(sentence)
    width = max(8, 2 + max(map(columns_of, words)))
    q_spec, k_spec = (fitting(values, 2, least=5) for values in (Q, K))
    for word, q, k in zip(words, Q, K, strict=True):
        query = block.numbers(f"query.{part(word)}", channels, q, q_spec)
        advertised = block.numbers(f"key.{part(word)}", channels, k, k_spec)
        block.line(f"    {pad(word, width)}q = {query}   k = {advertised}")
    return block


def scores(world: ToyWorld, S: Floats) -> Block:
    """Return the scores before scaling, and one pair that shows whether they are symmetric."""
    words, focus = world.split(world.sentences[0]), world.focus
    context = world.context(world.sentences[0])
    block = Block("S4.scores")
    block.line("  score matrix Q @ K.T:")
    block.matrix("scores", words, words, S)
    symmetric = block.number("symmetric", is_symmetric(S))
    i, j = words.index(focus), words.index(context)
    there = block.number(f"scores.{part(focus)}.{part(context)}", S[i, j], ".3f")
    back = block.number(f"scores.{part(context)}.{part(focus)}", S[j, i], ".3f")
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
    """Return the focus word's and another word's weights, raw against wired, and what changed."""
    words, focus = world.split(world.sentences[0]), world.focus
    context = world.context(world.sentences[0])
    other = next((word for word in words if word not in (focus, context)), context)
    block = Block("S4.rows")
    labels = {focus: f"{focus}'s row, ", other: f"'{other}'s row, "}
    width = max(map(columns_of, labels.values()))
    for word, label in labels.items():
        i = words.index(word)
        before = block.numbers(f"raw_weights.{part(word)}", words, raw[i])
        after = block.numbers(f"weights.{part(word)}", words, wired[i])
        block.line(f"  {pad(label, width)} raw vs wired: {before} -> {after}")
    i, j = words.index(focus), words.index(context)
    share = _share(block, focus, context, raw[i, j], wired[i, j])
    look = _look(world, other, _looks_at(words, raw, other), _looks_at(words, wired, other))
    block.line(f"  {share}{look}")
    return block


def _share(block: Block, focus: str, context: str, raw: float, wired: float) -> str:
    """Say how much of the focus word's update comes from the sentence's own word."""
    if f"{wired:.2f}" == "0.50" != f"{raw:.2f}":
        return f"{focus} now takes half its update from '{context}'"
    name = f"weights.{part(focus)}.{part(context)}"
    shown = block.number(name, wired, ".3f")
    if shown == f"{raw:.3f}":
        return f"{focus} still takes {shown} of its update from '{context}'"
    before = block.number(f"raw_{name}", raw, ".3f")
    return f"{focus} now takes {shown} of its update from '{context}', {before} before"


def _looks_at(words: Sequence[str], weights: Floats, word: str) -> str | None:
    """Return the word to which a word gives the largest weight, None if several share it."""
    row = weights[words.index(word)]
    largest = [word for word, weight in zip(words, row, strict=True) if row.max() - weight < 1e-9]
    return largest[0] if len(largest) == 1 else None


def _look(world: ToyWorld, word: str, before: str | None, after: str | None) -> str:
    """Say whether a word looks at another word than before; nothing if it cannot be said."""
    if before is None or after is None:
        return ""
    most = "itself" if after == word else f"'{after}'"
    if after == before:
        return f"; '{word}' still looks most at {most}"
    # Which word is a noun, no number says: it is known of the workshop's own sentence.
    if after == world.focus and world.sentences[0] == TOY_WORLD.sentences[0]:
        return f"; '{word}' now looks at its noun"
    return f"; '{word}' now looks most at {most}"


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
