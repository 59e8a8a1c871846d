"""Two clean builds of the site are the same, byte for byte, and what it offers reads well."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

for package in ("sphinx", "sphinx_gallery", "furo", "torch"):
    pytest.importorskip(package, reason="the site's packages are not installed")

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
GENERATED = shutil.ignore_patterns(
    ".git", ".*_cache", ".tox", ".venv", ".coverage*", "__pycache__", "*.egg-info",
    "build", "dist", "captures", "diagrams", "lessons",
)  # fmt: skip
BUILDS = {
    "one": ({"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC"}, "-j2"),
    "the other one": ({"PYTHONHASHSEED": "2", "LC_ALL": "C", "TZ": "Asia/Tokyo"}, "-j1"),
}
LEFTOVERS = re.compile(r":[a-z][\w:+.-]*:`|^(?:# )? *\.\. |<[^<>\n]*\bS\d\.\w", re.MULTILINE)


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """The site, built twice from scratch, in folders that differ in name and depth."""
    project = tmp_path_factory.mktemp("project") / "copy"
    shutil.copytree(ROOT, project, ignore=GENERATED)
    sites = []
    for name, (environment, jobs) in BUILDS.items():
        root = tmp_path_factory.mktemp("site") / name
        shutil.copytree(project, root)
        inherited = {key: value for key, value in os.environ.items() if "COVERAGE" not in key}
        inherited.pop("SOURCE_DATE_EPOCH", None)
        command = ["-m", "sphinx", "-q", jobs, "-c", ".", "-d", "build/doctrees"]
        finished = subprocess.run(
            [sys.executable, *command, "docs", "build/html"],
            cwd=root,
            env=inherited | environment,
            capture_output=True,
            encoding="utf-8",
            timeout=600,
        )
        assert finished.returncode == 0, finished.stderr
        sites.append(root / "build" / "html")
    return sites


def first_difference(ours, theirs):
    """Return the first file of two folders that differs, and how, or None."""
    for name in sorted(set(ours) | set(theirs)):
        if name not in ours or name not in theirs:
            return f"{name} is in one build only"
        pairs = zip(ours[name], theirs[name], strict=False)
        at = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
        if ours[name] != theirs[name]:
            at = min(len(ours[name]), len(theirs[name])) if at is None else at
            a, b = (side[name][max(0, at - 60) : at + 60] for side in (ours, theirs))
            return f"{name} differs from byte {at} on:\n{a!r}\n{b!r}"
    return None


def test_two_clean_builds_are_identical(sites, contents):
    ours, theirs = map(contents, sites)
    assert len(ours) > 100
    assert first_difference(ours, theirs) is None


def test_the_first_difference_is_named():
    same = {"a": b"1", "b": b"x" * 100, "c": b"1"}
    assert first_difference(same, dict(same)) is None
    assert first_difference(same, {**same, "b": b"x" * 50 + b"y" * 50}).startswith(
        "b differs from byte 50"
    )
    assert first_difference(same, {**same, "b": b"x"}).startswith("b differs from byte 1 ")
    assert first_difference({}, {"d": b""}) == "d is in one build only"


@pytest.fixture(scope="module")
def downloads(sites):
    """Every script and notebook that the site offers, in archives too, by name."""
    found = {}
    for folder in ("_downloads", "downloads"):
        for file in (sites[0] / folder).rglob("*.*"):
            name = file.relative_to(sites[0]).as_posix()
            if file.suffix == ".zip":
                with zipfile.ZipFile(file) as archive:
                    found |= {
                        f"{name}/{inner}": archive.read(inner) for inner in archive.namelist()
                    }
            elif file.is_file():
                found[name] = file.read_bytes()
    found = {
        name: content.decode("utf-8")
        for name, content in found.items()
        if name.endswith((".py", ".ipynb"))
    }
    lessons = {script.stem for script in (ROOT / "gallery").glob("s*.py")}
    for suffix in (".py", ".ipynb"):
        names = [Path(name).stem for name in found if name.endswith(suffix)]
        assert lessons <= set(names)
        assert len(names) >= 3 * len(lessons)
    return found


def texts(name, content):
    """Return what a script or notebook says in words."""
    if name.endswith(".py"):
        return [content]
    cells = json.loads(content)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def test_no_download_has_markup_left(downloads):
    leftovers = {
        name: match[0]
        for name, content in downloads.items()
        for text in texts(name, content)
        if (match := LEFTOVERS.search(text))
    }
    assert leftovers == {}


@pytest.mark.parametrize(
    "left",
    [":measured:`0.4`", ":py:func:`f`", "# .. by-hand:: dot", ".. math:: x", "0.4 <S3.output>"],
)
def test_markup_that_is_left_would_be_found(left):
    assert LEFTOVERS.search(f"# Text\n{left}")


def test_formulas_of_notebooks_stand_between_dollars(downloads):
    formulas = 0
    for name, content in downloads.items():
        if name.endswith(".ipynb"):
            for text in texts(name, content):
                outside = re.sub(
                    r"\$\$.*?\$\$|\$[^$\n]+(?:\n[^$\n]+)?\$", "", text, flags=re.DOTALL
                )
                assert "$" not in outside
                assert "\\" not in outside
                assert "&" not in outside
                formulas += text.count("$$") // 2
    assert formulas > 20


def test_every_copy_of_a_download_is_the_same(downloads):
    copies = {}
    for name, content in downloads.items():
        copies.setdefault(Path(name).name, set()).add(content)
    different = [name for name, found in copies.items() if len(found) > 1]
    assert different == []
