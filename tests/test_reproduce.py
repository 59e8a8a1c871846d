"""The run, the comparison with the canonical log, and files that are replaced as one."""

import errno
import itertools
import os
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest

import attnlab
from attnlab import figures, reproduce
from attnlab.reproduce import canonical_text, compare, replace_text, write
from attnlab.results_log import Block

ALL = [f"S{i}" for i in range(1, 7)]
FIGURES = {
    "S2": ["dot_product_arrows", "softmax_in_action"],
    "S3": ["raw_attention_heatmaps", "bank_water_money_plane"],
    "S4": ["qk_vs_raw_heatmaps"],
    "S5": ["scaling_max_weight"],
    "S6": ["causal_mask"],
}


def canonical_sections():
    """The canonical log's header, then its sections by name."""
    header, *parts = re.split(r"^(?=\[S\d\])", canonical_text(), flags=re.MULTILINE)
    return header, dict(zip(ALL, parts, strict=True))


def without_environment(text):
    return [line for line in text.split("\n") if not line.startswith("torch ")]


# --- run


@pytest.mark.parametrize(
    "chosen", [c for k in range(1, 6) for c in itertools.combinations(ALL[:5], k)], ids="".join
)
def test_any_sections_give_the_canonical_lines(chosen):
    header, sections = canonical_sections()
    expected = header + "".join(sections[name] for name in chosen)
    assert without_environment(attnlab.run(chosen).text) == without_environment(expected)


@pytest.mark.torch
@pytest.mark.parametrize("others", [[], ["S2"], ["S5"]], ids=str)
def test_s6_alone_draws_what_it_draws_in_a_whole_run(log, others):
    partial = attnlab.run(["S6", *others])
    for name, measurement in partial.measurements.items():
        assert measurement == log.measurements[name]
    assert partial.text.endswith(log.text[log.text.index("[S6]") :])


def test_sections_in_any_order_and_case():
    expected = attnlab.run(["S1", "S3"]).text
    assert attnlab.run([" s3", "S1 ", "s1"]).text == expected
    assert attnlab.run(name for name in ("S1", "S3")).text == expected
    assert attnlab.run("s3, S1").text == expected


@pytest.mark.parametrize(
    ("chosen", "shown"),
    [
        (["S7"], "'S7'"),
        (["S1", "S0", "x"], "'S0' and 'X'"),
        ([], "none"),
        ([3], "'3'"),
        ("S1,S7", "'S7'"),
        ("", "''"),
    ],
)
def test_unknown_sections(chosen, shown):
    with pytest.raises(attnlab.InvalidValueError, match=shown) as caught:
        attnlab.run(chosen)
    assert "S1, S2, S3, S4, S5, S6" in str(caught.value)


def test_each_line_is_echoed_as_it_is_logged():
    said = []
    log = attnlab.run(["S2"], echo=said.append)
    assert [line + "\n" for line in said] == log.text.splitlines(keepends=True)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(reproduce.metadata, "version", missing)
    log = attnlab.run()
    assert log.lines[2].text.startswith("torch not installed | numpy not installed |")
    assert list(log.skipped) == ["S6"]
    assert "pip install 'attnlab[torch]'" in log.skipped["S6"]
    assert log.text.endswith(f"  not run: {log.skipped['S6']}\n\n")
    found = compare(log)
    assert found.differences == ()
    assert found.compared == len(log.lines) - 3  # S6's heading, its reason, an empty line


# --- compare


def compare_edited(log, old, new):
    assert old in canonical_text()
    return compare(log, canonical_text().replace(old, new, 1))


