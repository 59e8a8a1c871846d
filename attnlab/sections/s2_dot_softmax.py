"""S2. Dot product and softmax, each on its own."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from attnlab import figures
from attnlab.attention import Floats, dot_product, softmax
from attnlab.results_log import Block, columns_of, exact, pad, part
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
    others = [word for word in m.words if word not in (focus, *contexts)]
    first, *rest = [*contexts, *others[:1], focus]
    width = max(map(columns_of, [first, *rest]))
    yield spelled_out(focus, first, vector(focus), vector(first), width)
    for word in rest:
        yield dot(focus, word, dot_product(vector(focus), vector(word)).item(), width)
    yield softmaxes(m.words, m.scores, m.weights, m.sharp)


def spelled_out(first: str, second: str, a: Floats, b: Floats, width: int = 5) -> Block:
    """Return the dot product of two words, term by term."""
    name = f"dot.{part(f'{first}_{second}')}"
    block = Block(f"S2.{name}")
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    terms = " + ".join(f"{_factor(x)}*{_factor(y)}" for x, y in pairs)
    total = _total(block, name, dot_product(a, b).item())
    block.line(f"  {first} . {pad(second, width)} = {terms} {total}")
    return block


def dot(first: str, second: str, value: float, width: int = 5) -> Block:
    """Return the dot product of two words, as one number."""
    name = f"dot.{part(f'{first}_{second}')}"
    block = Block(f"S2.{name}")
    total = _total(block, name, value)
    block.line(f"  {first} . {pad(second, width)} {total}")
    return block


def _factor(value: float) -> str:
    """Return a number with all its digits, in brackets if it is below 0."""
    text = format(value, "z" + exact([value]))
    return f"({text})" if value < 0 else text


def _total(block: Block, name: str, value: float) -> str:
    """Return a dot product with the sign before it: ≈ if three decimals do not show all of it."""
    shown = block.number(name, value, ".3f")
    return f"{'=' if math.isclose(float(shown), value, rel_tol=1e-14) else '≈'} {shown}"


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
    # More than half is more than all the others together.
    winner = "one clear winner" if sharp.max() > 0.5 else "no clear winner"
    block.line(f"  {call:<{len(f'softmax({before})')}} = {after}  ({winner})")
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
