"""The how-to for other people's sites: its little site builds, and refuses a wrong digit."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="needs Sphinx")
pytest.importorskip("torch", reason="the build runs all sections, and the last needs PyTorch")

PAGE = Path(__file__).parents[1] / "docs" / "proving.rst"


def files():
    """The files that the page tells a reader to make, by name."""
    blocks = re.findall(
        r"^\.\. code-block:: \w+\n   :caption: (\S+)\n\n((?:   .*\n|\n)+)",
        PAGE.read_text(encoding="utf-8"),
        re.M,
    )
    return {name: textwrap.dedent(text) for name, text in blocks}


def build(folder, index):
    (folder / "conf.py").write_text(files()["conf.py"], encoding="utf-8")
    (folder / "index.rst").write_text(index, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", ".", "build"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_little_site_builds(tmp_path):
    built = build(tmp_path, files()["index.rst"])
    assert built.returncode == 0, built.stderr
    assert "1 number proved, 1 claim held" in built.stdout
    page = (tmp_path / "build" / "index.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert "0.435" in page


def test_a_changed_digit_stops_the_build_at_its_line(tmp_path):
    built = build(tmp_path, files()["index.rst"].replace("0.435", "0.436"))
    assert built.returncode != 0
    assert "index.rst:4: WARNING: measured:" in built.stderr
    assert "0.435" in built.stderr
