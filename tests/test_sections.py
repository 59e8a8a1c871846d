"""What the sections measure and log: by name, on the built-in world and on others."""

import math
import re

import numpy as np
import pytest

import attnlab
from attnlab import TOY_WORLD, ToyWorld
from attnlab.reproduce import canonical_text
from attnlab.sections import SECTIONS, s5_scaling, s6_general_head

WITHOUT_TORCH = ["S1", "S2", "S3", "S4", "S5"]


def test_the_table_of_sections():
    assert [section.name for section in SECTIONS] == [f"S{i}" for i in range(1, 7)]
    headings = re.findall(r"^\[S\d\] .*$", canonical_text(), re.MULTILINE)
    assert [section.heading for section in SECTIONS] == headings


def test_each_measurement_stands_on_its_line(log):
    for number, line in enumerate(log.lines, start=1):
        rest = line.text
        for measurement in line.measurements:
            _, found, rest = rest.partition(measurement.text)
            assert found, f"line {number} does not show {measurement.name}"
            assert measurement.name.split(".")[0] == section_of(log, number)
            assert log.line_numbers[measurement.name] <= number


def section_of(log, number):
    return next(name for name, lines in log.blocks.items() if number in lines).split(".")[0]


def test_only_prose_and_spelled_out_terms_hold_numbers_without_a_name(log):
    unnamed = set()
    for line in log.lines:
        text = line.text
        for measurement in line.measurements:
            text = text.replace(measurement.text, "", 1)
        if re.search(r"\d\.\d", text) and not text.startswith(("[plot", "torch")):
            unnamed.add(text)
    assert unnamed == {
        "  bank . river = 0.3*0.9 + 0.3*0.0 + 0.9*0.3 + 0.0*0.0 = ",
        "  unscaled top weight heads for 1.0 (winner-take-all); scaled stays flat",
    }


NAMED = {
    "S1.embedding.bank.place": 0.9,
    "S2.dot.bank_river": 0.54,
    "S2.softmax_sum": 1.0,
    "S3.input_identical": True,
    "S3.symmetric": True,
    "S3.scores.river_bank.river.bank": 0.54,
    "S3.output.river_bank.water": 0.4347,
    "S3.output.money_bank.money": 0.4088,
    "S4.query.bank.topic": 1.8,
    "S4.key.bank.place": 0.9,
    "S4.symmetric": False,
    "S4.weights.bank.river": 0.4997,
    "S4.output.water": 0.5520,
    "S5.trials": 2000,
    "S5.std.64": 8.01,
    "S6.order_blind": True,
    "S6.causal_weights.the.bank": 0.0,
    "S6.parameters.head": 147456,
    "S6.parameters.attention": 28311552,
}


@pytest.mark.torch
@pytest.mark.parametrize(("name", "value"), NAMED.items())
def test_named_measurements(log, name, value):
    measurement = log.measurements[name]
    assert measurement.value == pytest.approx(value, abs=5e-3)
    assert measurement.text in log.lines[log.line_numbers[name] - 1].text


@pytest.mark.torch
def test_noise_alone_has_a_bound(log):
    bounds = {name: m.noise_bound for name, m in log.measurements.items() if m.noise_bound}
    assert bounds == {"S6.difference.plain": 1e-14, "S6.difference.causal": 1e-14}
    assert all(log.measurements[name].value < 1e-14 for name in bounds)


