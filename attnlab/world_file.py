"""A toy world as a file that a reader can write: TOML in, and TOML out.

- :func:`read_world` and :func:`parse_world` give a :class:`WorldFile`, or say everything that is
  wrong at once: the file, the line, the key, what came and what is wanted.
- :attr:`WorldFile.toml` is the file of a world, and :attr:`WorldFile.data` the same as plain data.
- What makes a world is decided by :mod:`attnlab.toy_world`; here stand how it is written, and how
  large it may be.
"""

import json
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from attnlab.errors import AttnlabError, WorldFileError
from attnlab.results_log import columns_of, pad
from attnlab.toy_world import (
    TOY_WORLD,
    ToyWorld,
    composed,
    focus_faults,
    name_faults,
    sentence_faults,
    suggest,
)

#: How large a world may be: its tables and figures stay readable, and a run takes seconds.
MAX_BYTES = 100_000
MAX_WORDS, MAX_AXES, MAX_CHANNELS = 64, 16, 16
MAX_SENTENCES, MAX_SENTENCE_WORDS, MAX_NAME = 8, 12, 40
#: Scores of entries up to this, through the wired head, stay far from overflow.
MAX_NUMBER = 1_000_000
MAX_SEED = 2**32 - 1
MAX_SHARPNESS = 1000
#: More faults than these are counted, not shown.
_MAX_FAULTS = 20
#: A message is cut when it is longer.
_MAX_MESSAGE = 500
#: How much of a file, in characters, is parsed again to find the faults' lines, at most.
_MAX_PARSED = 1_000_000
#: A key of so many parts: Python's parser takes long over a key of thousands, and a world needs
#: two.
_PART = r"""(?:[\w-]++|"[^"\n]*"|'[^'\n]*')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}){{20}}", re.ASCII)

_QUOTES = 'a word with other signs than a-z, A-Z, 0-9, - and _ stands in quotes: "a.b" = [...]'
#: The keys of a file and of its tables, each with what it is.
_KEYS = {
    "seed": "the number that the random draws start from",
    "focus": "the word whose output is followed",
    "axes": "the names of the embedding axes",
    "sentences": "the sentences, made of the words",
    "words": "the table with a vector for each word",
    "head": "the table of the query/key head",
    "explorer": "the table of the explorer page's settings",
}
_HEAD_KEYS = {
    "channels": "the names of the query/key channels",
    "W_Q": "what each axis asks, one row an axis and one column a channel",
    "W_K": "what each axis advertises, one row an axis and one column a channel",
}
_EXPLORER_KEYS = {
    "head": "raw or wired",
    "scaled": "whether wired scores are divided by the root of the number of channels",
    "causal": "whether no word looks at later ones",
    "sharpness": "what scores are multiplied by",
    "W_V": "what each axis hands over, one row and one column an axis",
}


@dataclass(frozen=True, eq=False)
class WorldFile:
    """A toy world with what else its file holds.

    Attributes
    ----------
    world : ToyWorld
        The words, sentences and the head.
    seed : int
        What the run's random draws start from.
    explorer : mapping
        The explorer page's settings that the file holds: ``head``, ``scaled``, ``causal``,
        ``sharpness`` and ``W_V``. The package checks their types and uses none.
    """

    world: ToyWorld
    seed: int = 0
    explorer: Mapping[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> dict[str, Any]:
        """The world under the file's keys, in dicts, lists, text and numbers that JSON knows."""
        world = self.world
        vectors = world.embeddings.tolist()
        return {
            "seed": self.seed,
            "focus": world.focus,
            "axes": list(world.axes),
            "sentences": list(world.sentences),
            "words": dict(zip(world.words, vectors, strict=True)),
            "head": {
                "channels": list(world.channels),
                "W_Q": world.W_Q.tolist(),
                "W_K": world.W_K.tolist(),
            },
            "explorer": dict(self.explorer),
        }

    @property
    def is_built_in(self) -> bool:
        """Whether a run of it makes the canonical log."""
        return self.data | {"explorer": {}} == BUILT_IN.data

    @property
    def toml(self) -> str:
        """The file's text, which gives this world again when it is read.

        Raises
        ------
        WorldFileError
            If the world is larger than a file may hold.
        """
        text = _write(self)
        parse_world(text, "this world")
        return text


#: The workshop's own world and seed.
BUILT_IN = WorldFile(TOY_WORLD)


