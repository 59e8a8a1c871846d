"""Lines, blocks and measurements by name."""

import dataclasses
import math

import numpy as np
import pytest

import attnlab
from attnlab import Block, Line, Measurement, ResultsLog


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (0.18549, ".3f", "0.185"),
        (-0.0001, ".3f", "0.000"),
        (-0.0, "5.2f", " 0.00"),
        (1.97, "6.2f", "  1.97"),
        (2.2e-16, ".2e", "2.20e-16"),
        (147456, ",d", "147,456"),
        (4, "3d", "  4"),
        (True, "", "True"),
        (False, ".3f", "False"),
    ],
)
def test_a_measurement_shows_itself(value, spec, text):
    assert Measurement("S1.x", value, spec).text == text


@pytest.mark.parametrize("value", [np.float64(0.5), np.float32(0.5), np.int64(2), np.bool_(True)])
def test_numpy_scalars_become_pythons(value):
    block = Block("S1.b")
    block.number("x", value)
    block.line("")
    [measurement] = block.lines[0].measurements
    assert type(measurement.value) in (float, int, bool)
    assert measurement.value == value


@pytest.mark.parametrize("value", [Measurement("S1.x", 1.0, ".1f"), Line("x")], ids=repr)
def test_what_was_logged_is_frozen(value):
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.text = "y"


def test_a_number_that_is_none_can_be_logged():
    log, block = ResultsLog(), Block("S1.b")
    block.line(block.number("x", math.nan, ".1f"))
    log.add(block)
    assert log.text == "nan\n"


def example():
    block = Block("S3.weights.here")
    block.line("a title")
    block.matrix("weights", ["the", "bank"], ["the", "bank"], np.array([[1, 0], [0.25, 0.75]]))
    block.line("row: " + block.numbers("row", ["x", "y"], np.array([0.125, 2]), ".1f"))
    block.line(f"noise {block.number('noise', 1e-16, '.0e', noise_bound=1e-14)}")
    return block


TEXT = """\
a title
                the    bank
    the       1.000   0.000
    bank      0.250   0.750
row: [0.1, 2.0]
noise 1e-16"""


def test_a_block_shows_its_lines():
    assert str(example()) == TEXT


def test_measurements_stand_on_their_lines_from_left_to_right():
    names = [[m.name for m in line.measurements] for line in example().lines]
    assert names == [
        [],
        [],
        ["S3.weights.the.the", "S3.weights.the.bank"],
        ["S3.weights.bank.the", "S3.weights.bank.bank"],
        ["S3.row.x", "S3.row.y"],
        ["S3.noise"],
    ]
    assert example().lines[5].measurements == (Measurement("S3.noise", 1e-16, ".0e", 1e-14),)


def test_rows_and_columns_must_fit():
    for rows, columns in ((["a"], ["a", "b"]), (["a", "b"], ["a"])):
        with pytest.raises(ValueError, match="zip"):
            Block("S1.b").matrix("m", rows, columns, np.eye(2))


def test_the_log_joins_blocks_and_numbers_lines():
    said = []
    log = ResultsLog(said.append)
    first = Block("S1.first")
    first.line("hello")
    log.add(first)
    log.add(example())
    assert log.text == f"hello\n{TEXT}\n"
    assert said == log.text.splitlines()
    assert log.lines[0] == Line("hello")
    assert log.blocks == {"S1.first": range(1, 2), "S3.weights.here": range(2, 8)}
    assert log.line_numbers["S3.weights.bank.the"] == 5
    assert log.measurements["S3.weights.bank.the"].value == 0.25
    assert log.skipped == {}


def test_a_measurement_shown_again_keeps_its_first_line():
    log = ResultsLog()
    for i in range(2):
        block = Block(f"S1.block{i}")
        block.line(block.number("x", 0.5, f".{i}f"))
        log.add(block)
    assert log.line_numbers == {"S1.x": 1}
    assert log.measurements["S1.x"].spec == ".0f"


def test_a_name_cannot_mean_two_values():
    log = ResultsLog()
    log.add(example())
    with pytest.raises(attnlab.InvalidValueError, match=r"already has .*'S3\.weights\.here'"):
        log.add(example())
    other = Block("S3.other")
    other.line(other.number("row.x", 3.0))
    with pytest.raises(attnlab.InvalidValueError, match=r"'S3\.row\.x' is 0\.125 on line 5 and 3"):
        log.add(other)