def test_s5_draws_and_measures_as_specified(summary):
    """Every digit of S5, from draws made trial by trial and summed in extended precision."""
    rng = np.random.default_rng(0)
    margins = []
    for d in (4, 16, 64, 256):
        block = [(rng.standard_normal(d), rng.standard_normal((8, d))) for _ in range(2000)]
        dots = np.array(
            [(K.astype(np.longdouble) * q).sum(axis=-1, dtype=np.longdouble) for q, K in block]
        )
        tops = [
            (1 / np.exp((dots - dots.max(axis=1, keepdims=True)) / divisor).sum(axis=1)).mean()
            for divisor in (1, np.sqrt(np.longdouble(d)))
        ]
        line = next(x for x in canonical_text().splitlines() if x.startswith(f"  d = {d:>3}:"))
        printed = re.findall(r"\d+\.?\d*", line)
        exact = [d, dots.std(), np.sqrt(np.longdouble(d)), *tops]
        for digits, value in zip(printed, exact, strict=True):
            half = 0.5 * 10.0 ** -len(digits.partition(".")[2])
            off = abs(float(value - np.longdouble(digits)))
            assert off < half
            margins.append((half - off, f"{digits} at d = {d}: {value:.7f}"))
    margin, where = min(margins)
    summary(f"digits: S5's closest rounding margin is {margin:.2g} ({where})")
    assert margin > 1e-9
    # The next draws are S6's.
    ours = np.random.default_rng(0)
    s5_scaling.measure(TOY_WORLD, ours)
    for W in s6_general_head.random_head(ours, 4):
        np.testing.assert_array_equal(W, rng.standard_normal((4, 3)))


def test_s6_order_blindness_is_measured_not_assumed(monkeypatch):
    assert s6_general_head.is_order_blind(TOY_WORLD, "the river bank")

    def with_positions(X):
        return attnlab.raw_attention(X + 0.01 * np.arange(len(X))[:, None])

    monkeypatch.setattr(s6_general_head, "raw_attention", with_positions)
    assert not s6_general_head.is_order_blind(TOY_WORLD, "the river bank")


@pytest.mark.torch
@pytest.mark.parametrize("causal", [False, True])
def test_s6_sees_a_wrong_formula(monkeypatch, causal):
    rng = np.random.default_rng(0)
    X, Ws = TOY_WORLD.embed("the river bank"), s6_general_head.random_head(rng, 4)
    assert s6_general_head.torch_difference(X, *Ws, causal=causal) < 1e-14

    def wrong(X, W_q, W_k, W_v, causal=False):
        scale = math.sqrt(X.shape[0] + 1) / math.sqrt(W_k.shape[-1])
        return attnlab.attention(X, W_q * scale, W_k, W_v, causal)

    monkeypatch.setattr(s6_general_head, "attention", wrong)
    assert s6_general_head.torch_difference(X, *Ws, causal=causal) > 1e-3


OTHER_WORLDS = {
    "three sentences, three channels": ToyWorld(
        axes=("sport", "animal", "night"),
        words=("a", "bat", "ball", "cave", "moon"),
        embeddings=[[0, 0, 0], [1, 1, 0.5], [1, 0, 0], [0, 1, 1], [0, -0.5, 1]],
        sentences=("a ball bat", "a cave bat", "bat moon a"),
        focus="bat",
        channels=("x", "y", "z"),
        W_Q=np.eye(3),
        W_K=np.eye(3)[::-1],
    ),
    "two words, one axis, one channel": ToyWorld(
        axes=("size",),
        words=("bank", "river", "money"),
        embeddings=[[0.0], [1.0], [-1.0]],
        sentences=("river bank", "bank money"),
        focus="bank",
        channels=("only",),
        W_Q=[[1.0]],
        W_K=[[-1.0]],
    ),
}


@pytest.mark.parametrize("world", OTHER_WORLDS.values(), ids=list(OTHER_WORLDS))
def test_readers_bring_worlds_of_their_own(world):
    drawn = []
    log = attnlab.run(
        WITHOUT_TORCH, world=world, save_figure=lambda name, figure: drawn.append(name)
    )
    for sentence in world.sentences:
        X = world.embed(sentence)
        row = world.split(sentence).index(world.focus)
        output = attnlab.raw_attention(X).output[row]
        for axis, value in zip(world.axes, output, strict=True):
            name = f"S3.output.{world.context(sentence)}_{world.focus}.{axis}"
            assert log.measurements[name].value == value
    assert f"toy world: {len(world.words)}-word" in log.text
    assert drawn == [name for section in SECTIONS[:5] for name in section.figures]


def test_the_input_check_counts_sentences():
    world = OTHER_WORLDS["three sentences, three channels"]
    assert "identical in all 3 sentences" in attnlab.run(["S3"], world=world).text