def read_world(path: str | Path) -> WorldFile:
    """Read a toy world from a file.

    Parameters
    ----------
    path : path-like
        A TOML file, UTF-8; ``python -m attnlab world init`` writes one to start from.

    Returns
    -------
    WorldFile
        The world, the seed, and the explorer page's settings.

    Raises
    ------
    WorldFileError
        If the file cannot be read or does not describe a world; the message says everything
        that is wrong, a line for each fault.
    """
    name = str(path) if str(path).isprintable() else ascii(str(path))
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except IsADirectoryError:
        raise WorldFileError([f"{name}: must be a file, but it is a folder"]) from None
    except FileNotFoundError:
        hint = "python -m attnlab world init FILE writes one to start from"
        raise WorldFileError([f"{name}: there is no such file; {hint}"]) from None
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = getattr(error, "strerror", None) or error
        raise WorldFileError([f"{name}: cannot be read: {reason}"]) from None
    if len(raw) > MAX_BYTES:
        raise WorldFileError([f"{name}: must hold at most {MAX_BYTES} bytes, but it holds more"])
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise WorldFileError(
            [
                f"{name}, line {line}: must be UTF-8 text, but it holds the byte "
                f"0x{raw[error.start]:02x}; save it as UTF-8"
            ]
        ) from None
    return parse_world(text, name)


def parse_world(text: str, name: str = "the text") -> WorldFile:
    """Read a toy world from the text of its file.

    Parameters
    ----------
    text : str
        TOML.
    name : str, optional
        What messages call the file.

    Returns
    -------
    WorldFile
        As for :func:`read_world`.

    Raises
    ------
    WorldFileError
        If the text does not describe a world.
    """
    text = text.replace("\r\n", "\n")
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise WorldFileError([f"{name}, line {line}: must hold no key of more than 20 parts"])
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WorldFileError([_not_toml(name, text, str(error))]) from None
    except (ValueError, RecursionError) as error:  # endless digits, endless brackets
        reason = "a number too long" if isinstance(error, ValueError) else "lists too deep"
        raise WorldFileError([f"{name}: must be plain TOML, but it holds {reason}"]) from None
    return _Reader(name, text, data).world_file()


def _not_toml(name: str, text: str, problem: str) -> str:
    """Return the parser's complaint with the line where it has one."""
    problem, _, place = problem.rstrip(")").partition(" (at ")
    found = re.match(r"line (\d+), column (\d+)", place)
    line = int(found[1]) if found else text.count("\n") + 1
    if problem == "Cannot overwrite a value":
        return f"{name}, line {line}: the key stands here a second time; each must stand once"
    if re.match("Expected '=' after a key|Invalid statement|Invalid initial character", problem):
        problem = f"{problem}; {_QUOTES}"
    return f"{name}, line {line}: must be TOML, but: {problem}"


