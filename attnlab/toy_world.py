"""The toy world: a few words, hand-named axes, and a hand-wired query/key head.

A :class:`ToyWorld` is a frozen value that sections, figures and lessons take as an argument.
The one that is built in is :data:`TOY_WORLD`.
"""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnlab.attention import real_array
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
        At least two sentences of known words, none twice in a sentence; each holds the focus
        word, and its first word that is not in all of them is not another's.
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
    InvalidTypeError
        If a name is not text, or numbers are not real.

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
            names = _texts(field, getattr(self, field))
            if repeated := _repeated(names):
                raise InvalidValueError(f"{field} must differ, but {repeated!r} is there twice")
            object.__setattr__(self, field, names)
        for field, rows, columns in (
            ("embeddings", self.words, self.axes),
            ("W_Q", self.axes, self.channels),
            ("W_K", self.axes, self.channels),
        ):
            array = real_array(field, getattr(self, field), axes=2).astype(np.float64)
            if array.shape != (len(rows), len(columns)):
                raise ShapeError(
                    f"{field} must have shape {(len(rows), len(columns))}, one row for each of "
                    f"{', '.join(rows)} and one column for each of {', '.join(columns)}, "
                    f"but it has shape {array.shape}"
                )
            array.flags.writeable = False
            object.__setattr__(self, field, array)
        object.__setattr__(self, "sentences", _texts("sentences", self.sentences))
        for sentence in self.sentences:
            words = self.split(sentence)
            if self.focus not in words:
                raise InvalidValueError(
                    f"every sentence must hold the focus word {self.focus!r}, "
                    f"but {sentence!r} does not"
                )
            if repeated := _repeated(words):
                raise InvalidValueError(
                    f"a sentence must hold no word twice, but {sentence!r} repeats {repeated!r}"
                )
        if context := _repeated([self.context(sentence) for sentence in self.sentences]):
            raise InvalidValueError(
                f"a sentence's first word that is not in all of them must be its own, "
                f"but {context!r} is that of two (sentences: {', '.join(self.sentences)})"
            )

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


def _texts(field: str, given: Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple, and raise unless they are text and there is one."""
    texts = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else None
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise InvalidTypeError(f"{field} must be a sequence of text, but it is {given!r}")
    if not texts:
        raise InvalidValueError(f"{field} must not be empty")
    return texts


def _repeated(names: Sequence[str]) -> str | None:
    """Return the first name that stands twice."""
    return next((name for i, name in enumerate(names) if name in names[:i]), None)


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
