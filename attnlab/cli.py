"""The command line: ``python -m attnlab COMMAND``."""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab import __version__, reproduce
from attnlab.errors import AttnlabError, InvalidValueError, OutputError

if TYPE_CHECKING:
    from attnlab.results_log import ResultsLog
    from attnlab.world_file import WorldFile

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
        for line in str(error).splitlines():  # a world's file may have several faults
            print(f"attnlab: {line}", file=sys.stderr)
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
    _add_world(commands)
    _add_trace(commands)
    _add_worksheet(commands)
    return parser


def _add_reproduce(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe ``reproduce``."""
    command = commands.add_parser(
        "reproduce",
        help="make the results log and the figures, and compare with the canonical log",
        description="Run the workshop's sections, print their log, write captures/results.log "
        "and diagrams/*.png, and compare with the canonical log.",
        epilog="exit codes: 0 the log is the canonical one, or differs only where it may, each "
        "such line named, or is that of another world; 1 it differs; 2 it could not be made",
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
        metavar="S1,S3",
        help="make these sections only (default: all)",
    )
    add_world_option(command)
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
        _check_can_update(options)
    file = chosen_world(options)
    if options.strict and not file.is_built_in:
        raise InvalidValueError(
            f"--strict compares with the canonical log, which is that of the built-in world, "
            f"but {options.world} describes another; leave --strict out"
        )
    log = reproduce.write(
        options.output, options.sections, world=file.world, seed=file.seed, echo=_say
    )
    _say(f"wrote {options.output / 'captures' / 'results.log'}: {len(log.lines)} lines")
    figures = sum(name.split(".")[1] == "plot" for name in log.blocks)
    if figures:
        _say(f"wrote {figures} figure{'s' * (figures > 1)} into {options.output / 'diagrams'}")
    for reason in log.skipped.values():
        print(f"attnlab: {reason}", file=sys.stderr)
    if file.is_built_in:
        return _compare(options, log)
    if log.skipped:
        _say(f"not complete: {', '.join(log.skipped)} could not run")
        return COULD_NOT_RUN
    _say(
        f"not compared: the canonical log is that of the built-in world, and {options.world} "
        "describes another"
    )
    return SAME


def _compare(options: argparse.Namespace, log: "ResultsLog") -> int:
    """Compare a log with the canonical one, or make it that, and say what was found."""
    found = reproduce.compare(log)
    for line in found.differences:
        _say(line)
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


def _check_can_update(options: argparse.Namespace) -> None:
    """Raise unless a whole run of the built-in world in a source tree is asked for."""
    if options.world:
        raise OutputError(
            "--update-canonical is for the built-in world, so it goes without --world"
        )
    if options.sections:
        raise OutputError("--update-canonical needs a whole run, so it goes without --sections")
    if not (reproduce.canonical_path().parents[2] / "pyproject.toml").is_file():
        raise OutputError(
            f"--update-canonical works in a source tree only, and {reproduce.canonical_path()} "
            "belongs to an installed package; run it in a clone of the repository"
        )


def add_world_option(command: argparse.ArgumentParser) -> None:
    """Let a command take ``--world FILE``; :func:`chosen_world` reads it."""
    command.add_argument(
        "--world",
        type=Path,
        metavar="FILE",
        help="a toy world of your own, from a file as `world init` writes it "
        "(default: the built-in world)",
    )


def chosen_world(options: argparse.Namespace) -> "WorldFile":
    """Return the world that ``--world`` names, or the built-in one.

    Raises
    ------
    WorldFileError
        If the file cannot be read or describes no world.
    """
    from attnlab import world_file

    return world_file.BUILT_IN if options.world is None else world_file.read_world(options.world)


def _add_world(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe ``world init`` and ``world check``."""
    command = commands.add_parser(
        "world",
        help="start a toy world of your own, or check one",
        description="Start a toy world of your own as a file, or check such a file.",
    )
    actions = command.add_subparsers(title="commands", required=True, metavar="COMMAND")
    init = actions.add_parser(
        "init",
        help="write the built-in world to a file, to start from",
        description="Write the built-in world to a file, with comments, to start from.",
    )
    init.add_argument("file", type=Path, metavar="FILE", help="where to write, such as my.toml")
    init.add_argument("--force", action="store_true", help="replace the file if it is there")
    init.set_defaults(run=_init_world)
    check = actions.add_parser(
        "check",
        help="say what world a file describes, or what is wrong with it",
        description="Say what world a file describes, or everything that is wrong with it.",
        epilog="exit codes: 0 the file describes a world; 2 it does not, or cannot be read",
    )
    check.add_argument("file", type=Path, metavar="FILE", help="the file")
    check.set_defaults(run=_check_world)


def _init_world(options: argparse.Namespace) -> int:
    """Write the built-in world."""
    from attnlab.world_file import BUILT_IN

    if os.path.lexists(options.file) and not options.force:
        raise OutputError(
            f"{options.file} is there already, and was left as it is; "
            "choose another name, or replace it with --force"
        )
    reproduce.replace_text(options.file, BUILT_IN.toml)
    _say(f"wrote {options.file}: change it, then run python -m attnlab world check {options.file}")
    return SAME


def _check_world(options: argparse.Namespace) -> int:
    """Read a world and say what it holds."""
    from attnlab.world_file import read_world

    file = read_world(options.file)
    world = file.world
    _say(f"{options.file} describes a world:")
    for what, names in (
        ("words", world.words),
        ("axes", world.axes),
        ("channels", world.channels),
        ("sentences", [f'"{sentence}"' for sentence in world.sentences]),
    ):
        _say(f"  {len(names)} {what}: {', '.join(names)}")
    _say(f"  focus: {world.focus}")
    _say(f"  seed: {file.seed}")
    return SAME


def _add_head_options(command: argparse.ArgumentParser) -> None:
    """Let a command take the options that say which attention is meant."""
    command.add_argument(
        "--head",
        choices=("raw", "wired"),
        default="raw",
        help="raw: each word is its own query and key; wired: the world's W_Q and W_K (default: "
        "%(default)s)",
    )
    command.add_argument(
        "--word",
        help="whose output is calculated (default: the world's focus word)",
    )
    command.add_argument("--causal", action="store_true", help="hide later words from earlier ones")
    command.add_argument(
        "--unscaled",
        action="store_true",
        help="do not divide the wired head's scores by the square root of the number of channels",
    )
    add_world_option(command)


def _add_trace(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe ``trace``."""
    command = commands.add_parser(
        "trace",
        help="write out how the output of a word is calculated",
        description="Write out how attention makes the output of one word, step by step, as a "
        "person does it on paper.",
    )
    command.add_argument(
        "sentence", metavar="SENTENCE", help='words of the world, such as "the river bank"'
    )
    _add_head_options(command)
    command.add_argument(
        "--sharpness",
        type=float,
        default=1.0,
        metavar="X",
        help="multiply the scores by this in the end (default: 1)",
    )
    command.add_argument(
        "--places",
        type=int,
        default=3,
        metavar="N",
        help="how many decimals to show, from 1 to 9 (default: 3)",
    )
    command.add_argument(
        "--format",
        choices=("text", "markdown", "latex", "html"),
        help="what to write (default: as FILE ends in .md, .tex or .html, or else text)",
    )
    command.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="where to write (default: the terminal)"
    )
    command.set_defaults(run=_trace)


_FORMATS = {".md": "markdown", ".tex": "latex", ".html": "html", ".htm": "html"}


def _trace(options: argparse.Namespace) -> int:
    """Write out a calculation."""
    from attnlab.trace import trace_word

    traced = trace_word(
        chosen_world(options).world,
        options.sentence,
        options.word,
        head=options.head,
        causal=options.causal,
        scaled=not options.unscaled,
        sharpness=options.sharpness,
        places=options.places,
    )
    suffix = options.output.suffix.lower() if options.output else ""
    text = traced.write(options.format or _FORMATS.get(suffix, "text"))
    if options.output is None:
        _say(text.removesuffix("\n"))
    else:
        reproduce.replace_text(options.output, text)
        _say(f"wrote {options.output}")
    return SAME


def _add_worksheet(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe ``worksheet``."""
    command = commands.add_parser(
        "worksheet",
        help="make worksheets to print and fill in, with answers",
        description="Make worksheets: the attention of a word with numbers left out, to print and "
        "fill in with a pencil.",
    )
    command.add_argument(
        "sentences",
        nargs="+",
        metavar="SENTENCE",
        help='words of the world, such as "the river bank"; each sentence is a task',
    )
    command.add_argument(
        *("-o", "--output"),
        type=Path,
        required=True,
        metavar="FILE",
        help="where to write: a .html file, which any browser prints, or a .pdf file",
    )
    _add_head_options(command)
    command.add_argument(
        "--blank",
        type=lambda names: [name.strip() for name in names.split(",") if name.strip()],
        default=["scores", "weights", "output"],
        metavar="WHAT,WHAT",
        help="what to leave out: some of rows, scores, weights, output "
        "(default: scores,weights,output)",
    )
    command.add_argument(
        "--level",
        type=int,
        default=1,
        choices=(1, 2, 3),
        help="1: steps explained, first rows worked; 2: steps named; 3: tables only (default: 1)",
    )
    command.add_argument("--answers", action="store_true", help="add pages with the answers")
    command.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="draw numbers that can be worked with by hand, another set on each copy",
    )
    command.add_argument(
        "--copies", type=int, default=1, metavar="N", help="how many sheets (default: 1)"
    )
    command.add_argument(
        "--paper", choices=("a4", "letter"), default="a4", help="default: %(default)s"
    )
    command.add_argument(
        "--browser",
        metavar="PROGRAM",
        help="the Chromium, Chrome or Edge that prints a .pdf file (default: the one found)",
    )
    command.set_defaults(run=_worksheet)


def _worksheet(options: argparse.Namespace) -> int:
    """Make worksheets."""
    from attnlab import worksheet
    from attnlab.byhand import Head

    suffix = options.output.suffix.lower()
    if suffix not in (".html", ".htm", ".pdf"):
        raise InvalidValueError(
            f"a worksheet is written to a .html or a .pdf file, but -o is {options.output}"
        )
    world = chosen_world(options).world
    tasks = [
        worksheet.Task(
            Head(world.split(sentence), options.head, options.causal, not options.unscaled),
            options.word or world.focus,
        )
        for sentence in options.sentences
    ]
    document = worksheet.worksheets(
        world,
        tasks,
        blank=options.blank,
        level=options.level,
        answers=options.answers,
        seed=options.seed,
        copies=options.copies,
        paper=options.paper,
    )
    if suffix == ".pdf":
        browser = worksheet.find_browser(options.browser)
        reproduce.replace_bytes(options.output, worksheet.print_pdf(document, browser))
    else:
        reproduce.replace_text(options.output, document)
    _say(f"wrote {options.output}")
    return SAME


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
