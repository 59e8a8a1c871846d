"""How Sphinx builds the workshop's site: the pages in docs/, the lessons in gallery/.

Run from this folder: python -m sphinx -W --keep-going -j2 -c . -d build/doctrees docs build/html
"""

import os
import shlex
import sys
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # the site shows the package beside it, installed or not

import attnlab  # noqa: E402
from attnlab import cli, world_file  # noqa: E402

os.environ["COLUMNS"] = "80"  # of a command's help, wherever the site is built

project = "LLM Self-Attention by Hand"
author = "The attnlab authors"
project_copyright = author
version = release = attnlab.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "attnlab.sphinxext",
    "attnlab.sphinxext.page",
    "attnlab.sphinxext.explorer",
]

# An unknown reference is a warning; with -W, it fails the build.
nitpicky = True
# Names of other projects lead to their pages. The site is built without a network, so the names
# that the workshop uses stand in small files here.
intersphinx_mapping = {
    "numpy": ("https://numpy.org/doc/stable/", "_inventories/numpy.inv"),
    "matplotlib": ("https://matplotlib.org/stable/", "_inventories/matplotlib.inv"),
    "torch": ("https://docs.pytorch.org/docs/stable/", "_inventories/torch.inv"),
}

# Formulas: see attnlab/sphinxext/mathml.py.
html_math_renderer = "mathml"

# The reference: types as the docstrings give them, in words such as "shape (n, d)", not links.
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]

# Lessons: see attnlab/sphinxext/gallery.py. The folders are relative to docs/.
sphinx_gallery_conf = {
    "examples_dirs": "../gallery",
    "gallery_dirs": "lessons",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib", "attnlab.sphinxext.gallery.reset_state"),
    "reset_modules_order": "both",
    "capture_repr": (),  # a lesson prints what it shows, so script and notebook show the same
    "image_scrapers": ("attnlab.sphinxext.pictures.scrape", "matplotlib"),
    "default_thumb_file": "docs/_static/lesson.svg",  # see attnlab/sphinxext/gallery.py
    "remove_config_comments": True,
    "inspect_global_variables": False,
    "show_signature": False,
    "min_reported_time": 3600,  # seconds: times would change the pages from build to build
    "write_computation_times": False,  # that page would also load scripts from other hosts
    "first_notebook_cell": (
        "# This lesson imports attnlab. If the next cell cannot find it, install it first: in the\n"
        "# folder of the workshop's zip, run  python -m pip install -r requirements.txt"
    ),
}

# What readers take away, and the page that lists it: see attnlab/sphinxext/bundle.py.
attnlab_download_page = "download"

# The address that a copy is published at, if any: for the sitemap, and for metadata and links that
# must be absolute. Read the Docs gives its own.
html_baseurl = os.environ.get("ATTNLAB_BASEURL") or os.environ.get("READTHEDOCS_CANONICAL_URL", "")
if html_baseurl and not html_baseurl.endswith("/"):
    html_baseurl += "/"

# sphinx-gallery looks for spaces in the whole path of a lesson. A copy of the project may lie in a
# folder with a space; the lessons' own names have none.
suppress_warnings = ["sphinx_gallery.space_in_filename"]

html_theme = "furo"
html_title = project
templates_path = ["docs/_templates"]
html_static_path = ["docs/_static"]
html_css_files = ["attnlab.css"]
html_js_files = [("attnlab.js", {"defer": ""})]
html_favicon = "docs/_static/lesson.svg"
html_additional_pages = {"404": "404.html"}
html_context = {"root": urlsplit(html_baseurl).path}  # where the links of 404.html start
html_domain_indices = False
html_show_sourcelink = False
html_theme_options = {"top_of_page_buttons": []}


class LiveExample(SphinxDirective):
    """Show a piece of reStructuredText, and below it what it becomes."""

    has_content = True

    def run(self):
        source = nodes.literal_block("\n".join(self.content), "\n".join(self.content))
        source["language"] = "rst"
        result = nodes.container(classes=["live-example"])
        result += self.parse_content_to_nodes()
        return [source, result]


class WorldFile(SphinxDirective):
    """Show the file of the built-in world; with edits to it, what is then wrong with it."""

    has_content = True

    def run(self):
        self.env.note_dependency(world_file.__file__)
        text, language = world_file.BUILT_IN.toml, "toml"
        if self.content:
            for edit in self.content:
                old, arrow, new = edit.partition(" => ")
                if not arrow or old not in text:
                    raise self.error(f"the file does not hold {old!r}")
                text = text.replace(old, new)
            shown, language = "$ python -m attnlab world check my.toml", "console"
            try:
                world_file.parse_world(text, "my.toml")
            except attnlab.WorldFileError as error:
                text = "\n".join([shown, *(f"attnlab: {fault}" for fault in error.faults)])
            else:
                raise self.error("nothing is wrong with this file")
        block = nodes.literal_block(text, text)
        block["language"] = language
        return [block]


class CommandOutput(SphinxDirective):
    """Show a command of the package and, below it, what it prints now."""

    has_content = False
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        for file in Path(attnlab.__file__).parent.glob("*.py"):
            self.env.note_dependency(str(file))
        command, printed = self.arguments[0], StringIO()
        with redirect_stdout(printed), suppress(SystemExit):  # as --help ends
            if cli.main(shlex.split(command)):
                raise self.error(f"{command!r} does not work")
        text = f"$ python -m attnlab {command}\n{printed.getvalue()}"
        block = nodes.literal_block(text, text)
        block["language"] = "console"
        return [block]


def setup(app):
    app.add_directive("command-output", CommandOutput)
    app.add_directive("live-example", LiveExample)
    app.add_directive("world-file", WorldFile)