class _Reader:
    """Takes a world out of parsed TOML, and collects what is wrong with it.

    A method that reads a value adds its faults; what it returns then serves only to check the
    rest.
    """

    def __init__(self, name: str, text: str, data: Mapping[str, Any]) -> None:
        self.name = name
        self.lines = text.split("\n")
        self.data = data
        self.faults: list[tuple[int, str]] = []  # with their lines, 0 if unknown
        self.unshown = 0
        self.parsed = 0

    def fault(self, path: Sequence[str], problem: AttnlabError | str) -> None:
        """Add a fault of the value under a path of keys."""
        if len(self.faults) == _MAX_FAULTS:
            self.unshown += 1
            return
        line = self.line(path)
        place = [self.name, f"line {line}" if line else "", ".".join(map(_key, path))]
        text = str(problem).removeprefix(f"{path[-1]} ")
        text = text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"
        self.faults.append((line or 0, f"{', '.join(filter(None, place))}: {text}"))

    def line(self, path: Sequence[str]) -> int | None:
        """Return the line on which the value under a path of keys begins, if it can be found.

        It is the last line with the key's name on it such that the lines before it lack the
        value. For a value that is missing, it is the line of the table that should hold it.
        """
        while not _holds(self.data, path):
            path = path[:-1]
        if not path:
            return None
        for number in range(len(self.lines), 0, -1):
            if path[-1] in self.lines[number - 1]:
                start = "\n".join(self.lines[: number - 1])
                self.parsed += len(start)
                if self.parsed > _MAX_PARSED:
                    return None
                before = _parsed(start)
                if before is not None and not _holds(before, path):
                    return number
        return None

    def add(self, path: Sequence[str], faults: Iterable[AttnlabError]) -> None:
        """Add the faults of the world that a value makes."""
        for fault in faults:
            self.fault(path, fault)

    def world_file(self) -> WorldFile:
        """Return what the file describes.

        Raises
        ------
        WorldFileError
            If it describes no world.
        """
        self.keys((), self.data, _KEYS, ("focus", "axes", "sentences", "words"))
        seed = self.seed()
        axes = self.names(("axes",), self.data, MAX_AXES)
        words = self.words(axes)
        focus, sentences = self.focus(words), self.sentences()
        if words and sentences:
            self.add(("sentences",), sentence_faults(sentences, list(words), focus))
        channels, W_Q, W_K = self.head(axes)
        explorer = self.explorer(axes)
        if self.faults:
            faults = [fault for _, fault in sorted(self.faults, key=lambda fault: fault[0])]
            more = [f"{self.name}: and {self.unshown} faults more"] if self.unshown else []
            raise WorldFileError([*faults, *more])
        vectors = np.array(list(words.values()))
        world = ToyWorld(
            *(tuple(axes), tuple(words), vectors, tuple(sentences), focus),
            *(tuple(channels), np.array(W_Q), np.array(W_K)),
        )
        return WorldFile(world, seed, explorer)

    def seed(self) -> int:
        """Return the seed, 0 if there is none."""
        seed = self.data.get("seed", 0)
        if not _is_whole(seed) or not 0 <= seed <= MAX_SEED:
            wanted = f"must be a whole number from 0 to {MAX_SEED}"
            self.fault(("seed",), f"{wanted}, but it is {_shown(seed)}")
        return int(seed) if _is_whole(seed) else 0

    def names(self, path: Sequence[str], table: Mapping[str, Any], limit: int) -> list[str]:
        """Return the names of axes or channels."""
        names = self.texts(path, table.get(path[-1]), 'names, such as ["wet", "dry"]', limit)
        names = [composed(name) for name in names]
        if names:
            self.add(path, name_faults(path[-1], names))
            self.lengths(path, names)
        return names

    def texts(self, path: Sequence[str], value: object, what: str, limit: int) -> list[str]:
        """Return a list of text; nothing if a fault in it leaves nothing to go on."""
        if value is None:  # its absence is a fault already
            return []
        if not isinstance(value, list) or not value:
            self.fault(path, f"must be a list of {what}, but it is {_shown(value)}")
        elif odd := [text for text in value if not isinstance(text, str)]:
            self.fault(path, f"must be a list of {what}, but it holds {_shown(odd[0])}")
        elif len(value) > limit:
            self.fault(path, f"must hold at most {limit}, but it holds {len(value)}")
        else:
            return value
        return []

    def lengths(self, path: Sequence[str], names: Iterable[str]) -> None:
        """Check how long names are."""
        for name in names:
            if len(name) > MAX_NAME:
                wanted = f"must hold names of at most {MAX_NAME} characters"
                self.fault(path, f"{wanted}, but {_shown(name)} has {len(name)}")

    def words(self, axes: Sequence[str]) -> dict[str, list[float]]:
        """Return each word's vector."""
        table = self.data.get("words")
        if table is None:
            return {}
        path = ("words",)
        if not isinstance(table, dict) or not table:
            wanted = "must be a table with a vector for each word"
            self.fault(path, f"{wanted}, but it is {_shown(table)}")
            return {}
        if len(table) > MAX_WORDS:
            self.fault(path, f"must hold at most {MAX_WORDS}, but there are {len(table)}")
            return {}
        names = [composed(word) for word in table]
        self.add(path, name_faults("words", names))
        self.lengths(path, names)
        vectors = [
            self.numbers(("words", word), vector, "", axes, "axis")
            for word, vector in table.items()
        ]
        return dict(zip(names, vectors, strict=True))

    def numbers(
        self, path: Sequence[str], value: object, which: str, columns: Sequence[str], kind: str
    ) -> list[float]:
        """Return a list of numbers, one for each of the columns if those are known."""
        count = f"{len(columns)} numbers, one for each {kind}" if columns else "numbers"
        names = f" ({_list(columns)})" if columns else ""
        dotted = isinstance(value, dict)
        hint = f"; {_QUOTES}" if dotted else ""
        if not isinstance(value, list) or (columns and len(value) != len(columns)):
            self.fault(
                path, f"{which}must be a list of {count}{names}, but it is {_shown(value)}{hint}"
            )
            return []
        numbers = []
        for i, entry in enumerate(value):
            if problem := _not_number(entry):
                label = f" ({columns[i]})" if columns else ""
                self.fault(path, f"{which}entry {i + 1}{label} must be {problem}")
            else:
                numbers.append(float(entry))
        return numbers

    def matrix(
        self,
        path: Sequence[str],
        value: object,
        rows: Sequence[str],
        columns: Sequence[str],
        kind: str,
    ) -> list[list[float]]:
        """Return a matrix with one row an axis, if the axes are known."""
        if not isinstance(value, list) or (rows and len(value) != len(rows)):
            count = f"{len(rows)} rows, one for each axis ({_list(rows)})" if rows else "rows"
            self.fault(path, f"must be a list of {count}, but it is {_shown(value)}")
            return []
        return [
            self.numbers(
                path,
                row,
                f"row {i + 1} ({rows[i]}) " if rows else f"row {i + 1} ",
                columns,
                kind,
            )
            for i, row in enumerate(value)
        ]

    def focus(self, words: Mapping[str, object]) -> str:
        """Return the focus word."""
        focus = self.data.get("focus", "")
        if not isinstance(focus, str):
            self.fault(("focus",), f"must be one of the words, but it is {_shown(focus)}")
            return ""
        if words and "focus" in self.data:
            self.add(("focus",), focus_faults(composed(focus), list(words)))
        return composed(focus)

    def sentences(self) -> list[str]:
        """Return the sentences."""
        path, what = ("sentences",), 'text, such as ["the river bank", "the money bank"]'
        sentences = self.texts(path, self.data.get("sentences"), what, MAX_SENTENCES)
        for sentence in sentences:
            if (count := len(sentence.split())) > MAX_SENTENCE_WORDS:
                wanted = f"must have at most {MAX_SENTENCE_WORDS} words each"
                self.fault(path, f"{wanted}, but {_shown(sentence)} has {count}")
                sentences = []
        return [" ".join(composed(sentence).split()) for sentence in sentences]

    def head(self, axes: Sequence[str]) -> tuple[list[str], list[list[float]], list[list[float]]]:
        """Return the head's channels, W_Q and W_K: the axes and identities if there is none."""
        identity = np.eye(len(axes)).tolist()
        table = self.data.get("head")
        if table is None:
            return list(axes), identity, identity
        if not isinstance(table, dict):
            wanted = "must be a table with channels, W_Q and W_K"
            self.fault(("head",), f"{wanted}, but it is {_shown(table)}")
            return [], [], []
        self.keys(("head",), table, _HEAD_KEYS, tuple(_HEAD_KEYS))
        channels = self.names(("head", "channels"), table, MAX_CHANNELS)
        W_Q, W_K = (
            self.matrix(("head", name), table[name], axes, channels, "channel")
            if name in table
            else []
            for name in ("W_Q", "W_K")
        )
        return channels, W_Q, W_K

    def explorer(self, axes: Sequence[str]) -> dict[str, Any]:
        """Return the explorer page's settings."""
        table = self.data.get("explorer", {})
        if not isinstance(table, dict):
            self.fault(("explorer",), f"must be a table of settings, but it is {_shown(table)}")
            return {}
        self.keys(("explorer",), table, _EXPLORER_KEYS, ())
        settings: dict[str, Any] = {}
        for name, value in table.items():
            path = ("explorer", name)
            settings[name] = value
            if name == "head" and value not in ("raw", "wired"):
                self.fault(path, f'must be "raw" or "wired", but it is {_shown(value)}')
            elif name in ("scaled", "causal") and not isinstance(value, bool):
                self.fault(path, f"must be true or false, but it is {_shown(value)}")
            elif name == "sharpness" and (_not_number(value) or not 0 < value <= MAX_SHARPNESS):
                wanted = f"must be a number above 0 and at most {MAX_SHARPNESS}"
                self.fault(path, f"{wanted}, but it is {_shown(value)}")
            elif name == "W_V":
                settings[name] = self.matrix(path, value, axes, axes, "axis")
        return settings

    def keys(
        self,
        path: Sequence[str],
        table: Mapping[str, Any],
        known: Mapping[str, str],
        needed: Iterable[str],
    ) -> None:
        """Check a table's keys: all known, and those there that are needed."""
        for key in table:
            if key not in known:
                self.fault((*path, key), f"is no key; {suggest(key, list(known), 'keys')}")
        for key in needed:
            if key not in table:
                self.fault((*path, key), f"is missing: {known[key]}")


