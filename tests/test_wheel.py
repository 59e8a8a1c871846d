"""The wheel, built and installed in an environment of its own, away from the sources."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import attnlab
from attnlab.reproduce import canonical_path

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


def pip(*arguments, cwd):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)
    [path] = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Python of a new environment with the wheel in it; other packages are this one's."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(folder)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    pip("install", "--no-deps", "--target", site, wheel, cwd=folder)
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def run(*arguments):
        return subprocess.run(
            [python, *arguments],
            cwd=folder,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    return run


def test_what_is_in_the_wheel(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name == f"attnlab-{attnlab.__version__}-py3-none-any.whl"
    sources = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "attnlab").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == sources
    assert {"attnlab/py.typed", "attnlab/canonical/results.log"} < sources
    assert any(name.endswith("licenses/LICENSE") for name in names)
    shipped = zipfile.ZipFile(wheel).read("attnlab/canonical/results.log")
    assert shipped == canonical_path().read_bytes()


def test_the_installed_package_works_away_from_the_sources(installed):
    done = installed("-c", "import attnlab; print(attnlab.__file__)")
    assert str(ROOT) not in done.stdout
    assert "venv" in done.stdout
    done = installed("-m", "attnlab", "reproduce", "--sections", "S1,S2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "identical: all" in done.stdout or "the same: of" in done.stdout


def test_the_installed_package_keeps_its_canonical_log(installed):
    done = installed("-m", "attnlab", "reproduce", "--update-canonical")
    assert done.returncode == 2
    assert "works in a source tree only" in done.stderr
