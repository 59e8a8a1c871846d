"""S5. Why scores are divided by √d_k, measured."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from attnlab import figures
from attnlab.results_log import Block
from attnlab.scaling import ScalingMeasurement, measure_scaling, stays_flat, winner_takes_all
from attnlab.sections.section import Section
from attnlab.toy_world import ToyWorld

#: The dimensions that are measured.
SIZES = (4, 16, 64, 256)
TRIALS = 2000
KEYS = 8


@dataclass(frozen=True)
class Measured:
    """One scaling measurement a size."""

    sizes: tuple[ScalingMeasurement, ...]


def measure(world: ToyWorld, rng: np.random.Generator) -> Measured:
    """Measure every size, drawing from the run's generator."""
    return Measured(tuple(measure_scaling(rng, d, TRIALS, KEYS) for d in SIZES))


def report(m: Measured) -> Iterator[Block]:
    """The section's blocks, in order."""
    yield setup()
    for size in m.sizes:
        yield measured(size)
    yield conclusion(m.sizes)


def setup() -> Block:
    """Return what is drawn, and how often."""
    block = Block("S5.setup")
    keys, trials = block.number("keys", KEYS, "d"), block.number("trials", TRIALS, "d")
    block.line(
        f"  random q, k entries drawn from N(0,1); {keys} keys per row; {trials} rows per size"
    )
    return block


def measured(size: ScalingMeasurement) -> Block:
    """Return what was measured at one size."""
    d = size.d
    block = Block(f"S5.size.{d}")
    dimension = block.number(f"d.{d}", d, "3d")
    std = block.number(f"std.{d}", size.std, "6.2f")
    root = block.number(f"sqrt.{d}", math.sqrt(d), "5.2f")
    unscaled = block.number(f"top_unscaled.{d}", size.top_unscaled, ".3f")
    scaled = block.number(f"top_scaled.{d}", size.top_scaled, ".3f")
    block.line(
        f"  d = {dimension}: dot-product std = {std}  (sqrt(d) = {root}) | "
        f"avg top weight: unscaled = {unscaled}, scaled = {scaled}"
    )
    return block


def conclusion(sizes: Sequence[ScalingMeasurement]) -> Block:
    """Return what the sizes show together."""
    block = Block("S5.conclusion")
    unscaled, scaled = "heads for 1.0 (winner-take-all)", "stays flat"
    if not winner_takes_all(sizes):
        unscaled = _from_to(block, {size.d: size.top_unscaled for size in sizes}, "unscaled")
    if not stays_flat(sizes):
        scaled = _from_to(block, {size.d: size.top_scaled for size in sizes}, "scaled")
    block.line(f"  unscaled top weight {unscaled}; scaled {scaled}")
    return block


def _from_to(block: Block, tops: dict[int, float], which: str) -> str:
    """Say where a top weight begins and ends."""
    ends = [block.number(f"top_{which}.{d}", tops[d], ".3f") for d in (min(tops), max(tops))]
    return f"goes from {' to '.join(ends)}"


SECTION = Section(
    "S5",
    "why scores are divided by sqrt(d_k)",
    measure,
    report,
    {"scaling_max_weight": lambda m: figures.scaling_max_weight(m.sizes, KEYS)},
)
