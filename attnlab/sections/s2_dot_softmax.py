"""S2. Dot product and softmax, each on its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from attnlab import figures
from attnlab.attention import Floats, dot_product, softmax
from attnlab.results_log import Block
from attnlab.sections.section import Section
from attnlab.toy_world import ToyWorld

#: The 2-D vectors whose dot products the first figure shows, by what they are to each other.
ARROWS = {
    "similar": ((1.0, 0.4), (0.9, 0.5)),
    "perpendicular": ((1.0, 0.0), (0.0, 1.0)),
    "opposite": ((1.0, 0.3), (-0.9, -0.4)),
}
#: What the scores are multiplied by to show a sharper softmax.
SHARPNESS = 5


@dataclass(frozen=True)
class Measured:
    """The focus word's dot products, and the softmax of its scores in the first sentence."""

    world: ToyWorld
    words: tuple[str, ...]
    scores: Floats
    weights: Floats
    sharp: Floats


def measure(world: ToyWorld, rng: np.random.Generator) -> Measured:
    """Score the focus word against each word of the first sentence, and take the softmax."""
    sentence = world.sentences[0]
    scores = dot_product(world.vector(world.focus), world.embed(sentence))
    return Measured(
        world, world.split(sentence), scores, softmax(scores), softmax(SHARPNESS * scores)
    )


def report(m: Measured) -> Iterator[Block]:
    """The section's blocks, in order."""
    focus, vector = m.world.focus, m.world.vector
    contexts = [m.world.context(sentence) for sentence in m.world.sentences]
    yield spelled_out(focus, contexts[0], vector(focus), vector(contexts[0]))
    others = [word for word in m.words if word not in (focus, *contexts)]
    for word in [*contexts[1:], *others[:1], focus]:
        yield dot(focus, word, dot_product(vector(focus), vector(word)).item())
    yield softmaxes(m.words, m.scores, m.weights, m.sharp)


def spelled_out(first: str, second: str, a: Floats, b: Floats) -> Block:
    """Return the dot product of two words, term by term."""
    block = Block(f"S2.dot.{first}_{second}")
    terms = " + ".join(f"{x:.1f}*{y:.1f}" for x, y in zip(a, b, strict=True))
    total = block.number(f"dot.{first}_{second}", dot_product(a, b).item(), ".3f")
    block.line(f"  {first} . {second} = {terms} = {total}")
    return block


def dot(first: str, second: str, value: float) -> Block:
    """Return the dot product of two words, as one number."""
    block = Block(f"S2.dot.{first}_{second}")
    total = block.number(f"dot.{first}_{second}", value, ".3f")
    block.line(f"  {first} . {second:<5} = {total}")
    return block


def softmaxes(
    words: Sequence[str],
    scores: Floats,
    weights: Floats,
    sharp: Floats,
) -> Block:
    """Return the softmax of the scores, and of the same scores made sharper."""
    block = Block("S2.softmax")
    before = block.numbers("scores", words, scores)
    after = block.numbers("softmax", words, weights)
    total = block.number("softmax_sum", weights.sum(), ".6f")
    block.line(f"  softmax({before}) = {after}  (sum = {total})")
    after = block.numbers("softmax_sharp", words, sharp)
    call = f"softmax(same scores x {SHARPNESS})"
    block.line(f"  {call:<30} = {after}  (one clear winner)")
    return block


SECTION = Section(
    "S2",
    "dot product and softmax, on their own",
    measure,
    report,
    {
        "dot_product_arrows": lambda m: figures.dot_product_arrows(ARROWS),
        "softmax_in_action": lambda m: figures.softmax_in_action(
            m.world, m.words, m.scores, m.weights, m.sharp, SHARPNESS
        ),
    },
)
