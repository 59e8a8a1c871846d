"""The live run that every page is proved against, and what each page cites of it.

- The sections run once a build, before any page is read; readers that Sphinx starts side by side
  inherit the run.
- Each page leaves a :class:`Record` in Sphinx's environment: what it proved, and what failed.
- A page that depends on the run is read again when the run or the package changed, or when
  something on it failed before.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util import logging

from attnlab import reproduce
from attnlab.errors import AttnlabError
from attnlab.results_log import Measurement, ResultsLog
from attnlab.sphinxext import places
from attnlab.toy_world import TOY_WORLD, ToyWorld

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from docutils import nodes
    from sphinx.application import Sphinx

logger = logging.getLogger(__name__)

#: Where Sphinx keeps, while it reads an exercise, the numbers that the exercise calculates.
CALCULATED = "attnlab_calculated"
PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Exercise:
    """An exercise whose answer was proved.

    Attributes
    ----------
    wanted : str
        How the number is asked for, in words.
    answer : str
        As the page shows it.
    mistakes : tuple of str
        The numbers that mistakes lead to, in the order of its hints.
    """

    wanted: str
    answer: str
    mistakes: tuple[str, ...]


@dataclass
class Record:
    """What one page has of the run.

    Attributes
    ----------
    numbers, claims, givens : int
        How many of each were proved (a given is only stated).
    exercises : list of Exercise
        In the order of the page.
    citations : list of tuple of str
        The name of a cited measurement, and the id of the place on the page that cites it.
    shows_citations : bool
        Whether the page shows where others cite, and must be written again when that changes.
    failed : bool
        Whether something on it was refused.
    """

    numbers: int = 0
    claims: int = 0
    givens: int = 0
    exercises: list[Exercise] = field(default_factory=list)
    citations: list[tuple[str, str]] = field(default_factory=list)
    shows_citations: bool = False
    failed: bool = False


class _Run:
    """A run of the sections, or why there is none."""

    def __init__(self) -> None:
        self._log = ResultsLog()
        self.problem = ""
        try:
            self._log = reproduce.run(world=build_world())
        except AttnlabError as error:
            self.problem = str(error)
        else:
            self.problem = "; ".join(f"{name}: {why}" for name, why in self._log.skipped.items())

    @property
    def log(self) -> ResultsLog:
        """The log; an error if a section could not run."""
        if self.problem:
            raise ExtensionError(f"attnlab cannot run its sections: {self.problem}")
        return self._log

    @functools.cached_property
    def facts(self) -> dict[str, Measurement]:
        """The measurements, and numbers of the world that the log does not show."""
        world = build_world()
        numbers: dict[str, float | int] = {
            f"size.{field}": len(getattr(world, field))
            for field in ("words", "axes", "channels", "sentences")
        }
        for name in ("W_Q", "W_K"):
            for axis, row in zip(world.axes, getattr(world, name), strict=True):
                for channel, value in zip(world.channels, row, strict=True):
                    numbers[f"{name}.{axis}.{channel}"] = value.item()
        return self.log.measurements | {
            f"world.{name}": Measurement(f"world.{name}", value, "")
            for name, value in numbers.items()
        }

    @functools.cached_property
    def digest(self) -> str:
        """Changes with the package, the installed versions and the measurements."""
        digest = hashlib.sha256()
        for file in sorted(PACKAGE.rglob("*.py")):
            digest.update(f"\0{file.relative_to(PACKAGE).as_posix()}\0".encode())
            digest.update(file.read_bytes())
        digest.update(f"\0{self.problem}\0{self._log.text}".encode())
        for name, measurement in self._log.measurements.items():
            if measurement.noise_bound is None:
                digest.update(f"\0{name} {measurement.value!r}".encode())
        return digest.hexdigest()


_runs: WeakKeyDictionary[BuildEnvironment, _Run] = WeakKeyDictionary()


def _run(env_or_app: BuildEnvironment | Sphinx) -> _Run:
    """Return the run of a build, made if it is not there yet."""
    env = env_or_app if isinstance(env_or_app, BuildEnvironment) else env_or_app.env
    if env not in _runs:
        _runs[env] = _Run()
    return _runs[env]


def build_log(env_or_app: BuildEnvironment | Sphinx) -> ResultsLog:
    """Return the log of this build's run of all sections.

    Parameters
    ----------
    env_or_app : BuildEnvironment or Sphinx
        Of the build.

    Returns
    -------
    ResultsLog
        The same object for every call in a process.

    Raises
    ------
    ExtensionError
        If the sections could not run, or one of them could not (S6 needs PyTorch).
    """
    return _run(env_or_app).log


def build_world() -> ToyWorld:
    """Return the world that the run is on."""
    return TOY_WORLD


def facts(env: BuildEnvironment) -> Mapping[str, Measurement]:
    """Return all that a role may name: the run's measurements and the world's own numbers.

    Inside an exercise, also what the exercise calculates.
    """
    calculated: dict[str, Measurement] = env.current_document.get(CALCULATED) or {}
    return _run(env).facts | calculated


def line_numbers(env: BuildEnvironment) -> dict[str, int]:
    """Return the line of the log that shows each measurement or begins each block, by name."""
    log = build_log(env)
    return {name: lines.start for name, lines in log.blocks.items()} | log.line_numbers


def records(env: BuildEnvironment) -> dict[str, Record]:
    """Return what each page has of the run, by document name."""
    if not hasattr(env, "attnlab_records"):
        env.attnlab_records = {}  # type: ignore[attr-defined]
    found: dict[str, Record] = env.attnlab_records  # type: ignore[attr-defined]
    return found


def record(env: BuildEnvironment) -> Record:
    """Return what the page that is being read has of the run.

    Asking for it makes the page depend on the run.
    """
    return records(env).setdefault(env.docname, Record())


def citations(env: BuildEnvironment) -> dict[str, list[tuple[str, str]]]:
    """Return where each measurement is cited: document name and id, in the order of the names."""
    found: dict[str, list[tuple[str, str]]] = {}
    for docname, page in sorted(records(env).items()):
        for name, anchor in page.citations:
            found.setdefault(name, []).append((docname, anchor))
    return found


def warn(
    env: BuildEnvironment,
    location: str | nodes.Node,
    subtype: str,
    message: str,
    text: str = "",
) -> None:
    """Warn, and remember that the page must be read again by the next build.

    Parameters
    ----------
    env : BuildEnvironment
        Of the build.
    location : str or Node
        Where, as ``file:line`` or as the node that is wrong.
    subtype : str
        The second part of the warning's category ``attnlab.subtype``.
    message : str
        What is wrong, and what was expected.
    text : str, optional
        What stands there, if the location is only the start of its paragraph.
    """
    record(env).failed = True
    place = places.locate(env, location, text)
    logger.warning("%s", message, location=place, type="attnlab", subtype=subtype)


def _start(app: Sphinx) -> None:
    """Run the sections before the readers are started."""
    _run(app)


def _outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Name the pages to read again, though their own source did not change."""
    digest = _run(env).digest
    same = getattr(env, "attnlab_digest", digest) == digest
    env.attnlab_digest = digest  # type: ignore[attr-defined]
    return sorted(docname for docname, page in records(env).items() if page.failed or not same)


