"""S3. Attention with raw embeddings: nothing learned."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from attnlab import figures
from attnlab.attention import AttentionResult, Floats, raw_attention
from attnlab.results_log import Block, columns_of, fitting, pad, part
from attnlab.sections.section import Section
from attnlab.toy_world import ToyWorld


@dataclass(frozen=True)
class Measured:
    """Raw attention on every sentence."""

    world: ToyWorld
    heads: dict[str, AttentionResult]

    def focus_output(self, sentence: str) -> Floats:
        """The focus word's output in a sentence."""
        row = self.world.split(sentence).index(self.world.focus)
        output: Floats = self.heads[sentence].output[row]
        return output


def measure(world: ToyWorld, rng: np.random.Generator) -> Measured:
    """Apply raw attention to every sentence."""
    return Measured(world, {text: raw_attention(world.embed(text)) for text in world.sentences})


def report(m: Measured) -> Iterator[Block]:
    """The section's blocks, in order."""
    first, *others = m.world.sentences
    yield input_check(m.world)
    yield scores(m.world, first, m.heads[first].scores)
    yield weights(m.world, first, m.heads[first].weights, softmaxed=True)
    for text in others:
        yield weights(m.world, text, m.heads[text].weights)
    outputs = {text: m.focus_output(text) for text in m.world.sentences}
    yield outputs_table(m.world, outputs)
    yield contrast(m.world, outputs)


def key(world: ToyWorld, sentence: str) -> str:
    """The name of a sentence within measurement names: *river_bank*."""
    return part(f"{world.context(sentence)}_{world.focus}")


def input_check(world: ToyWorld) -> Block:
    """Return whether the focus word enters with the same row in every sentence."""
    rows = [world.embed(text)[world.split(text).index(world.focus)] for text in world.sentences]
    same = all(np.array_equal(row, rows[0]) for row in rows)
    block = Block("S3.input_check")
    answer = block.number("input_identical", same)
    both = "both" if len(rows) == 2 else f"all {len(rows)}"
    block.line(f"  input check: '{world.focus}' row identical in {both} sentences -> {answer}")
    return block


def scores(world: ToyWorld, sentence: str, S: Floats) -> Block:
    """Return the score matrix of a sentence, and whether it is symmetric."""
    name, words = f"scores.{key(world, sentence)}", world.split(sentence)
    block = Block(f"S3.{name}")
    block.line(f'  score matrix S = X @ X.T for "{sentence}":')
    block.matrix(name, words, words, S)
    symmetric = is_symmetric(S)
    shown = block.number("symmetric", symmetric)
    block.line(f"  symmetric? {shown}{' (S[i,j] always equals S[j,i] here)' if symmetric else ''}")
    return block


def weights(world: ToyWorld, sentence: str, A: Floats, softmaxed: bool = False) -> Block:
    """Return the weight matrix of a sentence; `softmaxed` says again where it comes from."""
    name, words = f"weights.{key(world, sentence)}", world.split(sentence)
    block = Block(f"S3.{name}")
    how = " (each row softmaxed)" if softmaxed else ""
    block.line(f'  attention weights{how} for "{sentence}":')
    block.matrix(name, words, words, A)
    return block


def outputs_table(world: ToyWorld, outputs: dict[str, Floats]) -> Block:
    """Return the focus word's output in each sentence, on every axis."""
    block = Block("S3.outputs")
    block.line(f"  {world.focus}'s output vector ({', '.join(world.axes)}):")
    labels = [f'in "{sentence}":' for sentence in outputs]
    width = max(map(columns_of, labels))
    specs = [fitting(column, 3) for column in np.array([*outputs.values()]).T]
    for label, (sentence, output) in zip(labels, outputs.items(), strict=True):
        entries = axis_values(block, f"output.{key(world, sentence)}", world.axes, output, specs)
        block.line(f"    {pad(label, width)} {entries}")
    return block


def contrast(world: ToyWorld, outputs: dict[str, Floats]) -> Block:
    """Return each output on the axes that the sentences' own words stand for."""
    contexts = [world.context(sentence) for sentence in outputs]
    axes = list(dict.fromkeys(map(world.main_axis, contexts)))
    width = max(map(columns_of, contexts))
    versus = " vs ".join(world.axes[axis] for axis in axes)
    block = Block("S3.contrast")
    for sentence, output in outputs.items():
        prefix = f"output.{key(world, sentence)}"
        values = " vs ".join(
            block.number(f"{prefix}.{part(world.axes[axis])}", output[axis], ".3f") for axis in axes
        )
        start = pad(f"{world.context(sentence)} sentence:", width + len(" sentence:"))
        block.line(f"  {versus}, {start} {values}")
    return block


def axis_values(
    block: Block, name: str, axes: Sequence[str], values: Floats, specs: Sequence[str] = ()
) -> str:
    """Format a vector as ``water=0.435  money=0.149``, each a measurement ``name.axis``."""
    return "  ".join(
        f"{axis}={block.number(f'{name}.{part(axis)}', value, spec)}"
        for axis, value, spec in zip(axes, values, specs or [".3f"] * len(axes), strict=True)
    )


def is_symmetric(S: Floats) -> bool:
    """Whether a matrix is its own transpose, up to the rounding of numbers of its size."""
    return bool(np.allclose(S, S.T, rtol=0, atol=1e-12 * np.abs(S).max()))


SECTION = Section(
    "S3",
    "attention with raw embeddings (no learned parts)",
    measure,
    report,
    {
        "raw_attention_heatmaps": lambda m: figures.raw_attention_heatmaps(
            {text: (m.world.split(text), head.weights) for text, head in m.heads.items()}
        ),
        "bank_water_money_plane": lambda m: figures.bank_water_money_plane(
            m.world, {text: m.focus_output(text) for text in m.heads}
        ),
    },
)
