"""The results log: lines, grouped in named blocks, and the measurements they show.

- A :class:`Measurement` is a value with a dotted name and the format it is shown in.
- A :class:`Block` is a few lines that belong together, with the measurements on each line.
  ``print(block)`` shows the lines.
- :func:`pad`, :func:`part`, :func:`exact` and :func:`fitting` keep columns straight, names apart
  and digits true whatever the words and the numbers.
- A :class:`ResultsLog` joins blocks, numbers their lines and finds measurements by name.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from attnlab.attention import Floats
from attnlab.errors import InvalidValueError


def columns_of(text: str) -> int:
    """Return how many columns of a terminal text takes: two for 河, none for a combining accent."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth

    width = wcswidth(text)
    return width if width >= 0 else len(text)  # control characters have no width


def pad(text: str, width: int) -> str:
    """Fill text with spaces to so many columns: behind it, or before it if the width is below 0."""
    spaces = " " * (abs(width) - columns_of(text))
    return spaces + text if width < 0 else text + spaces


def part(name: str) -> str:
    """Return a word or an axis as part of a dotted name: in quotes, as in TOML, if it has dots."""
    return json.dumps(name, ensure_ascii=False) if set(name) & set('."') else name


def exact(values: Floats | Sequence[float]) -> str:
    """Return a format with as few decimals as show each value exactly, and at least one.

    It is empty, which shows the shortest digits that are exact, if more than nine are needed.
    """
    numbers = np.ravel(values).tolist()
    for places in range(1, 10):
        spec = f".{places}f"
        if all(float(format(number, spec)) == number for number in numbers):
            return spec
    return ""


def fitting(values: Floats, places: int, least: int = 0) -> str:
    """Return a format in which all values take the same room, and at least so much."""
    texts = [format(number, f"z.{places}f") for number in np.ravel(values).tolist()]
    return f"{max(least, *map(len, texts))}.{places}f"


@dataclass(frozen=True)
class Measurement:
    """A value that the log shows.

    Attributes
    ----------
    name : str
        Dotted, the section first: ``S3.output.river_bank.water``.
    value : float, int or bool
        In full precision.
    spec : str
        The format specification that the log shows it in, such as ``.3f``.
    noise_bound : float or None
        For a number that is rounding noise and may differ from machine to machine: the bound
        it must stay under. None for every other number.
    """

    name: str
    value: float | int | bool
    spec: str
    noise_bound: float | None = None

    @property
    def text(self) -> str:
        """The value as the log shows it; a rounded −0 is shown as 0."""
        if isinstance(self.value, bool):
            return str(self.value)
        spec = "z" + self.spec if isinstance(self.value, float) else self.spec
        return format(self.value, spec)


@dataclass(frozen=True)
class Line:
    """One line of the log and the measurements on it, from left to right."""

    text: str
    measurements: tuple[Measurement, ...] = ()


