"""The toy world: a few words, hand-named axes, and a hand-wired query/key head.

A :class:`ToyWorld` is a frozen value that sections, figures and lessons take as an argument.
The one that is built in is :data:`TOY_WORLD`.
"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnlab.errors import InvalidTypeError, InvalidValueError, ShapeError, UnknownWordError


@dataclass(frozen=True, eq=False)
class ToyWorld:
    """Words with hand-written vectors, sentences of them, and a head wired by hand.

    Parameters
    ----------
    axes : tuple of str
        The names of the embedding axes.
    words : tuple of str
        The vocabulary.
    embeddings : array_like, shape (len(words), len(axes))
        One row a word.
    sentences : tuple of str
        At least two sentences of known words; each holds the focus word and one word that the
        others lack.
    focus : str
        The word whose output the workshop follows.
    channels : tuple of str
        The names of the wired head's query/key channels.
    W_Q, W_K : array_like, shape (len(axes), len(channels))
        What each axis asks and what each axis advertises on each channel.

    Raises
    ------
    UnknownWordError
        If a sentence holds a word that has no vector.
    ShapeError
        If an array's shape does not follow from the names.
    InvalidValueError
        If a name is repeated, a number is not finite, or the sentences cannot be told apart.

    Notes
    -----
    The arrays are copied to float64 and made read-only.
    """

    axes: tuple[str, ...]
    words: tuple[str, ...]
    embeddings: NDArray[np.float64]
    sentences: tuple[str, ...]
    focus: str
    channels: tuple[str, ...]
    W_Q: NDArray[np.float64]
    W_K: NDArray[np.float64]

    def __post_init__(self) -> None:
        for field in ("axes", "words", "channels"):
            names = tuple(getattr(self, field))
            repeated = sorted({name for name in names if names.count(name) > 1})
            if repeated or not names:
                came = f"{', '.join(map(repr, repeated))} twice" if repeated else "none"
                raise InvalidValueError(f"{field} must be different names, but there is {came}")
            object.__setattr__(self, field, names)
        for field, rows, columns in (
            ("embeddings", self.words, self.axes),
            ("W_Q", self.axes, self.channels),
            ("W_K", self.axes, self.channels),
        ):
            array = np.array(getattr(self, field), dtype=np.float64)
            if array.shape != (len(rows), len(columns)):
                raise ShapeError(
                    f"{field} must have shape {(len(rows), len(columns))}, one row for each of "
                    f"{', '.join(rows)} and one column for each of {', '.join(columns)}, "
                    f"but it has shape {array.shape}"
                )
            if not np.isfinite(array).all():
                raise InvalidValueError(f"{field} must hold finite numbers, but it is {array}")
            array.flags.writeable = False
            object.__setattr__(self, field, array)
        object.__setattr__(self, "sentences", tuple(self.sentences))
        for sentence in self.sentences:
            if self.focus not in self.split(sentence):
                raise InvalidValueError(
                    f"every sentence must hold the focus word {self.focus!r}, "
                    f"but {sentence!r} does not"
                )
            self.context(sentence)

    def split(self, sentence: str | Iterable[str]) -> tuple[str, ...]:
        """The words of a sentence, each known to this world.

        Parameters
        ----------
        sentence : str or iterable of str
            Words apart by white space, or the words themselves.

        Returns
        -------
        tuple of str
            The words, in order.

        Raises
        ------
        UnknownWordError
            If a word has no vector; the message names the nearest known words.
        InvalidValueError
            If the sentence is empty.
        InvalidTypeError
            If the sentence is neither text nor words.
        """
        try:
            words = tuple(sentence.split() if isinstance(sentence, str) else sentence)
        except TypeError:
            words = (sentence,)  # type: ignore[assignment]  # falls through to the error below
        for word in words:
            if not isinstance(word, str):
                raise InvalidTypeError(
                    f"a sentence must be text or a sequence of words, but it holds {word!r}"
                )
            if word not in self.words:
                raise UnknownWordError(
                    f"unknown word {word!r} in {sentence!r}: {_suggest(word, self.words)}"
                )
        if not words:
            raise InvalidValueError(
                f"a sentence must hold at least one word, but it is {sentence!r}; "
                f"known words: {', '.join(self.words)}"
            )
        return words

    def embed(self, sentence: str | Iterable[str]) -> NDArray[np.float64]:
        """The matrix X of a sentence, one row a word.

        Parameters
        ----------
        sentence : str or iterable of str
            As for :meth:`split`, which says what is raised.

        Returns
        -------
        ndarray, shape (n words, len(axes))
            A new array.
        """
        return self.embeddings[[self.words.index(word) for word in self.split(sentence)]]

    def vector(self, word: str) -> NDArray[np.float64]:
        """The vector of one word, shape (len(axes),); :meth:`split` says what is raised."""
        vector: NDArray[np.float64] = self.embed([word])[0]
        return vector

    def context(self, sentence: str) -> str:
        """The first word of a sentence that not every sentence holds.

        It is what tells this sentence from the others: *river* in "the river bank".

        Raises
        ------
        InvalidValueError
            If every word of the sentence stands in every sentence.
        """
        for word in self.split(sentence):
            if not all(word in self.split(other) for other in self.sentences):
                return word
        raise InvalidValueError(
            f"each of two or more sentences must hold a word that another lacks, "
            f"but {sentence!r} does not (sentences: {', '.join(map(repr, self.sentences))})"
        )

    def main_axis(self, word: str) -> int:
        """The axis on which a word's entry is largest (the first such axis)."""
        return int(self.vector(word).argmax())


def _suggest(word: str, known: tuple[str, ...]) -> str:
    """The nearest known words, or all of them when none is near."""
    by_folded = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(word.casefold(), by_folded, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(repr(by_folded[name]) for name in near)}?"
    return f"known words are {', '.join(known)}"


#: The built-in world: *bank* beside *river* and *bank* beside *money*.
TOY_WORLD = ToyWorld(
    axes=("water", "money", "place", "filler"),
    words=("the", "river", "money", "bank"),
    embeddings=np.array(
        [
            [0.0, 0.0, 0.0, 1.0],  # the
            [0.9, 0.0, 0.3, 0.0],  # river
            [0.0, 0.9, 0.1, 0.0],  # money
            [0.3, 0.3, 0.9, 0.0],  # bank
        ]
    ),
    sentences=("the river bank", "the money bank"),
    focus="bank",
    channels=("topic", "place"),
    W_Q=np.array(
        [
            [0.0, 0.0],  # water asks nothing
            [0.0, 0.0],  # money asks nothing
            [2.0, 0.0],  # place asks for a topic
            [0.0, 1.5],  # filler asks for a place
        ]
    ),
    W_K=np.array(
        [
            [1.0, 0.0],  # water advertises a topic
            [1.0, 0.0],  # money advertises a topic
            [0.0, 1.0],  # place advertises a place
            [0.0, 0.0],  # filler advertises nothing
        ]
    ),
)
