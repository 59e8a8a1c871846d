"""The run: sections in, log and figures out, and the comparison with the canonical log.

- :func:`run` executes sections on one generator and returns their log. It writes nothing.
- :func:`compare` says how a log differs from the canonical one, and what of that is allowed.
- :func:`write` runs, and replaces the log and the figures in a folder as one.
"""

import os
import platform
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from attnlab import figures
from attnlab.errors import InvalidValueError, MissingDependencyError, OutputError
from attnlab.results_log import Block, Line, ResultsLog
from attnlab.sections import SECTIONS
from attnlab.toy_world import TOY_WORLD, ToyWorld

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "LLM Self-Attention by Hand -- experiment log"
SEED = 0
_RULE = "=" * 72


def run(
    sections: Iterable[str] | None = None,
    *,
    world: ToyWorld = TOY_WORLD,
    seed: int = SEED,
    echo: Callable[[str], None] | None = None,
    save_figure: Callable[[str, "Figure"], None] | None = None,
) -> ResultsLog:
    """Execute sections and return their log.

    Parameters
    ----------
    sections : iterable of str, optional
        Names such as ``"S3"``, in any order and case, or one text with commas between them; all
        sections if left out.
    world : ToyWorld, optional
        The words, sentences and wired head to run on.
    seed : int, optional
        What the generator of S5 and S6 starts from, at least 0.
    echo : callable, optional
        Called with each line as it is logged, for example ``print``.
    save_figure : callable, optional
        Called with the name and the figure for each figure of these sections. Without it no
        figure is drawn; the log is the same.

    Returns
    -------
    ResultsLog
        Lines, blocks and measurements. A section whose optional package is missing says so in
        the log and stands in ``skipped``.

    Raises
    ------
    InvalidValueError
        If a section's name is unknown, or none is given.
    """
    chosen = _chosen(sections)
    log = ResultsLog(echo)
    for block in _header(world, seed):
        log.add(block)
    rng = np.random.default_rng(seed)
    for section in SECTIONS:
        if not chosen:
            break
        # Sections before a chosen one are measured too: they draw from the same generator.
        wanted = section.name in chosen
        chosen.discard(section.name)
        try:
            measured = section.measure(world, rng)
        except MissingDependencyError as error:
            log.skipped[section.name] = str(error)
        if not wanted:
            continue
        log.add(_block(f"{section.name}.heading", section.heading))
        if section.name in log.skipped:
            log.add(_block(f"{section.name}.not_run", f"  not run: {log.skipped[section.name]}"))
        else:
            for block in section.report(measured):
                log.add(block)
            for name, draw in section.figures.items():
                if save_figure:
                    save_figure(name, draw(measured))
                log.add(
                    _block(f"{section.name}.plot.{name}", f"  [plot saved: diagrams/{name}.png]")
                )
        log.add(_block(f"{section.name}.end", ""))
    return log


def _chosen(sections: Iterable[str] | None) -> set[str]:
    """Return the names of the sections to run."""
    known = [section.name for section in SECTIONS]
    if sections is None:
        return set(known)
    if isinstance(sections, str):  # its letters are no names
        sections = sections.split(",")
    chosen = {str(name).strip().upper() for name in sections}
    unknown = sorted(chosen - set(known))
    if unknown or not chosen:
        raise InvalidValueError(
            f"sections must be some of {', '.join(known)}, but "
            f"{' and '.join(map(repr, unknown)) if unknown else 'none'} was given"
        )
    return chosen


def _header(world: ToyWorld, seed: int) -> Iterator[Block]:
    """Return the blocks before the first section."""
    yield _block("header.title", _RULE, TITLE)
    versions = [f"{name} {_version(name)}" for name in ("torch", "numpy", "matplotlib")]
    yield _block(
        "header.environment",
        " | ".join([*versions, f"python {platform.python_version()}", f"seed {seed}"]),
    )
    yield _block(
        "header.world",
        f"toy world: {len(world.words)}-word vocabulary, "
        f"{len(world.axes)} hand-named embedding {'axes' if len(world.axes) > 1 else 'axis'}",
        _RULE,
        "",
    )


