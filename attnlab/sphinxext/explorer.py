"""The explorer: a page whose knobs the reader turns.

- What it calculates and shows are ES modules under ``_static/explorer``. Browsers refuse modules in
  a local folder, so the page loads one classic script that is made of them while the site is built.
- The directive holds the world that it starts from, and what readers without scripts see instead.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from attnlab.world_file import BUILT_IN

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

#: The modules, each after those that it imports.
MODULES = ("attention", "byhand", "state", "view")
FOLDER = "_static/explorer"


class Explorer(SphinxDirective):
    """``.. explorer::`` and what readers without scripts see in its place."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the place of the explorer, with the world that it starts from."""
        world = html.escape(json.dumps(BUILT_IN.data, ensure_ascii=False), quote=True)
        begin = f'<div id="explorer-here" data-world="{world}">'
        return [
            nodes.raw("", begin, format="html"),
            *self.parse_content_to_nodes(),
            nodes.raw("", "</div>", format="html"),
        ]


def classic(modules: list[str]) -> str:
    """Make one script of modules that import only each other.

    Parameters
    ----------
    modules : list of str
        Their text, each after those that it imports. Each import stands on one line, and no two
        modules give the same name to different things.

    Returns
    -------
    str
        A script that needs no module loader.
    """
    text = "\n".join(modules)
    text = re.sub(r"^import .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    return f'"use strict";\n{{\n{text}}}\n'


def write_script(app: Sphinx) -> None:
    """Write the classic script into the site."""
    source = Path(app.confdir) / "docs" / FOLDER
    if app.builder.format == "html" and source.is_dir():
        target = Path(app.outdir) / FOLDER
        target.mkdir(parents=True, exist_ok=True)
        modules = [(source / f"{name}.mjs").read_text("utf-8") for name in MODULES]
        (target / "explorer.js").write_text(classic(modules), "utf-8", newline="\n")


def load_on_its_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Load the explorer where it is, and nowhere else."""
    if 'id="explorer-here"' in context.get("body", ""):
        app.add_css_file("explorer/explorer.css")
        app.add_js_file("explorer/toml.js", loading_method="defer")
        app.add_js_file("explorer/explorer.js", loading_method="defer")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect to Sphinx."""
    app.add_directive("explorer", Explorer)
    app.connect("builder-inited", write_script)
    app.connect("html-page-context", load_on_its_page, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
