"""The results log: lines, grouped in named blocks, and the measurements they show.

- A :class:`Measurement` is a value with a dotted name and the format it is shown in.
- A :class:`Block` is a few lines that belong together, with the measurements on each line.
  ``print(block)`` shows the lines.
- A :class:`ResultsLog` joins blocks, numbers their lines and finds measurements by name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from attnlab.attention import Floats
from attnlab.errors import InvalidValueError


def columns(text: str) -> int:
    """Return how many columns of a terminal text takes: two for 河, none for a combining accent."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth

    width = wcswidth(text)
    return width if width >= 0 else len(text)  # control characters have no width


def pad(text: str, width: int) -> str:
    """Fill text with spaces to so many columns: behind it, or before it if the width is below 0."""
    spaces = " " * (abs(width) - columns(text))
    return spaces + text if width < 0 else text + spaces


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
    ) -> None:
        """Add a matrix with three decimals, its column names above and row names before it.

        Entry (i, j) becomes the measurement ``name.row i.column j``.
        """
        self.line(" " * 11 + "".join(f"{column:>8}" for column in columns))
        for row, entries in zip(rows, values, strict=True):
            cells = (
                f"{self.number(f'{name}.{row}.{column}', entry, '.3f'):>8}"
                for column, entry in zip(columns, entries, strict=True)
            )
            self.line(f"    {row:<7}" + "".join(cells))

    def numbers(self, name: str, labels: Sequence[str], values: Floats, spec: str = ".3f") -> str:
        """Format a vector as ``[0.185, 0.317]``, each entry the measurement ``name.label``."""
        pairs = zip(labels, values, strict=True)
        return (
            "["
            + ", ".join(self.number(f"{name}.{label}", value, spec) for label, value in pairs)
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
