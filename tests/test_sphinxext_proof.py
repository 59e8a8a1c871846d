"""The live run: once a build, never out of date, and every fault found."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the site's packages are not installed")

from small_site import RESULTS, build
from sphinx.errors import ExtensionError

import attnlab
from attnlab.errors import InvalidValueError
from attnlab.sphinxext import proof

pytestmark = pytest.mark.torch

ROOT = Path(__file__).resolve().parents[1]
CITING = ":measured:`0.435 <S3.output.river_bank.water>`"
OTHER = ":claim:`more <S4.weights.bank.river > S4.weights.bank.bank>`"
PAGES = {"index": CITING, "other": OTHER, "free": "No citation.", "results": RESULTS}


@pytest.fixture
def runs(monkeypatch, log):
    """Count the runs; they all have one log, unless a test puts another in its place."""
    runs = []
    found = [log]

    def run(**options):
        runs.append(options)
        if isinstance(found[0], Exception):
            raise found[0]
        return found[0]

    monkeypatch.setattr(proof.reproduce, "run", run)
    return runs, found


def test_the_run_is_made_once_a_build(tmp_path, runs):
    made, _ = runs
    site = build(tmp_path, PAGES)
    assert site.warnings == []
    assert len(made) == 1
    assert proof.build_log(site.app) is proof.build_log(site.app.env)
    build(tmp_path, {})
    assert len(made) == 2


def test_reports_what_was_proved(tmp_path, runs):
    site = build(tmp_path, PAGES)
    report = "attnlab: 1 number proved, 1 claim held, 2 lines of the log cited, 0 numbers given"
    assert report in site.said


def test_says_nothing_about_a_site_that_proves_nothing(tmp_path, runs):
    assert "attnlab:" not in build(tmp_path, {"index": "Text."}).said


def test_readers_side_by_side_give_the_same_site(tmp_path, runs, contents):
    pages = PAGES | {f"page{i}": f"{CITING} {OTHER}" for i in range(12)}
    made, _ = runs
    serial = build(tmp_path / "serial", pages)
    parallel = build(tmp_path / "parallel", pages, parallel=2)
    assert len(made) == 2
    assert serial.warnings == parallel.warnings == []
    assert proof.citations(serial.app.env) == proof.citations(parallel.app.env)
    assert contents(serial.out) == contents(parallel.out)
    assert "13 numbers proved, 13 claims held" in parallel.said


def test_nothing_is_read_again_when_nothing_changed(tmp_path, runs):
    assert build(tmp_path, PAGES).read == sorted(PAGES)
    again = build(tmp_path, {})
    assert again.read == []
    assert not {*PAGES} & {*again.written}
    assert "1 number proved, 1 claim held" in again.said


def changed(log, name, value):
    """A log in which one measurement is another, though no line shows it."""
    measurements = log.measurements | {
        name: attnlab.results_log.Measurement(
            name, value, ".3f", log.measurements[name].noise_bound
        )
    }
    return attnlab.ResultsLog(None, log.lines, log.blocks, measurements, log.line_numbers)


def test_what_depends_on_the_run_is_read_again_when_the_run_changed(tmp_path, runs, log):
    build(tmp_path, PAGES)
    _, found = runs
    found[0] = changed(log, "S3.output.river_bank.water", 0.4361)
    site = build(tmp_path, {})
    assert site.read == ["index", "other", "results"]
    (warning,) = site.warnings
    assert "'0.435' is shown, but the value is 0.4361" in warning


def test_rounding_noise_changes_nothing(tmp_path, runs, log):
    build(tmp_path, PAGES)
    _, found = runs
    found[0] = changed(log, "S6.difference.plain", 1e-16)
    assert build(tmp_path, {}).read == []


def test_what_depends_on_the_run_is_read_again_when_the_package_changed(
    tmp_path, runs, monkeypatch
):
    package = tmp_path / "package"
    package.mkdir()
    monkeypatch.setattr(proof, "PACKAGE", package)
    build(tmp_path / "site", PAGES)
    (package / "new.py").write_text("")
    assert build(tmp_path / "site", {}).read == ["index", "other", "results"]


def test_a_page_that_failed_fails_every_build_until_it_is_mended(tmp_path, runs):
    wrong = PAGES | {"index": CITING.replace("0.435", "0.436")}
    first, second = build(tmp_path, wrong), build(tmp_path, {})
    assert first.warnings == second.warnings != []
    assert second.read == ["index"]
    mended = build(tmp_path, {"index": CITING})
    assert mended.warnings == []
    assert build(tmp_path, {}).read == []


def test_the_log_page_is_written_again_when_citations_changed(tmp_path, runs):
    build(tmp_path, PAGES)
    more = build(tmp_path, {"free": OTHER})
    assert set(more.written) >= {"free", "results"}
    build(tmp_path, {"free": None})
    site = build(tmp_path, {})
    assert "free" not in proof.records(site.app.env)
    assert "free.html" not in str(site.page("results"))


@pytest.mark.parametrize("problem", ["a section that cannot run", "no run"])
def test_a_run_that_fails_is_a_clear_error_where_it_is_needed(tmp_path, runs, log, problem):
    _, found = runs
    if problem == "no run":
        found[0] = InvalidValueError("the world is flat")
        message = "attnlab cannot run its sections: the world is flat"
    else:
        found[0] = attnlab.ResultsLog(skipped={"S6": "PyTorch is not installed"})
        message = "attnlab cannot run its sections: S6: PyTorch is not installed"
    site = build(tmp_path, {"index": "Needs nothing."})
    assert site.warnings == []
    with pytest.raises(ExtensionError, match=message):
        build(tmp_path, {"index": CITING})


# A fault in the package, and the lessons' own numbers that find it

FAULTS = {
    "a constant of the toy world": (
        "toy_world.py",
        "[0.9, 0.0, 0.3, 0.0],  # river",
        "[0.8, 0.0, 0.3, 0.0],  # river",
        ["0.9 <S1.embedding.river.water>", "0.435 <S3.output.river_bank.water>"],
    ),
    "W_Q and W_K swapped": (
        "sections/s4_wired_head.py",
        "attention(X, world.W_Q, world.W_K, ",
        "attention(X, world.W_K, world.W_Q, ",
        ["0.500 <S4.weights.bank.river>", "0.552 <S4.output.water>"],
    ),
    "the square root of n": (
        "attention.py",
        "math.sqrt(d_k)",
        "math.sqrt(len(X))",
        ["0.500 <S4.weights.bank.river>", "0.552 <S4.output.water>"],
    ),
    "no square root": (
        "attention.py",
        "/ math.sqrt(d_k)",
        "/ 1",
        ["0.500 <S4.weights.bank.river>", "0.552 <S4.output.water>"],
    ),
    "softmax over the wrong axis": (
        "attention.py",
        "axis=-1, keepdims",
        "axis=0, keepdims",
        ["0.435 <S3.output.river_bank.water>"],
    ),
}


@pytest.fixture(scope="module")
def lesson_roles():
    """Every role of the lessons, one a line, between lines that only hold a place."""
    pattern = re.compile(r":(?:measured|claim):`[^`]+`")
    text = "\n".join(
        re.sub(r"\n# ?", "\n", script.read_text("utf-8"))
        for script in sorted((ROOT / "gallery").glob("s*.py"))
    )
    found = [" ".join(role.split()) for role in pattern.findall(text)]
    assert len(found) > 50
    return found


@pytest.fixture
def build_with(tmp_path, lesson_roles):
    """Build a page of the lessons' roles in another process, with a package of its own."""

    def build_with(file=None, right=None, wrong=None):
        package = tmp_path / "attnlab"
        shutil.copytree(ROOT / "attnlab", package, ignore=shutil.ignore_patterns("__pycache__"))
        if file:
            source = (package / file).read_text("utf-8")
            assert right in source
            (package / file).write_text(source.replace(right, wrong), "utf-8")
        (tmp_path / "conf.py").write_text("extensions = ['attnlab.sphinxext']\n")
        (tmp_path / "index.rst").write_text("\n".join(["Page", "====", "", *lesson_roles]), "utf-8")
        environment = {key: value for key, value in os.environ.items() if "COVERAGE" not in key}
        return subprocess.run(
            [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", ".", "out"],
            cwd=tmp_path,
            env=environment | {"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            encoding="utf-8",
            timeout=300,
        )

    return build_with


@pytest.mark.slow
def test_the_lessons_roles_hold_for_the_package_as_it_is(build_with):
    finished = build_with()
    assert finished.stderr == ""
    assert finished.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_package_fails_the_build_at_the_right_lines(build_with, lesson_roles, fault):
    file, right, wrong, expected = FAULTS[fault]
    finished = build_with(file, right, wrong)
    assert finished.returncode != 0
    failed = {int(line) for line in re.findall(r"index\.rst:(\d+): WARNING", finished.stderr)}
    for content in expected:
        line = next(i for i, role in enumerate(lesson_roles, start=4) if f"`{content}`" in role)
        assert line in failed, f"{content} on line {line}:\n{finished.stderr}"
