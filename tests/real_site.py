"""The real site: how it is built, served as a strict server does, and looked at in a browser.

Shared by the tests of the site and by ``benchmarks/pages.py``.
"""

import functools
import gzip
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LESSONS = sorted(script.stem for script in (ROOT / "gallery").glob("s*.py"))
POLICY = (ROOT / "docs" / "_policy.txt").read_text("utf-8").strip()
CHROMIUM = Path("/usr/bin/chromium")
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
#: Whatever asks for another host fails, and shows.
ONLY_HERE = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost, EXCLUDE 127.0.0.1"
TEXT = (".html", ".css", ".js", ".svg", ".txt", ".xml", ".py", ".ipynb", ".json")


def copy_project(target: Path) -> None:
    """Copy what a build reads, without what builds have generated."""
    for name in ("conf.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target)
    ignore = shutil.ignore_patterns("__pycache__", "lessons")
    for folder in ("attnlab", "docs", "gallery"):
        shutil.copytree(ROOT / folder, target / folder, ignore=ignore)


def build(root: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Build a site as the project does; return the finished process."""
    command = "-m sphinx -W --keep-going -q -j2 -c . -d build/doctrees docs build/html"
    # A copy of the package is no part of the package's coverage.
    inherited = {key: value for key, value in os.environ.items() if "COVERAGE" not in key}
    return subprocess.run(
        [sys.executable, *command.split()],
        cwd=root,
        env=inherited | environment,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )


def page_files(site: Path) -> list[Path]:
    """Return the files of a site's pages. What it offers to download are not its pages."""
    return [file for file in site.rglob("*.html") if site / "downloads" not in file.parents]


@contextmanager
def served(site: Path, path: str = "/", policy: str = POLICY) -> Iterator[str]:
    """Serve a site below a path, compressed and with a policy; yield its address.

    A request for what is not there gets the site's ``404.html``, as hosts of static sites do it.
    """

    class Handler(http.server.SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            inside = self.path.startswith(path)
            self.path = "/" + self.path.removeprefix(path)
            file = Path(self.translate_path(self.path))
            file = file / "index.html" if file.is_dir() else file
            found = inside and file.is_file()
            file = file if found else site / "404.html"
            content = file.read_bytes() if file.is_file() else b""
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", self.guess_type(str(file)))
            if file.suffix in TEXT:
                content = gzip.compress(content, mtime=0)
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            with suppress(ConnectionError):  # the browser went on
                self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(site))
    )
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{path}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