def _parsed(start: str) -> dict[str, Any] | None:
    """Return what the first lines of a file hold, or None if they end within a value."""
    try:
        return tomllib.loads(start)
    except (ValueError, RecursionError):
        return None


def _holds(data: object, path: Sequence[str]) -> bool:
    """Whether there is a value under a path of keys."""
    for key in path:
        if not isinstance(data, dict) or key not in data:
            return False
        data = data[key]
    return True


def _is_whole(value: object) -> bool:
    """Whether a value is a whole number, which true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _not_number(value: object) -> str | None:
    """Return what a value must be and is not, or None if it is a number of fit size."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"a number, but it is {_shown(value)}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"a finite number, but it is {value}"
    if abs(value) > MAX_NUMBER:
        return f"from -{MAX_NUMBER} to {MAX_NUMBER}, but it is {_shown(value)}"
    return None


def _shown(value: object) -> str:
    """Return a value as a message shows it: short, on one line."""
    if isinstance(value, str):
        return repr(_short(value)) if value.isprintable() else ascii(_short(value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) >= 10**20:  # Python prints no endless digits
        return "a number of more than 20 digits"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, dict):
        return "a table" if value else "an empty table"
    return f"the date or time {value}"


def _short(text: str) -> str:
    return text if len(text) <= MAX_NAME else f"{text[:MAX_NAME]}…"


