"""The built-in world is the specification's; other worlds work or are refused in words."""

import dataclasses

import numpy as np
import pytest

import attnlab
from attnlab import TOY_WORLD

VALUE, TYPE, SHAPE = attnlab.InvalidValueError, attnlab.InvalidTypeError, attnlab.ShapeError
UNKNOWN = attnlab.UnknownWordError

VECTORS = {
    "the": [0.0, 0.0, 0.0, 1.0],
    "river": [0.9, 0.0, 0.3, 0.0],
    "money": [0.0, 0.9, 0.1, 0.0],
    "bank": [0.3, 0.3, 0.9, 0.0],
}


def changed(**fields):
    """The built-in world with some fields replaced."""
    return dataclasses.replace(TOY_WORLD, **fields)


def test_the_world_of_the_specification():
    assert TOY_WORLD.axes == ("water", "money", "place", "filler")
    assert TOY_WORLD.words == tuple(VECTORS)
    assert TOY_WORLD.embeddings.tolist() == list(VECTORS.values())
    assert TOY_WORLD.sentences == ("the river bank", "the money bank")
    assert (TOY_WORLD.focus, TOY_WORLD.channels) == ("bank", ("topic", "place"))
    assert TOY_WORLD.W_Q.tolist() == [[0, 0], [0, 0], [2, 0], [0, 1.5]]
    assert TOY_WORLD.W_K.tolist() == [[1, 0], [1, 0], [0, 1], [0, 0]]


@pytest.mark.parametrize(
    "sentence",
    [
        "the river bank",
        "  the\triver\nbank ",
        ["the", "river", "bank"],
        iter(["the", "river", "bank"]),
    ],
    ids=["text", "white space", "list", "iterator"],
)
def test_embed(sentence):
    assert TOY_WORLD.embed(sentence).tolist() == [VECTORS[w] for w in ("the", "river", "bank")]


def test_words_may_repeat_in_a_sentence_of_ones_own():
    assert TOY_WORLD.split("the bank the river") == ("the", "bank", "the", "river")


def test_vector_context_and_main_axis():
    assert TOY_WORLD.vector("money").tolist() == VECTORS["money"]
    assert TOY_WORLD.context("the money bank") == "money"
    assert [TOY_WORLD.main_axis(word) for word in VECTORS] == [3, 0, 1, 2]


def test_the_world_is_frozen_and_hands_out_copies():
    with pytest.raises(dataclasses.FrozenInstanceError):
        TOY_WORLD.focus = "river"
    for array in (TOY_WORLD.embeddings, TOY_WORLD.W_Q, TOY_WORLD.W_K):
        assert array.dtype == np.float64
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1
    TOY_WORLD.embed("the river bank")[:] = 7
    TOY_WORLD.vector("bank")[:] = 7
    assert TOY_WORLD.embeddings.tolist() == list(VECTORS.values())


def test_a_world_is_equal_to_itself_alone():
    assert changed() != TOY_WORLD
    assert TOY_WORLD in {TOY_WORLD, changed()}


def test_the_arrays_of_a_world_are_copies():
    given = np.zeros((4, 2))
    world = changed(W_Q=given)
    given[:] = 1
    assert not world.W_Q.any()


def test_lists_and_whole_numbers_will_do():
    world = changed(
        axes=["wet", "dry"],
        channels=["only"],
        embeddings=[[0, 0], [1, 0], [0, 1], [1, 1]],
        sentences=["river bank", "money bank"],
        W_Q=[[1], [0]],
        W_K=[[0], [True]],
    )
    assert world.embed("bank").tolist() == [[1.0, 1.0]]
    assert world.axes == ("wet", "dry")


