"""S1. The toy world: axes, words, sentences."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attnlab.results_log import Block, exact
from attnlab.sections.section import Section
from attnlab.toy_world import ToyWorld


@dataclass(frozen=True)
class Measured:
    """S1 measures nothing: it shows the world as it is."""

    world: ToyWorld


def measure(world: ToyWorld, rng: np.random.Generator) -> Measured:
    """Take the world as it is."""
    return Measured(world)


def report(m: Measured) -> Iterator[Block]:
    """The section's blocks, in order."""
    yield embeddings(m.world)
    yield sentences(m.world)
    yield one_row(m.world)


def embeddings(world: ToyWorld) -> Block:
    """Return the axes and the table of the words' vectors."""
    block = Block("S1.embeddings")
    block.line(f"  embedding axes (hand-named): {', '.join(world.axes)}")
    specs = [exact(column) for column in world.embeddings.T]
    block.matrix("embedding", world.words, world.axes, world.embeddings, specs, "  word", 10)
    return block


def sentences(world: ToyWorld) -> Block:
    """Return the sentences that the workshop follows."""
    block = Block("S1.sentences")
    block.line("  test sentences: " + " / ".join(f'"{text}"' for text in world.sentences))
    return block


def one_row(world: ToyWorld) -> Block:
    """Return the point of the section: the focus word has one row."""
    block = Block("S1.one_row")
    block.line(f"  note: '{world.focus}' has exactly ONE row here, whichever sentence it is in")
    return block


SECTION = Section(
    "S1",
    "the toy world",
    measure,
    report,
)
