"""The lessons: they run anywhere, and each prints its section of the log, line by line."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from attnlab.reproduce import canonical_text
from attnlab.sections import SECTIONS

GALLERY = Path(__file__).parents[1] / "gallery"
LESSONS = sorted(GALLERY.glob("s*.py"))
#: What sets a section's numbers that are rounding noise apart from all others.
NOISE = re.compile(r"max \|difference\| = \S+")

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="this lesson compares with PyTorch"
)
lessons = pytest.mark.parametrize(
    "lesson",
    [
        pytest.param(path, id=path.stem, marks=needs_torch if path.stem.startswith("s6") else ())
        for path in LESSONS
    ],
)


def section_lines(name):
    """The canonical lines of a section, but for those that say where a plot was saved."""
    section = re.search(rf"^\[{name}\] .*?\n(?=\n)", canonical_text(), re.M | re.S)[0]
    return [NOISE.sub("NOISE", line) for line in section.split("\n") if "[plot saved" not in line]


def assert_stand_in_order(lines, text):
    """Every line stands in the text, in this order, from its first to its last character."""
    shown = iter([NOISE.sub("NOISE", line) for line in text.split("\n")])
    for line in lines:
        assert any(line == candidate for candidate in shown), f"missing or out of order: {line!r}"


def test_there_is_one_lesson_a_section():
    assert [path.stem.partition("_")[0].upper() for path in LESSONS] == [s.name for s in SECTIONS]
    modules = {Path(sys.modules[s.measure.__module__].__file__).stem for s in SECTIONS}
    assert {path.stem for path in LESSONS} == modules


@lessons
def test_a_script_runs_in_any_folder_and_prints_its_section(lesson, tmp_path):
    copy = tmp_path / "a folder" / lesson.name
    copy.parent.mkdir()
    copy.write_bytes(lesson.read_bytes())
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "MPLBACKEND")}
    ran = subprocess.run(
        [sys.executable, "-W", "error", copy.name],
        cwd=copy.parent,
        env={**environment, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert_stand_in_order(section_lines(lesson.stem[:2].upper()), ran.stdout)
    assert [path.name for path in copy.parent.iterdir()] == [lesson.name]


@lessons
def test_a_lesson_runs_as_a_notebook_and_prints_its_section(lesson, tmp_path):
    nbformat = pytest.importorskip("nbformat", reason="notebooks need nbformat and nbclient")
    nbclient = pytest.importorskip("nbclient", reason="notebooks need nbformat and nbclient")
    blocks = pytest.importorskip("sphinx_gallery.py_source_parser", reason="needs sphinx-gallery")
    cells = [
        nbformat.v4.new_code_cell(block.content)
        for block in blocks.split_code_and_text_blocks(str(lesson))[1]
        if block.type == "code"
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    printed = "".join(output["text"] for output in outputs if output["output_type"] == "stream")
    assert_stand_in_order(section_lines(lesson.stem[:2].upper()), printed)
    section = next(s for s in SECTIONS if lesson.stem.upper().startswith(s.name))
    drawn = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(drawn) == len(section.figures)


@lessons
def test_a_lesson_has_all_its_parts(lesson):
    text = lesson.read_text(encoding="utf-8")
    for part in ("**The question:**", "By hand", "The code", "What to notice", "Try next"):
        assert part in text
    assert "Where this leads" in text


def test_no_lesson_copies_a_function_of_the_package():
    package = Path(importlib.util.find_spec("attnlab").origin).parent
    defined = {
        name
        for module in package.glob("*.py")
        for name in re.findall(r"^def (\w+)", module.read_text(encoding="utf-8"), re.M)
    }
    for lesson in LESSONS:
        assert not defined & set(
            re.findall(r"^def (\w+)", lesson.read_text(encoding="utf-8"), re.M)
        )
