"""The toy world: a few words, hand-named axes, and a hand-wired query/key head.

A :class:`ToyWorld` is a frozen value that sections, figures and lessons take as an argument.
The one that is built in is :data:`TOY_WORLD`.
"""

import difflib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from attnlab.attention import real_array
from attnlab.errors import (
    AttnlabError,
    InvalidTypeError,
    InvalidValueError,
    ShapeError,
    UnknownWordError,
)

#: Invisible, but they belong to the spelling of Persian, Hindi and many emoji.
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, eq=False)
class ToyWorld:
    """Words with hand-written vectors, sentences of them, and a head wired by hand.

    Parameters
    ----------
    axes : tuple of str
        The names of the embedding axes. No name of a world holds white space or invisible
        characters; accented letters are composed (Unicode's form NFC).
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
            names = tuple(map(composed, _texts(field, getattr(self, field))))
            for fault in name_faults(field, names):
                raise fault
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
        if not isinstance(self.focus, str):
            raise InvalidTypeError(f"focus must be text, but it is {self.focus!r}")
        object.__setattr__(self, "focus", composed(self.focus))
        sentences = tuple(
            " ".join(composed(text).split()) for text in _texts("sentences", self.sentences)
        )
        object.__setattr__(self, "sentences", sentences)
        for fault in chain(
            focus_faults(self.focus, self.words),
            sentence_faults(sentences, self.words, self.focus),
        ):
            raise fault

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
        return _split(sentence, self.words)

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
        others = [self.split(other) for other in self.sentences]
        return _context(self.split(sentence), others)

    def main_axis(self, word: str) -> int:
        """The axis on which a word's entry is largest (the first such axis)."""
        return int(self.vector(word).argmax())


def name_faults(field: str, names: Sequence[str]) -> Iterator[AttnlabError]:
    """Yield what is wrong with the names of words, axes or channels."""
    if not names:
        yield InvalidValueError(f"{field} must not be empty")
    for i, name in enumerate(names):
        if reason := _unfit(name):
            yield InvalidValueError(f"{field} must {reason}")
        elif name in names[:i]:
            yield InvalidValueError(f"{field} must differ, but {name!r} is there twice")


def focus_faults(focus: str, words: Sequence[str]) -> Iterator[AttnlabError]:
    """Yield what is wrong with the focus word."""
    if focus not in words:
        yield UnknownWordError(
            f"focus must be one of the words, but it is {focus!r}: {suggest(focus, words)}"
        )


def sentence_faults(
    sentences: Sequence[str], words: Sequence[str], focus: str
) -> Iterator[AttnlabError]:
    """Yield what is wrong with the sentences of a world of these words."""
    if not sentences:
        yield InvalidValueError("sentences must not be empty")
    split = []
    for sentence in sentences:
        try:
            split.append(_split(sentence, words))
        except AttnlabError as error:
            yield error
            continue
        if focus in words and focus not in split[-1]:
            yield InvalidValueError(
                f"every sentence must hold the focus word {focus!r}, but {sentence!r} does not"
            )
        if repeated := _repeated(split[-1]):
            yield InvalidValueError(
                f"a sentence must hold no word twice, but {sentence!r} repeats {repeated!r}"
            )
    if len(split) < len(sentences):  # what tells sentences apart depends on all of them
        return
    contexts = []
    for own in split:
        try:
            contexts.append(_context(own, split))
        except InvalidValueError as error:
            yield error
            return
    if context := _repeated(contexts):
        yield InvalidValueError(
            f"a sentence's first word that is not in all of them must be its own, "
            f"but {context!r} is that of two (sentences: {', '.join(sentences)})"
        )


def suggest(name: str, known: Sequence[str], kind: str = "words") -> str:
    """The nearest known names, or some of them when none is near."""
    by_folded = {text.casefold(): text for text in known}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(repr(by_folded[text]) for text in near)}?"
    return f"known {kind} are {', '.join(known[:12])}{' …' if len(known) > 12 else ''}"


def _unfit(name: str) -> str | None:
    """Return what a name must be and is not, or None if it can stand in a sentence and a table."""
    if not name:
        return "hold at least one character, but one is ''"
    for character in name:
        category = unicodedata.category(character)
        if character.isspace() or category.startswith("Z"):
            return f"hold no white space, but {name!r} does"
        if category in ("Cc", "Cf", "Cs") and character not in _JOINERS:
            what = unicodedata.name(character, "a control character")
            return (
                f"hold no control or invisible formatting characters, but {name!a} "
                f"holds U+{ord(character):04X} ({what})"
            )
    if name[0] in _JOINERS or unicodedata.category(name[0]).startswith("M"):
        return f"begin with a character that can stand alone, but {name!a} does not"
    return None


def composed(text: str) -> str:
    """Return text with each accented letter as one character, so that what looks alike matches."""
    return unicodedata.normalize("NFC", text)


def _split(sentence: str | Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence's words, and raise unless each is known."""
    try:
        words = tuple(sentence.split() if isinstance(sentence, str) else sentence)
    except TypeError:
        words = (sentence,)  # type: ignore[assignment]  # falls through to the error below
    for word in words:
        if not isinstance(word, str):
            raise InvalidTypeError(
                f"a sentence must be text or a sequence of words, but it holds {word!r}"
            )
    words = tuple(map(composed, words))
    for word in words:
        if word not in known:
            raise UnknownWordError(f"unknown word {word!r} in {sentence!r}: {suggest(word, known)}")
    if not words:
        raise InvalidValueError(
            f"a sentence must hold at least one word, but it is {sentence!r}; "
            f"known words: {', '.join(known)}"
        )
    return words


def _context(words: Sequence[str], sentences: Sequence[Sequence[str]]) -> str:
    """Return the first of a sentence's words that not every sentence holds."""
    for word in words:
        if not all(word in other for other in sentences):
            return word
    raise InvalidValueError(
        "each of two or more sentences must hold a word that another lacks, but "
        f"{' '.join(words)!r} does not "
        f"(sentences: {', '.join(repr(' '.join(other)) for other in sentences)})"
    )


def _texts(field: str, given: Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple, and raise unless they are text."""
    texts = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else None
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise InvalidTypeError(f"{field} must be a sequence of text, but it is {given!r}")
    return texts


def _repeated(names: Sequence[str]) -> str | None:
    """Return the first name that stands twice."""
    return next((name for i, name in enumerate(names) if name in names[:i]), None)


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
