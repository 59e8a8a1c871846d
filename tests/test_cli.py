"""The command line as a user meets it: exit codes, words, streams, signals, two runs at once."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import attnlab
from attnlab import cli, figures, reproduce
from attnlab.cli import main
from attnlab.reproduce import canonical_path, canonical_text

ROOT = Path(__file__).parents[1]
FAST = ["reproduce", "--sections", "S1"]
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX signals and streams")


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")  # main sets it, so have it put back


@pytest.fixture
def edited(monkeypatch):
    """Let the canonical log be another one, as after a change of the code."""

    def edit(old, new):
        assert old in canonical_text()
        text = canonical_text().replace(old, new, 1)
        monkeypatch.setattr(reproduce, "canonical_text", lambda: text)

    return edit


def answer(capsys):
    """What was printed, the lines of the log left out."""
    out, err = capsys.readouterr()
    lines = out.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith("wrote")), len(lines))
    return lines[start:], err


# --- Exit codes and words.


@pytest.mark.torch
def test_a_whole_run(tmp_path, capsys, log):
    assert main(["reproduce"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(log.text)
    assert err == ""
    assert (tmp_path / "captures" / "results.log").read_bytes() == log.text.encode()
    assert len(list((tmp_path / "diagrams").iterdir())) == 7
    assert "wrote captures/results.log: 100 lines\nwrote 7 figures into diagrams\n" in out
    assert re.search(r"^(identical: all 100 lines|the same: of 100 lines)", out, re.MULTILINE)


def test_some_sections(tmp_path, capsys, edited):
    edited(canonical_text().split("\n")[2], attnlab.run(["S1"]).lines[2].text)
    assert main([*FAST, "--output", "new/folder"]) == 0
    assert answer(capsys) == (
        [
            "wrote new/folder/captures/results.log: 16 lines",
            "identical: all 16 lines are those of the canonical log, byte for byte",
        ],
        "",
    )
    assert main(["reproduce", "--sections", "s4, S2", "--strict"]) == 0


@pytest.mark.parametrize(("strict", "code"), [([], 0), (["--strict"], 1)])
def test_an_allowed_difference_is_named(capsys, edited, strict, code):
    edited("torch 2.13.0", "torch 1")
    assert main([*FAST, *strict]) == code
    lines, err = answer(capsys)
    assert lines[1].startswith("the same: of 16 lines compared with the canonical log, 1 differ")
    assert lines[2] == "  line 3: the environment, which names the installed versions"
    assert lines[3].startswith("    canonical: torch 1+cpu")
    assert lines[4].startswith("    this run:  torch ")
    assert lines[5:] == ["not the same: --strict demands every byte"] * code
    assert err == ""


def test_a_changed_digit_is_shown(capsys, edited):
    edited("  bank         0.3", "  bank         0.4")
    assert main(FAST) == 1
    lines, err = answer(capsys)
    assert lines[1:4] == [
        "- canonical   13 |   bank         0.4     0.3     0.9     0.0",
        "+ this run    13 |   bank         0.3     0.3     0.9     0.0",
        "different: the lines above are not those of the canonical log",
    ]
    assert err == ""


def test_without_torch(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main(["reproduce", "--sections", "S1,S6"]) == 2
    lines, err = answer(capsys)
    assert lines[-1].startswith("not complete: S6 could not run; ")
    assert err.startswith("attnlab: PyTorch is needed")
    assert "pip install 'attnlab[torch]'" in err
    assert main(FAST) == 0


USAGE = {
    "nothing": ([], "usage: python -m attnlab"),
    "no such command": (["prove"], "invalid choice: 'prove'"),
    "no such option": (["reproduce", "--sctions", "S1"], "--sctions"),
    "an option without its value": (["reproduce", "--output"], "expected one argument"),
}


@pytest.mark.parametrize(("arguments", "shown"), USAGE.values(), ids=list(USAGE))
def test_usage(capsys, arguments, shown):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert shown in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["--help"], "reproduce"),
        (["--version"], f"attnlab {attnlab.__version__}"),
        (["reproduce", "--help"], "exit codes: 0"),
    ],
)
def test_help_and_version(capsys, arguments, shown):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 0
    out, err = capsys.readouterr()
    assert shown in " ".join(out.split())
    assert err == ""


MISTAKES = {
    "unknown section": (["reproduce", "--sections", "S1,S9"], "sections must be some of S1, "),
    "no section": (["reproduce", "--sections", ""], "sections must be some of S1, "),
    "output is a file": ([*FAST, "--output", "file"], "part of this path is a file"),
    "captures is a file": ([*FAST, "--output", "has_file"], "it is a file, and a folder"),
    "a figure is a folder": ([*FAST, "--output", "has_folder"], "it is a folder, and a file"),
    "nowhere to write": ([*FAST, "--output", "/proc/nowhere"], "cannot write into /proc/nowhere"),
    "update of some sections": ([*FAST, "--update-canonical"], "goes without --sections"),
}


@pytest.mark.parametrize(("arguments", "shown"), MISTAKES.values(), ids=list(MISTAKES))
def test_mistakes_are_answered_in_one_line(tmp_path, capsys, contents, arguments, shown):
    (tmp_path / "file").touch()
    (tmp_path / "has_file").mkdir()
    (tmp_path / "has_file" / "captures").touch()
    (tmp_path / "has_folder" / "diagrams" / "causal_mask.png").mkdir(parents=True)
    before = contents(tmp_path)
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("attnlab: ")
    assert err.count("\n") == 1
    assert shown in err
    assert contents(tmp_path) == before


def test_an_output_folder_that_cannot_be_written(tmp_path, capsys, monkeypatch):
    def refuse(self, *arguments, **options):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert main([*FAST, "--output", "theirs"]) == 2
    assert answer(capsys) == ([], "attnlab: cannot write into theirs: Permission denied\n")


@posix
def test_a_full_disk(tmp_path, capsys, contents):
    """A limit on the size of files stands in for it: a figure does not fit any more."""
    import resource

    assert main(["reproduce", "--sections", "S4"]) == 0
    before = contents(tmp_path)
    capsys.readouterr()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        assert main(["reproduce", "--sections", "S4"]) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert answer(capsys)[1] == "attnlab: cannot write into .: File too large\n"
    assert contents(tmp_path) == before


def test_two_runs_into_one_folder(tmp_path, capsys, contents):
    with reproduce._lock(tmp_path):
        assert main(FAST) == 2
        assert contents(tmp_path) == {}
    _, err = answer(capsys)
    assert err.startswith("attnlab: cannot write into .: another run is writing there; ")
    assert err.count("\n") == 1


def test_interrupted(tmp_path, capsys, contents, monkeypatch):
    def interrupt(figure, path):
        raise KeyboardInterrupt

    monkeypatch.setattr(figures, "save", interrupt)
    assert main(["reproduce", "--sections", "S4"]) == 2
    assert capsys.readouterr().err == "attnlab: interrupted; no file is left half-written\n"
    assert contents(tmp_path) == {}


# --- The canonical log of a source tree.


@pytest.fixture
def tree(tmp_path):
    """A copy of the sources whose canonical log has lost a line."""
    shutil.copytree(ROOT / "attnlab", tmp_path / "tree" / "attnlab")
    shutil.copy(ROOT / "pyproject.toml", tmp_path / "tree")
    canonical = tmp_path / "tree" / "attnlab" / "canonical" / "results.log"
    canonical.chmod(0o644)
    canonical.write_text(canonical_text().replace("  bank . money = 0.360\n", ""))
    return canonical


@pytest.mark.torch
@pytest.mark.parametrize("how", ["in a source tree", "in an installed package", "without torch"])
def test_update_canonical(tree, capsys, monkeypatch, log, how):
    monkeypatch.setattr(reproduce, "canonical_path", lambda: tree)
    before = tree.read_bytes()
    if how == "in an installed package":
        (tree.parents[2] / "pyproject.toml").unlink()
    if how == "without torch":
        monkeypatch.setitem(sys.modules, "torch", None)
    code = main(["reproduce", "--update-canonical", "--output", "out"])
    lines, err = answer(capsys)
    if how == "in a source tree":
        assert code == 0
        assert lines[-1] == f"updated {tree}"
        assert tree.read_bytes() == log.text.encode()
        assert [path.name for path in tree.parent.iterdir()] == ["results.log"]
    else:
        assert code == 2
        assert tree.read_bytes() == before
    if how == "in an installed package":
        assert "works in a source tree only" in err
        assert not Path("out").exists()


def test_the_copied_tree_compares_with_its_own_log(tree, python):
    done = python(
        *("-m", "attnlab", "reproduce", "--sections=S2"),
        cwd=tree.parents[2],
        COVERAGE_PROCESS_CONFIG="",  # what is covered of a copy is of no interest
    )
    assert done.returncode == 1
    assert "+ this run     9 |   bank . money = 0.360" in done.stdout


# --- Processes: streams, signals, surroundings.


def start(*arguments, **options):
    """Start the command line as a process of its own, its output in a pipe."""
    return subprocess.Popen(
        [sys.executable, "-m", "attnlab", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        # Tests that run in the background of a shell inherit that Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )


@posix
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "kill"])
def test_a_run_that_is_stopped(tmp_path, contents, capsys, sent):
    for name in ("captures/results.log", "diagrams/causal_mask.png"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"earlier")
    before = contents(tmp_path)
    process = start("reproduce")
    while not process.stdout.readline().startswith("[S4]"):
        assert process.poll() is None
    process.send_signal(signal.SIGSTOP)  # so that it cannot finish first
    assert main(FAST) == 2  # another run, meanwhile
    assert "another run is writing there" in capsys.readouterr().err
    process.send_signal(sent)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err == "attnlab: interrupted; no file is left half-written\n"
    assert contents(tmp_path) == before


@posix
def test_a_reader_who_stops_reading(tmp_path, contents):
    process = start("reproduce", "--sections", "S2")
    assert process.stdout.readline() == "=" * 72 + "\n"
    process.stdout.close()
    assert process.wait(timeout=60) == 2
    assert process.stderr.read() == ""
    process.stderr.close()
    assert contents(tmp_path) == {}


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_output_onto_a_full_disk(tmp_path, contents):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "attnlab", *FAST],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "attnlab: cannot print: No space left on device\n"
    assert contents(tmp_path) == {}


def test_a_folder_name_that_the_terminal_cannot_show(python):
    done = python("-m", "attnlab", *FAST, "--output", "où", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "wrote o\\xf9/captures/results.log" in done.stdout


@posix
def test_closed_standard_output(tmp_path):
    done = subprocess.run(
        ["sh", "-c", '"$0" -m attnlab reproduce --sections S1 >&-', sys.executable],
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "captures" / "results.log").is_file()


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [([], 2, "usage: python -m attnlab"), (["--help"], 0, "reproduce"), (["--version"], 0, "0.")],
)
def test_the_command_itself(python, arguments, code, shown):
    done = python("-m", "attnlab", *arguments)
    assert done.returncode == code
    assert shown in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


ODD_SETTINGS = """\
font.family: monospace
font.size: 33
figure.dpi: 41
savefig.dpi: 57
savefig.bbox: tight
axes.facecolor: red
lines.linewidth: 9
axes.prop_cycle: cycler("color", ["k"])
"""


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize(
    "surroundings",
    [
        {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONHASHSEED": "1", "COLUMNS": "20"},
        {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "2", "PYTHONUTF8": "0", "TZ": "Asia/Tokyo"},
        {
            "MATPLOTLIBRC": "odd",
            "MPLBACKEND": "module://nowhere",
            "PYTHONOPTIMIZE": "2",
            "NO_COLOR": "1",
        },
    ],
    ids=" ".join,
)
def test_the_same_bytes_in_any_surroundings(
    tmp_path, tmp_path_factory, python, contents, surroundings
):
    plain = tmp_path_factory.getbasetemp() / "plain"
    if not plain.exists():
        reproduce.write(plain)
    if "MATPLOTLIBRC" in surroundings:
        odd = tmp_path_factory.mktemp("odd") / "matplotlibrc"
        odd.write_text(ODD_SETTINGS)
        surroundings = {**surroundings, "MATPLOTLIBRC": str(odd)}
    done = python("-W", "error", "-m", "attnlab", "reproduce", **surroundings)
    assert (done.returncode, done.stderr) == (0, "")
    assert contents(tmp_path) == contents(plain)
    assert done.stdout.startswith((plain / "captures" / "results.log").read_text())


def test_canonical_path_is_in_the_package():
    assert canonical_path() == Path(attnlab.__file__).parent / "canonical" / "results.log"
    assert (cli.SAME, cli.DIFFERENT, cli.COULD_NOT_RUN) == (0, 1, 2)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ImportError("no matplotlib"), "cannot be imported: no matplotlib"),
        (KeyError("x"), "KeyError"),
    ],
)
def test_what_nobody_foresaw_does_not_look_like_a_difference(error, said, monkeypatch, capsys):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(cli.reproduce, "write", fail)
    assert cli.main(["reproduce"]) == 2
    assert said in capsys.readouterr().err