BAD = {
    "unknown word": (
        lambda: TOY_WORLD.embed("the rivver bank"),
        UNKNOWN,
        ["'rivver'", "did you mean 'river'?"],
    ),
    "another case": (lambda: TOY_WORLD.embed("the RIVER"), UNKNOWN, ["'RIVER'", "'river'?"]),
    "nothing near": (lambda: TOY_WORLD.vector("xyzzy"), UNKNOWN, ["the, river, money, bank"]),
    "two words": (lambda: TOY_WORLD.vector("river bank"), UNKNOWN, ["'river bank'"]),
    "no words": (lambda: TOY_WORLD.embed("  "), VALUE, ["at least one word", "'  '", "river"]),
    "an empty list": (lambda: TOY_WORLD.split([]), VALUE, ["at least one word"]),
    "a number": (lambda: TOY_WORLD.split(3), TYPE, ["3"]),
    "None": (lambda: TOY_WORLD.vector(None), TYPE, ["None"]),
    "bytes": (lambda: TOY_WORLD.split(b"river"), TYPE, ["114"]),
    "no context": (
        lambda: TOY_WORLD.context("the bank"),
        VALUE,
        ["'the bank'", "'the river bank'"],
    ),
    "axes: text": (lambda: changed(axes="wmpf"), TYPE, ["axes", "'wmpf'"]),
    "axes: a number": (lambda: changed(axes=4), TYPE, ["axes", "4"]),
    "words: numbers": (lambda: changed(words=(1, 2, 3, 4)), TYPE, ["words", "1, 2"]),
    "channels: none": (lambda: changed(channels=()), VALUE, ["channels", "empty"]),
    "words: twice": (lambda: changed(words=("a", "b", "a", "b")), VALUE, ["words", "'a'", "twice"]),
    "embeddings: shape": (
        lambda: changed(embeddings=np.ones((3, 4))),
        SHAPE,
        ["embeddings", "(4, 4)", "(3, 4)", "river", "water"],
    ),
    "embeddings: one axis": (lambda: changed(embeddings=[1.0]), SHAPE, ["embeddings", "(1,)"]),
    "W_Q: shape": (lambda: changed(W_Q=np.ones((2, 4))), SHAPE, ["W_Q", "(4, 2)", "(2, 4)"]),
    "W_K: shape": (lambda: changed(W_K=np.ones((4, 3))), SHAPE, ["W_K", "(4, 2)", "(4, 3)"]),
    "W_K: ragged": (lambda: changed(W_K=[[1, 2], [3]]), SHAPE, ["W_K", "rectangular"]),
    "W_K: nan": (lambda: changed(W_K=np.full((4, 2), np.nan)), VALUE, ["W_K[0, 0] is nan"]),
    "W_K: complex": (lambda: changed(W_K=np.full((4, 2), 1j)), TYPE, ["W_K", "complex"]),
    "W_K: text": (lambda: changed(W_K=[["1", "2"]] * 4), TYPE, ["W_K", "'1'"]),
    "sentences: none": (lambda: changed(sentences=()), VALUE, ["sentences", "empty"]),
    "sentences: text": (lambda: changed(sentences="the bank"), TYPE, ["sentences", "'the bank'"]),
    "sentences: one": (
        lambda: changed(sentences=("the river bank",)),
        VALUE,
        ["two or more", "'the river bank'"],
    ),
    "sentences: the same": (
        lambda: changed(sentences=("the river bank", "the river bank")),
        VALUE,
        ["'the river bank'"],
    ),
    "sentences: one within another": (
        lambda: changed(sentences=("the river bank", "the bank")),
        VALUE,
        ["'the bank'"],
    ),
    "sentences: one context for two": (
        lambda: changed(sentences=("the river bank", "river money bank", "the money bank")),
        VALUE,
        ["'the'", "that of two"],
    ),
    "sentences: a word twice": (
        lambda: changed(sentences=("the bank river bank", "the money bank")),
        VALUE,
        ["'the bank river bank'", "'bank'"],
    ),
    "sentences: unknown word": (
        lambda: changed(sentences=("the lake bank", "the money bank")),
        UNKNOWN,
        ["'lake'"],
    ),
    "sentences: no focus": (
        lambda: changed(sentences=("the river", "the money bank")),
        VALUE,
        ["'bank'", "'the river'"],
    ),
    "focus: unknown": (lambda: changed(focus="lake"), UNKNOWN, ["focus", "'lake'"]),
    "focus: no text": (lambda: changed(focus=None), TYPE, ["focus", "None"]),
}


@pytest.mark.parametrize(("call", "error", "shown"), BAD.values(), ids=list(BAD))
def test_refused(call, error, shown):
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert isinstance(caught.value, attnlab.AttnlabError)
    assert isinstance(caught.value, TypeError if error is TYPE else ValueError)
    for fragment in shown:
        assert fragment in str(caught.value)