@pytest.fixture(scope="module")
def noisy():
    """A log whose noise is the canonical one, whatever this processor's is."""

    def make(plain="2.22e-16", environment=None):
        log = attnlab.run(ALL[:5])
        _, sections = canonical_sections()
        block = Block("S6.comparison")
        for line in sections["S6"].split("\n")[:-1]:
            text = line
            if "difference" in line and not block.lines[2:]:
                shown = block.number("difference.plain", float(plain), ".2e", noise_bound=1e-14)
                text = f"    max |difference| = {shown}"
            block.line(text)
        log.add(block)
        line = canonical_text().split("\n")[2] if environment is None else environment
        log.lines[2] = attnlab.Line(line)
        return log

    return make


def test_the_same(noisy):
    assert compare(noisy()) == reproduce.Comparison(100, (), ())


def test_another_environment_is_allowed_and_named(noisy):
    found = compare(noisy(environment="torch 9"))
    assert found.differences == ()
    [reason] = found.allowed
    assert reason.startswith("line 3: the environment")
    assert "canonical: torch 2.13.0+cpu" in reason
    assert "this run:  torch 9" in reason


@pytest.mark.parametrize("noise", ["0.00e+00", "1.11e-16", "9.99e-15"])
def test_noise_under_its_bound_is_allowed_and_named(noisy, noise):
    found = compare(noisy(noise))
    assert found.differences == ()
    [reason] = found.allowed
    assert reason.startswith("line 86: rounding noise, under its bound of 1e-14")
    assert f"this run:  max |difference| = {noise}" in reason


@pytest.mark.parametrize("noise", ["1.01e-14", "3.00e-03", "nan", "inf"])
def test_noise_above_its_bound_is_a_difference(noisy, noise):
    found = compare(noisy(noise))
    assert found.allowed == ()
    assert found.differences == (
        "- canonical   86 |     max |difference| = 2.22e-16",
        f"+ this run    86 |     max |difference| = {noise}",
    )


def test_the_words_around_noise_may_not_differ(noisy):
    found = compare_edited(noisy(), "    max |difference| = 2.22e-16", "    max = 2.22e-16")
    assert found.allowed == ()
    assert len(found.differences) == 2


EDITS = {
    "a digit": ("0.576   0.212", "0.577   0.212", "-+", (37, 37)),
    "a title": ("LLM Self", "An LLM Self", "-+", (2, 2)),
    "the world": ("4-word", "5-word", "-+", (4, 4)),
    "a line gone": ("  bank . money = 0.360\n", "", "+", (19,)),
    "a line more": ("  bank . money = 0.360\n", "  bank . money = 0.360\n  x\n", "-", (20,)),
    "a space": ("symmetric? True ", "symmetric? True  ", "-+", (34, 34)),
    "a section gone": (canonical_sections()[1]["S1"], "", "+" * 10, range(7, 17)),
}


@pytest.mark.parametrize(("old", "new", "signs", "numbers"), EDITS.values(), ids=list(EDITS))
def test_any_other_difference_is_shown_with_line_numbers(noisy, old, new, signs, numbers):
    found = compare_edited(noisy(), old, new)
    assert [line[0] for line in found.differences] == list(signs)
    shown = [int(re.search(r"(\d+) \|", line)[1]) for line in found.differences]
    assert shown == list(numbers)


@pytest.mark.parametrize("cut", [1, 2, 60])
def test_a_log_cut_short_is_different(noisy, cut):
    assert compare(noisy(), canonical_text()[:-cut]).differences


@pytest.mark.parametrize("tail", ["x", "x\n", "\n", "\r\n"])
def test_a_tail_is_a_difference(noisy, tail):
    assert compare(noisy(), canonical_text() + tail).differences


def test_windows_line_ends_are_differences(noisy):
    assert len(compare(noisy(), canonical_text().replace("\n", "\r\n")).differences) > 100


def test_only_sections_that_ran_are_compared():
    found = compare(attnlab.run(["S2", "S4"]))
    assert found.differences == ()
    assert found.compared == len(attnlab.run(["S2", "S4"]).lines)


# --- write