def _version(distribution: str) -> str:
    """Return the installed version of a package."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"


def _block(name: str, *lines: str) -> Block:
    """Return a block of plain lines."""
    block = Block(name)
    for text in lines:
        block.line(text)
    return block


def canonical_path() -> Path:
    """Return where the canonical log lies in the installed package."""
    return Path(str(resources.files("attnlab"))) / "canonical" / "results.log"


def canonical_text() -> str:
    """Return the canonical log that the package ships."""
    return canonical_path().read_bytes().decode("utf-8")


@dataclass(frozen=True)
class Comparison:
    """How a log differs from the canonical one.

    Attributes
    ----------
    compared : int
        How many lines were compared.
    allowed : tuple of str
        A sentence for each line that differs as it may from machine to machine.
    differences : tuple of str
        Every other difference, with line numbers, ready to print.
    """

    compared: int
    allowed: tuple[str, ...]
    differences: tuple[str, ...]


def compare(log: ResultsLog, canonical: str | None = None) -> Comparison:
    """Compare a log with the canonical one, section by section.

    The environment line may differ, and so may numbers that are rounding noise while they stay
    under their bound. Sections that were not run are not compared.

    Parameters
    ----------
    log : ResultsLog
        The log of a run.
    canonical : str, optional
        What it should be; the log that the package ships if left out.

    Returns
    -------
    Comparison
        What differs and whether it may.
    """
    canonical_lines = (canonical_text() if canonical is None else canonical).split("\n")
    if canonical_lines[-1] == "":
        canonical_lines.pop()  # what stands after the last line's end
    expected = _by_section(canonical_lines)
    compared = 0
    allowed: list[str] = []
    differences: list[str] = []
    for name, ours in _by_section([line.text for line in log.lines]).items():
        if name in log.skipped:
            continue
        theirs = expected.get(name, {})
        texts = list(ours.values())
        for i, ((number, text), (their_number, their_text)) in enumerate(
            zip(ours.items(), theirs.items(), strict=False)
        ):
            reason = text != their_text and _allowed(log, number, their_text)
            if reason:
                texts[i] = their_text
                allowed.append(
                    f"line {their_number}: {reason}\n"
                    f"    canonical: {their_text.strip()}\n"
                    f"    this run:  {text.strip()}"
                )
        differences += _differences(texts, list(ours), list(theirs.values()), list(theirs))
        compared += len(ours)
    return Comparison(compared, tuple(allowed), tuple(differences))


def _by_section(lines: Iterable[str]) -> dict[str, dict[int, str]]:
    """Return each section's lines by line number; the header's name is empty."""
    sections: dict[str, dict[int, str]] = {}
    name = ""
    for number, text in enumerate(lines, start=1):
        heading = re.match(r"\[(\w+)\] ", text)
        name = heading[1] if heading else name
        sections.setdefault(name, {})[number] = text
    return sections


def _allowed(log: ResultsLog, number: int, canonical: str) -> str | None:
    """Return why a line may differ from the canonical one, or None if it may not."""
    if number in log.blocks["header.environment"]:
        return "the environment, which names the installed versions"
    line: Line = log.lines[number - 1]
    for measurement in line.measurements:
        before, _, after = line.text.partition(measurement.text)
        pattern = re.escape(before) + r"[-+.\de]+" + re.escape(after)
        if (
            measurement.noise_bound is not None
            and measurement.value <= measurement.noise_bound
            and re.fullmatch(pattern, canonical)
        ):
            return f"rounding noise, under its bound of {measurement.noise_bound:.0e}"
    return None


def _differences(
    ours: list[str], our_numbers: list[int], theirs: list[str], their_numbers: list[int]
) -> Iterator[str]:
    """Yield the differences between two lists of lines as a diff with line numbers."""
    matcher = SequenceMatcher(None, theirs, ours, autojunk=False)
    for change, i, i_end, j, j_end in matcher.get_opcodes():
        if change != "equal":
            for number, text in zip(their_numbers[i:i_end], theirs[i:i_end], strict=True):
                yield f"- canonical {number:>4} | {text}"
            for number, text in zip(our_numbers[j:j_end], ours[j:j_end], strict=True):
                yield f"+ this run  {number:>4} | {text}"


def write(
    output: Path,
    sections: Iterable[str] | None = None,
    *,
    world: ToyWorld = TOY_WORLD,
    seed: int = SEED,
    echo: Callable[[str], None] | None = None,
) -> ResultsLog:
    """Run, then replace ``captures/results.log`` and ``diagrams/*.png`` under a folder.

    Everything is written beside its target first and renamed when the run is complete, so a
    run that fails or is interrupted leaves the earlier files as they were. Figures of an
    earlier run that this run did not make are removed: the folder holds one run.

    Parameters
    ----------
    output : Path
        The folder; made if it is not there.
    sections, world, seed, echo
        As for :func:`run`.

    Returns
    -------
    ResultsLog
        The log that was written.

    Raises
    ------
    OutputError
        If something could not be written, or another run is writing into the folder.
    InvalidValueError
        As for :func:`run`.
    """
    chosen = _chosen(sections)  # a wrong name must not touch the folder
    targets = {
        name: output / "diagrams" / f"{name}.png"
        for section in SECTIONS
        for name in section.figures
    }
    log_target = output / "captures" / "results.log"
    with _writing_into(output, [*targets.values(), log_target]) as staging:
        files: dict[Path, Path | None] = dict.fromkeys(targets.values())

        def save_figure(name: str, figure: "Figure") -> None:
            staged = staging / f"{name}.png"
            figures.save(figure, staged)
            files[targets[name]] = staged

        log = run(chosen, world=world, seed=seed, echo=echo, save_figure=save_figure)
        staged_log = staging / "results.log"
        staged_log.write_bytes(log.text.encode("utf-8"))
        files[log_target] = staged_log
        _publish(files, staging)
    return log


def replace_text(path: Path, text: str) -> None:
    """Replace a file by UTF-8 text, as :func:`replace_bytes` does."""
    replace_bytes(path, text.encode("utf-8"))


def replace_bytes(path: Path, content: bytes) -> None:
    """Replace a file as a whole, or leave it as it was.

    Raises
    ------
    OutputError
        If it could not be written.
    """
    with _writing_into(path.parent, [path]) as staging:
        staged = staging / path.name
        staged.write_bytes(content)
        staged.replace(path)


def _publish(files: Mapping[Path, Path | None], staging: Path) -> None:
    """Move finished files to their targets, and remove the targets of None: all, or none."""
    earlier = {target: staging / f"earlier-{target.name}" for target in files if target.exists()}
    for target, copy in earlier.items():
        shutil.copy2(target, copy)
    folders = [folder for folder in {t.parent for t in files} if not folder.exists()]
    try:
        for target, staged in files.items():
            if staged is None:
                target.unlink(missing_ok=True)
            else:
                target.parent.mkdir(exist_ok=True)
                staged.replace(target)
    except BaseException:
        for target in files:
            if target in earlier:
                earlier[target].replace(target)
            else:
                target.unlink(missing_ok=True)
        for folder in folders:
            with suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def _writing_into(output: Path, targets: Iterable[Path]) -> Iterator[Path]:
    """Hold a folder for one run and give it a place to write beside the targets.

    Any failure to write leaves as one :class:`OutputError`.
    """
    try:
        output.mkdir(parents=True, exist_ok=True)
        for target in targets:
            if target.is_dir():
                raise OutputError(f"cannot write {target}: it is a folder, and a file is wanted")
            if target.parent.exists() and not target.parent.is_dir():
                raise OutputError(
                    f"cannot write into {target.parent}: it is a file, and a folder is wanted"
                )
        with _lock(output):
            staging = output / ".attnlab-unfinished"
            shutil.rmtree(staging, ignore_errors=True)  # of a run that was killed
            staging.mkdir()
            try:
                yield staging
            finally:
                shutil.rmtree(staging, ignore_errors=True)
    except (OutputError, BrokenPipeError):
        raise
    except (FileExistsError, NotADirectoryError) as error:
        raise OutputError(
            f"cannot write into {output}: part of this path is a file, and a folder is wanted"
        ) from error
    except OSError as error:
        raise OutputError(f"cannot write into {output}: {error.strerror or error}") from error


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Hold a folder against other runs; the system lets go of it when the process ends."""
    busy = OutputError(
        f"cannot write into {folder}: another run is writing there; "
        "wait for it, or choose another folder with --output"
    )
    try:
        import fcntl
    except ImportError:  # Windows: a file that vanishes with its last handle
        flags = os.O_CREAT | os.O_EXCL | getattr(os, "O_TEMPORARY", 0)
        try:
            handle = os.open(folder / ".attnlab.lock", flags)
        except FileExistsError:
            raise busy from None
    else:
        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise busy from None
        except OSError:  # a file system without locks, as some network ones are
            pass
    try:
        yield
    finally:
        os.close(handle)