class Block:
    """Lines of the log that belong together.

    Parameters
    ----------
    name : str
        Dotted, the section first: ``S3.weights.river_bank``.

    Attributes
    ----------
    lines : list of Line
        The lines so far.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: list[Line] = []
        self._on_this_line: list[Measurement] = []

    def number(
        self, name: str, value: float | bool, spec: str = "", noise_bound: float | None = None
    ) -> str:
        """Format a value for the next line, and remember it as a measurement on that line.

        Parameters
        ----------
        name : str
            The measurement's name after the section: ``output.river_bank.water``.
        value : float, int or bool
            NumPy scalars become Python's own.
        spec, noise_bound
            As in :class:`Measurement`.

        Returns
        -------
        str
            The value as the line must show it.
        """
        plain = value.item() if isinstance(value, np.generic) else value
        section = self.name.partition(".")[0]
        measurement = Measurement(f"{section}.{name}", plain, spec, noise_bound)
        self._on_this_line.append(measurement)
        return measurement.text

    def line(self, text: str) -> None:
        """Add a line; the numbers formatted since the last one stand on it."""
        self.lines.append(Line(text, tuple(self._on_this_line)))
        self._on_this_line.clear()

    def matrix(
        self,
        name: str,
        rows: Sequence[str],
        columns: Sequence[str],
        values: Floats,
        specs: Sequence[str] = (),
        corner: str = "    ",
        width: int = 11,
    ) -> None:
        """Add a matrix, its column names above and row names before it.

        Entry (i, j) becomes the measurement ``name.row i.column j``.

        Parameters
        ----------
        name : str
            The measurements' name after the section.
        rows, columns : sequence of str
            The names.
        values : ndarray, shape (len(rows), len(columns))
            The entries.
        specs : sequence of str, optional
            The format of each column, as in :class:`Measurement`; three decimals if left out.
        corner : str, optional
            What stands before the column names; each row is indented as far.
        width : int, optional
            How many columns of the terminal the row names take, if they are not longer.
        """
        indent = " " * (len(corner) - len(corner.lstrip()))
        heads = [f"{indent}{row}" for row in rows]
        specs = specs or [".3f"] * len(columns)
        widths = [
            max(
                8,
                2 + max(columns_of(column), *(len(Measurement("", x, spec).text) for x in entries)),
            )
            for column, spec, entries in zip(columns, specs, values.T.tolist(), strict=True)
        ]
        width = max(width, *map(columns_of, heads))
        self.line(
            pad(corner, width) + "".join(pad(c, -w) for c, w in zip(columns, widths, strict=True))
        )
        for head, row, entries in zip(heads, rows, values, strict=True):
            shown = (
                pad(self.number(f"{name}.{part(row)}.{part(column)}", entry, spec), -w)
                for column, entry, spec, w in zip(columns, entries, specs, widths, strict=True)
            )
            self.line(pad(head, width) + "".join(shown))

    def numbers(self, name: str, labels: Sequence[str], values: Floats, spec: str = ".3f") -> str:
        """Format a vector as ``[0.185, 0.317]``, each entry the measurement ``name.label``."""
        pairs = zip(labels, values, strict=True)
        return (
            "["
            + ", ".join(self.number(f"{name}.{part(label)}", value, spec) for label, value in pairs)
            + "]"
        )

    def __str__(self) -> str:
        return "\n".join(line.text for line in self.lines)


@dataclass
class ResultsLog:
    """The log of a run.

    Parameters
    ----------
    echo : callable, optional
        Called with the text of each line as it is logged.

    Attributes
    ----------
    lines : list of Line
        All lines; line number k is ``lines[k - 1]``.
    blocks : dict of str to range
        The line numbers of each named block.
    measurements : dict of str to Measurement
        Every measurement by its dotted name.
    line_numbers : dict of str to int
        The line that shows each measurement first.
    skipped : dict of str to str
        Sections that could not run, and why.
    """

    echo: Callable[[str], None] | None = None
    lines: list[Line] = field(default_factory=list)
    blocks: dict[str, range] = field(default_factory=dict)
    measurements: dict[str, Measurement] = field(default_factory=dict)
    line_numbers: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def add(self, block: Block) -> None:
        """Append a block's lines.

        Raises
        ------
        InvalidValueError
            If a block of this name is there already, or a measurement of the same name with
            another value.
        """
        if block.name in self.blocks:
            raise InvalidValueError(f"the log already has a block named {block.name!r}")
        first = len(self.lines) + 1
        for line in block.lines:
            for measurement in line.measurements:
                known = self.measurements.setdefault(measurement.name, measurement)
                if known is not measurement and known.value != measurement.value:
                    raise InvalidValueError(
                        f"measurement {measurement.name!r} is {known.value!r} on line "
                        f"{self.line_numbers[measurement.name]} and {measurement.value!r} "
                        f"on line {len(self.lines) + 1}"
                    )
                self.line_numbers.setdefault(measurement.name, len(self.lines) + 1)
            self.lines.append(line)
            if self.echo:
                self.echo(line.text)
        self.blocks[block.name] = range(first, len(self.lines) + 1)

    @property
    def text(self) -> str:
        """The whole log, each line ended by a newline."""
        return "".join(f"{line.text}\n" for line in self.lines)
