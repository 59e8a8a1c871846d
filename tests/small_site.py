"""Build small sites in this process, for the tests of the extension."""

import re
from io import StringIO
from pathlib import Path

from bs4 import BeautifulSoup
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

RESULTS = "Results\n=======\n\n.. results-log::\n"


class SmallSite:
    """A built site: what it wrote, what it said, which pages it read and wrote."""

    def __init__(self, app, said, warned, read, written):
        self.app, self.out = app, Path(app.outdir)
        self.said, self.read, self.written = said, read, written
        self.warnings = [
            line.replace(f"{app.srcdir}/", "").replace(" WARNING:", "")
            for line in re.sub("\x1b.*?m", "", warned).splitlines()
            if line
        ]

    def page(self, name="index"):
        return BeautifulSoup((self.out / f"{name}.html").read_text("utf-8"), "html.parser")


def build(folder, pages, *, builder="html", parallel=1, confdir=None, **settings):
    """Write pages into a folder and build them; a page that is None is removed.

    A page that has no heading gets one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
            continue
        text = text if "===" in text else f"Page\n====\n\n{text}\n"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
    settings = {
        "extensions": ["attnlab.sphinxext"],
        "html_sidebars": {"**": []},
        "suppress_warnings": ["toc.not_included"],
        **settings,
    }
    said, warned = StringIO(), StringIO()
    read, written = [], []
    out = folder / "out"
    with docutils_namespace(), patch_docutils():
        app = Sphinx(
            folder, confdir, out / builder, out / "doctrees", builder, settings, said, warned,
            parallel=parallel,
        )  # fmt: skip
        app.connect("env-before-read-docs", lambda app, env, names: read.extend(sorted(names)))
        app.connect("html-page-context", lambda app, name, *rest: written.append(name))
        app.build()
    return SmallSite(app, re.sub("\x1b.*?m", "", said.getvalue()), warned.getvalue(), read, written)