def _purge(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Forget a page that will be read again."""
    records(env).pop(docname, None)


def _merge(
    app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: BuildEnvironment
) -> None:
    """Take over the pages that another process read."""
    theirs = records(other)
    for docname in docnames:
        if docname in theirs:
            records(env)[docname] = theirs[docname]


def _updated(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name the pages to write again because the citations that they show have changed."""
    now = citations(env)
    before = getattr(env, "attnlab_citations", now)
    env.attnlab_citations = now  # type: ignore[attr-defined]
    if now == before:
        return []
    return sorted(docname for docname, page in records(env).items() if page.shows_citations)


def _report(app: Sphinx, exception: Exception | None) -> None:
    """Say at the end of a build what it proved."""
    if exception is not None or not records(app.env):
        return
    pages = records(app.env).values()
    cited = {name for page in pages for name, _ in page.citations}
    lines = {line for name, line in line_numbers(app.env).items() if name in cited}
    logger.info(
        "attnlab: %s proved, %s held, %s of the log cited, %s given, %s checked",
        _count(sum(page.numbers for page in pages), "number"),
        _count(sum(page.claims for page in pages), "claim"),
        _count(len(lines), "line"),
        _count(sum(page.givens for page in pages), "number"),
        _count(sum(len(page.exercises) for page in pages), "exercise"),
    )


def _count(count: int, what: str) -> str:
    """Return how many there are: ``1 claim``, ``2 claims``."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def setup(app: Sphinx) -> None:
    """Connect to Sphinx; the sections run before sphinx-gallery's lessons."""
    app.connect("builder-inited", _start, priority=450)
    app.connect("env-get-outdated", _outdated)
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
    app.connect("env-updated", _updated)
    app.connect("build-finished", _report)
