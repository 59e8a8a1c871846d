"""The errors that attnlab raises for a caller's mistake.

Every one is an :class:`AttnlabError`, so one ``except`` catches them all, and also the
built-in error that fits (``ValueError``, ``TypeError`` …), so code that knows nothing of
attnlab can still catch it.
"""

from collections.abc import Sequence


class AttnlabError(Exception):
    """Base of every error that attnlab raises on purpose."""


class InvalidValueError(AttnlabError, ValueError):
    """An argument has the right type but a value that cannot be used."""


class InvalidTypeError(AttnlabError, TypeError):
    """An argument has a type that cannot be used, for example complex numbers."""


class ShapeError(InvalidValueError):
    """An array has the wrong number of axes, or two shapes do not fit together."""


class UnknownWordError(InvalidValueError):
    """A word is not in the toy world's vocabulary."""


class WorldFileError(InvalidValueError):
    """A toy world's file cannot be read, or does not describe a world.

    Attributes
    ----------
    faults : tuple of str
        Everything that is wrong, each with the file, the line where it is known, the key, what
        came and what is wanted.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__(faults)
        self.faults = tuple(faults)

    def __str__(self) -> str:
        return "\n".join(self.faults)


class MissingDependencyError(AttnlabError, ImportError):
    """An optional package, such as PyTorch, is needed and not installed."""


class OutputError(AttnlabError, OSError):
    """A file or folder could not be written."""