def test_write(tmp_path, contents):
    log = write(tmp_path / "new" / "folder", ["S1", "S2"])
    found = contents(tmp_path / "new" / "folder")
    pictures = [f"diagrams/{name}.png" for name in FIGURES["S2"]]
    assert list(found) == ["captures", "captures/results.log", "diagrams", *pictures]
    assert found["captures/results.log"] == log.text.encode()
    assert all(found[picture].startswith(b"\x89PNG") for picture in pictures)


def test_sections_may_be_an_iterator(tmp_path):
    assert "S1.heading" in write(tmp_path, iter(["S1"])).blocks


def test_a_run_without_figures_makes_no_folder_for_them(tmp_path, contents):
    write(tmp_path, ["S1"])
    assert list(contents(tmp_path)) == ["captures", "captures/results.log"]


def test_figures_of_an_earlier_run_go_and_other_files_stay(tmp_path, contents):
    write(tmp_path, ["S2", "S4"])
    (tmp_path / "diagrams" / "mine.png").write_bytes(b"mine")
    (tmp_path / "captures" / "mine.txt").write_bytes(b"mine")
    write(tmp_path, ["S4"])
    assert [name for name in contents(tmp_path) if "." in name] == [
        "captures/mine.txt",
        "captures/results.log",
        "diagrams/mine.png",
        "diagrams/qk_vs_raw_heatmaps.png",
    ]


def test_a_wrong_section_touches_nothing(tmp_path, contents):
    with pytest.raises(attnlab.InvalidValueError):
        write(tmp_path / "new", ["S9"])
    assert contents(tmp_path) == {}


@pytest.fixture
def quick_figures(monkeypatch):
    """Draw S2's figures in no time."""
    for name in FIGURES["S2"]:
        monkeypatch.setattr(figures, name, lambda *measured: None)
    monkeypatch.setattr(figures, "save", lambda figure, path: Path(path).write_bytes(b"picture"))


def fail_in_save(monkeypatch, error):
    def save(figure, path):
        Path(path).write_bytes(b"half a pict")
        raise error

    monkeypatch.setattr(figures, "save", save)


def fail_in_replace(monkeypatch, error, at):
    """Fail at the given rename, and at no later one: those put the files back."""
    real, calls = Path.replace, itertools.count(1)

    def replace(self, target):
        if next(calls) == at:
            raise error
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)


def fail_in_copy(monkeypatch, error):
    def copy(source, target):
        raise error

    monkeypatch.setattr(reproduce.shutil, "copy2", copy)


NO_SPACE = OSError(errno.ENOSPC, "No space left on device")
FAILURES = {
    "while drawing": lambda patch: fail_in_save(patch, NO_SPACE),
    "interrupted while drawing": lambda patch: fail_in_save(patch, KeyboardInterrupt()),
    "a bug while drawing": lambda patch: fail_in_save(patch, ZeroDivisionError()),
    "while keeping the earlier files": lambda patch: fail_in_copy(patch, NO_SPACE),
    "at the first rename": lambda patch: fail_in_replace(patch, NO_SPACE, 1),
    "at the second rename": lambda patch: fail_in_replace(patch, NO_SPACE, 2),
    "at the last rename": lambda patch: fail_in_replace(patch, NO_SPACE, 3),
    "interrupted at a rename": lambda patch: fail_in_replace(patch, KeyboardInterrupt(), 2),
}
EARLIER = {
    "the same files": ["captures/results.log", *(f"diagrams/{n}.png" for n in FIGURES["S2"])],
    "other figures": ["captures/results.log", "diagrams/causal_mask.png", "diagrams/mine.png"],
    "a log": ["captures/results.log"],
}


