"""The command line: ``python -m attnlab reproduce``."""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from attnlab import __version__, reproduce
from attnlab.errors import AttnlabError, OutputError

SAME, DIFFERENT, COULD_NOT_RUN = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``python -m attnlab``; those of this process if left out.

    Returns
    -------
    int
        0 the log is the canonical one, 1 it differs, 2 it could not be made.
    """
    options = _parser().parse_args(arguments)
    os.environ["MPLBACKEND"] = "agg"  # figures go to files, whatever display there is
    try:
        return int(options.run(options))
    except BrokenPipeError:  # whoever read our output has stopped; there is nobody to tell
        _drop_output()
        return COULD_NOT_RUN
    except AttnlabError as error:
        print(f"attnlab: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    except ImportError as error:
        print(f"attnlab: a package cannot be imported: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    except Exception:  # a mistake of ours: its traceback helps, and 1 would say "it differs"
        traceback.print_exc()
        return COULD_NOT_RUN
    except KeyboardInterrupt:
        print("attnlab: interrupted; no file is left half-written", file=sys.stderr)
        return COULD_NOT_RUN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m attnlab", description="Self-attention by hand, every number checked."
    )
    parser.add_argument("--version", action="version", version=f"attnlab {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_reproduce(commands)
    return parser


def _add_reproduce(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe ``reproduce``."""
    command = commands.add_parser(
        "reproduce",
        help="make the results log and the figures, and compare with the canonical log",
        description="Run the workshop's sections, print their log, write captures/results.log "
        "and diagrams/*.png, and compare with the canonical log.",
        epilog="exit codes: 0 the log is the canonical one, or differs only where it may, each "
        "such line named; 1 it differs; 2 it could not be made",
    )
    command.add_argument(
        "--output",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the folder to write into (default: the current one)",
    )
    command.add_argument(
        "--sections",
        type=lambda names: names.split(","),
        metavar="S1,S3",
        help="make these sections only (default: all)",
    )
    command.add_argument("--strict", action="store_true", help="demand every byte")
    command.add_argument(
        "--update-canonical",
        action="store_true",
        help="for maintainers: make this run's log the canonical one of the source tree",
    )
    command.set_defaults(run=_reproduce)


def _reproduce(options: argparse.Namespace) -> int:
    """Run, write, compare and say what was found."""
    if options.update_canonical:
        _check_can_update(options.sections)
    log = reproduce.write(options.output, options.sections, echo=_say)
    _say(f"wrote {options.output / 'captures' / 'results.log'}: {len(log.lines)} lines")
    figures = sum(".plot." in name for name in log.blocks)
    if figures:
        _say(f"wrote {figures} figures into {options.output / 'diagrams'}")
    found = reproduce.compare(log)
    for line in found.differences:
        _say(line)
    for reason in log.skipped.values():
        print(f"attnlab: {reason}", file=sys.stderr)
    if log.skipped:
        _say(f"not complete: {', '.join(log.skipped)} could not run; {_summary(found)}")
        return COULD_NOT_RUN
    if options.update_canonical:
        reproduce.replace_text(reproduce.canonical_path(), log.text)
        _say(f"updated {reproduce.canonical_path()}")
        return SAME
    _say(_summary(found))
    for line in found.allowed:
        _say(f"  {line}")
    if found.differences:
        return DIFFERENT
    if options.strict and found.allowed:
        _say("not the same: --strict demands every byte")
        return DIFFERENT
    return SAME


def _summary(found: reproduce.Comparison) -> str:
    """Return what the comparison found, in plain words."""
    if found.differences:
        return "different: the lines above are not those of the canonical log"
    if found.allowed:
        return (
            f"the same: of {found.compared} lines compared with the canonical log, "
            f"{len(found.allowed)} differ, and they may:"
        )
    return f"identical: all {found.compared} lines are those of the canonical log, byte for byte"


def _check_can_update(sections: Sequence[str] | None) -> None:
    """Raise unless a whole run in a source tree is asked for."""
    if sections:
        raise OutputError("--update-canonical needs a whole run, so it goes without --sections")
    if not (reproduce.canonical_path().parents[2] / "pyproject.toml").is_file():
        raise OutputError(
            f"--update-canonical works in a source tree only, and {reproduce.canonical_path()} "
            "belongs to an installed package; run it in a clone of the repository"
        )


def _say(text: str) -> None:
    """Print a line at once; signs that the terminal's encoding lacks are spelled out."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop_output()
        raise OutputError(f"cannot print: {error.strerror}") from error


def _drop_output() -> None:
    """Give up what could not be printed, or Python would try again, and fail, as it ends."""
    with suppress(OSError):  # where standard output is no file, nothing is left to print
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
