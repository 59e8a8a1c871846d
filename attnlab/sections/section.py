"""The type of a section: a name, a title, and what to run."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from attnlab.results_log import Block
from attnlab.toy_world import ToyWorld

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Section:
    """One row of the table of sections.

    Attributes
    ----------
    name : str
        Such as ``S3``.
    title : str
        What stands beside the name in the log.
    measure : callable
        (world, rng) to a frozen dataclass of arrays and numbers.
    report : callable
        That dataclass to the blocks of the section's log.
    figures : mapping of str to callable
        For each figure, by name, the dataclass to a Matplotlib figure.
    """

    name: str
    title: str
    measure: Callable[[ToyWorld, np.random.Generator], Any]
    report: Callable[[Any], Iterator[Block]]
    figures: Mapping[str, Callable[[Any], "Figure"]] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        """The first line of the section in the log."""
        return f"[{self.name}] {self.title}"