@pytest.mark.parametrize("fail", FAILURES.values(), ids=list(FAILURES))
@pytest.mark.parametrize("earlier", EARLIER.values(), ids=list(EARLIER))
def test_a_run_that_fails_leaves_the_earlier_one(
    tmp_path, contents, monkeypatch, quick_figures, fail, earlier
):
    for name in earlier:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"earlier " + name.encode())
    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        fail(patch)
        with pytest.raises((OSError, KeyboardInterrupt, ZeroDivisionError)) as caught:
            write(tmp_path, ["S2"])
    if isinstance(caught.value, OSError):
        assert str(caught.value) == f"cannot write into {tmp_path}: No space left on device"
        assert isinstance(caught.value, attnlab.OutputError)
    assert contents(tmp_path) == before
    assert "S2.heading" in write(tmp_path, ["S2"]).blocks  # the folder is not locked


def test_a_first_run_that_fails_leaves_nothing(tmp_path, contents, monkeypatch, quick_figures):
    fail_in_replace(monkeypatch, NO_SPACE, 3)
    with pytest.raises(attnlab.OutputError):
        write(tmp_path, ["S2"])
    assert contents(tmp_path) == {}


def test_what_a_killed_run_left_is_cleared_away(tmp_path, contents):
    left = tmp_path / ".attnlab-unfinished" / "half.png"
    left.parent.mkdir()
    left.write_bytes(b"half")
    write(tmp_path, ["S1"])
    assert list(contents(tmp_path)) == ["captures", "captures/results.log"]


def make_folder(path):
    path.mkdir(parents=True)


def make_file(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"in the way")


OBSTACLES = {
    "output is a file": (make_file, "", "part of this path is a file"),
    "above output is a file": (make_file, "..", "part of this path is a file"),
    "captures is a file": (make_file, "captures", "it is a file, and a folder is wanted"),
    "diagrams is a file": (make_file, "diagrams", "it is a file, and a folder is wanted"),
    "the log is a folder": (make_folder, "captures/results.log", "it is a folder"),
    "a figure is a folder": (make_folder, "diagrams/causal_mask.png", "it is a folder"),
    "staging is a file": (make_file, ".attnlab-unfinished", "part of this path is a file"),
}


@pytest.mark.parametrize(("make", "where", "shown"), OBSTACLES.values(), ids=list(OBSTACLES))
def test_something_in_the_way(tmp_path, contents, make, where, shown):
    output = tmp_path / "a" / "b"
    make(Path(os.path.normpath(output / where)))
    before = contents(tmp_path)
    with pytest.raises(attnlab.OutputError, match=shown) as caught:
        write(output, ["S1"])
    assert str(output) in str(caught.value)
    assert contents(tmp_path) == before


def test_a_place_where_nothing_can_be_made():
    with pytest.raises(attnlab.OutputError, match=r"cannot write into .*nowhere"):
        write(Path("/proc/nowhere"), ["S1"])


def test_two_runs_cannot_write_into_one_folder(tmp_path, contents):
    with reproduce._lock(tmp_path):
        with pytest.raises(attnlab.OutputError, match="another run is writing there"):
            write(tmp_path, ["S1"])
        assert contents(tmp_path) == {}
    write(tmp_path, ["S1"])


def test_a_file_system_without_locks_will_do(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl", reason="locks of POSIX systems")

    def no_locks(handle, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    assert "S1.heading" in write(tmp_path, ["S1"]).blocks


def test_without_posix_locks_a_file_holds_the_folder(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with reproduce._lock(tmp_path):
        assert (tmp_path / ".attnlab.lock").is_file()
        with (
            pytest.raises(attnlab.OutputError, match="another run is writing there"),
            reproduce._lock(tmp_path),
        ):
            pass


def test_replace_text(tmp_path, contents, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o444)
    replace_text(path, "new ≈\n")
    assert contents(tmp_path) == {"a.txt": "new ≈\n".encode()}
    fail_in_replace(monkeypatch, NO_SPACE, 1)
    with pytest.raises(attnlab.OutputError, match="No space left"):
        replace_text(path, "newer\n")
    assert contents(tmp_path) == {"a.txt": "new ≈\n".encode()}
