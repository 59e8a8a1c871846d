"""What several test files share."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import matplotlib
import pytest
from hypothesis import settings
from real_site import CHROMIUM, ONLY_HERE, SWITCHES, build, copy_project, served

import attnlab

matplotlib.use("agg")  # no windows, whatever display there is

# The same examples in every run, and no database beside the sources.
settings.register_profile("attnlab", derandomize=True, deadline=None, database=None)
settings.load_profile("attnlab")

SUMMARY = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SUMMARY] = []
    config.addinivalue_line("markers", "torch: needs PyTorch, and is skipped without it")
    config.addinivalue_line("markers", "slow: builds or installs something; once is enough")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("torch") and find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for line in config.stash[SUMMARY]:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def summary(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """Show a line at the end of the test run, passed or not."""
    return pytestconfig.stash[SUMMARY].append


@pytest.fixture(scope="session")
def log() -> attnlab.ResultsLog:
    """The log of a whole run."""
    return attnlab.run()


@pytest.fixture(scope="session")
def contents() -> Callable[[Path], dict[str, bytes]]:
    """Read every file under a folder, hidden ones too; a folder maps to nothing."""

    def read(folder: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
            for path in sorted(folder.rglob("*"))
        }

    return read


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run Python in a process of its own, in an empty folder unless told otherwise."""

    def run(
        *arguments: str | Path, cwd: Path | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=cwd or tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    root = tmp_path_factory.mktemp("site")
    copy_project(root)
    done = build(root)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return root / "build" / "html"


@pytest.fixture(scope="module")
def base(site: Path) -> Iterator[str]:
    """The address of the site, served with the policy, from below a server's root."""
    with served(site, "/some/place/") as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """Chromium, which reaches this machine only."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=[*SWITCHES, ONLY_HERE])
        yield running
        running.close()