def _list(names: Sequence[str]) -> str:
    return ", ".join(_short(name) for name in names)


def _key(key: str) -> str:
    """Return a key as a message shows it."""
    key = _short(key)
    plain = key and key.isprintable() and not set(key) & set(" .\"'")
    return key if plain else json.dumps(key, ensure_ascii=not key.isprintable())


def _write(file: WorldFile) -> str:
    """Return the text of a world's file, with comments."""
    world, data = file.world, file.data
    keys = [_toml_key(word) for word in world.words]
    width = max(map(columns_of, keys))
    vectors = zip(keys, data["words"].values(), strict=True)
    parts = [
        "# A toy world: words with vectors written by hand, sentences of them, and a head.",
        "# To see whether it holds together:  python -m attnlab world check FILE",
        "# To run the workshop on it:         python -m attnlab reproduce --world FILE",
        "",
        "# What the random draws start from.",
        f"seed = {file.seed}",
        "",
        "# The word whose output is followed. Every sentence holds it.",
        f"focus = {_toml(world.focus)}",
        "",
        "# The axes: what the numbers of a vector stand for, in this order.",
        f"axes = {_toml(data['axes'])}",
        "",
        "# Two sentences or more, no word twice in one. The first word that not all of them",
        "# hold tells a sentence from the others.",
        f"sentences = {_rows(world.sentences)}",
        "",
        "# A vector for each word: one number an axis. A word with other signs than a-z, A-Z, 0-9,",
        "# - and _ stands in quotes.",
        "[words]",
        *(f"{pad(key, width)} = {_toml(vector)}" for key, vector in vectors),
        "",
        "# The hand-wired head. Without this part each word is its own query and key.",
        "[head]",
        f"channels = {_toml(data['head']['channels'])}",
        "",
        "# What each axis asks: one row an axis, one column a channel.",
        f"W_Q = {_rows(data['head']['W_Q'], world.axes)}",
        "",
        "# What each axis advertises.",
        f"W_K = {_rows(data['head']['W_K'], world.axes)}",
    ]
    if file.explorer:
        parts += ["", "# The explorer page's settings.", "[explorer]"]
        for key, value in file.explorer.items():
            text = _rows(value, world.axes) if key == "W_V" else _toml(value)
            parts.append(f"{_toml_key(key)} = {text}")
    return "\n".join(parts) + "\n"


def _rows(values: Sequence[object], names: Sequence[str] = ()) -> str:
    """Return a list as TOML, an entry a line, with names as comments."""
    comments = [f"  # {name}" for name in names] or [""] * len(values)
    rows = (f"    {_toml(value)},{note}\n" for value, note in zip(values, comments, strict=True))
    return f"[\n{''.join(rows)}]"


def _toml(value: object) -> str:
    """Return a value as TOML. Names hold no characters that JSON and TOML write differently."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return repr(value)


def _toml_key(key: str) -> str:
    """Return a key as TOML."""
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else _toml(key)
