"""What completes each page of the workshop's own site, which lists this module in its conf.py.

- A page carries its title and first paragraph as metadata, for search engines and for the cards
  that social networks show. With an address of its own (``html_baseurl``), the site also has the
  cards' picture, drawn from the run, and a sitemap.
- A lesson's page knows the list of lessons, for the strip at its top.
- Images have their size, so that nothing moves when they arrive. Nothing is styled inline, and
  style sheets and scripts for what the workshop does not have are left out.
"""

from __future__ import annotations

import html
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin

import imagesize
import numpy as np
from docutils import nodes

from attnlab import figures
from attnlab.sections import s3_raw_attention
from attnlab.sphinxext import proof

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

CARD = "_static/card.png"
#: The page that lists the lessons.
LESSONS = "lessons/index"
#: Longest description that search engines show.
LONGEST = 160
#: Of pages that Sphinx makes itself.
TITLES = {"genindex": "Index", "search": "Search"}
#: sphinx-gallery's, for tags, binder links, tables of pandas and HTML output.
UNUSED = {
    "sg-tags.js",
    "sg_gallery-binder.css",
    "sg_gallery-dataframe.css",
    "sg_gallery-rendered-html.css",
}


def description(doctree: nodes.document) -> str:
    """Return a page's first paragraph, cut after a word if it is long.

    Parameters
    ----------
    doctree : docutils.nodes.document
        The page.

    Returns
    -------
    str
        Empty if no paragraph stands in a section.
    """
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            text = " ".join(paragraph.astext().split())
            return text if len(text) <= LONGEST else text[:LONGEST].rpartition(" ")[0] + " …"
    return ""


def metadata(title: str, text: str, project: str, address: str | None, base: str) -> str:
    """Return a page's description and card as HTML.

    Parameters
    ----------
    title, text : str
        The page's title and description.
    project : str
        The site's name.
    address : str or None
        The page's full address, if the site has one.
    base : str
        The site's address, or empty.

    Returns
    -------
    str
        ``<meta>`` elements, one a line.
    """
    card = {
        "og:title": title,
        "og:description": text,
        "og:type": "website" if title == project else "article",
        "og:site_name": project,
    }
    if address:
        card |= {"og:url": address, "og:image": urljoin(base, CARD)}
    lines = [f'<meta name="description" content="{html.escape(text)}">']
    lines += [f'<meta property="{k}" content="{html.escape(v)}">' for k, v in card.items()]
    lines.append('<meta name="twitter:card" content="summary_large_image">')
    return "\n".join(f"    {line}" for line in lines) + "\n"


def sized(body: str, size: Callable[[str], tuple[int, int] | None]) -> str:
    """Give each image of a page its width and height.

    Parameters
    ----------
    body : str
        HTML.
    size : callable
        Called with an image's name; returns width and height, or None if they are not known.

    Returns
    -------
    str
        HTML, changed where an image had no width.
    """

    def attributes(match: re.Match[str]) -> str:
        found = None if " width=" in match[0] else size(unquote(PurePosixPath(match["src"]).name))
        return match[0] if not found else f'<img width="{found[0]}" height="{found[1]}"{match[1]}'

    return re.sub(r'<img((?=[^>]*? src="(?P<src>[^"]+)")[^>]*>)', attributes, body)


def complete(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Complete what a page's template gets."""
    project, base = app.config.project, app.config.html_baseurl
    title = html.unescape(re.sub("<[^>]+>", "", context.get("title", ""))) or TITLES.get(
        pagename, ""
    )
    text = (description(doctree) if doctree else "") or f"{title} of {project}."
    context["metatags"] = context.get("metatags", "") + metadata(
        title, text, project, context["pageurl"], base
    )
    for files in ("css_files", "script_files"):
        context[files] = [
            file for file in context[files] if PurePosixPath(str(file.filename)).name not in UNUSED
        ]

    lessons = app.env.toctree_includes.get(LESSONS, [])
    if pagename in lessons:
        context["lessons"] = [
            (
                context["pathto"](name),
                app.env.titles[name].astext().partition(". ")[2],
                name == pagename,
            )
            for name in lessons
        ]

    sources = {str(name): source for source, name in app.builder.images.items()}

    def size(name: str) -> tuple[int, int] | None:
        file = Path(app.outdir, app.builder.imagedir, name)  # where sphinx-gallery copies its own
        if not file.exists() and name in sources:
            file = Path(app.srcdir, sources[name])
        width, height = imagesize.get(file) if file.exists() else (-1, -1)
        return (int(width), int(height)) if width > 0 else None

    if "body" in context:
        # Docutils styles columns inline, which a strict Content-Security-Policy blocks.
        body = re.sub(r'style="width: ([\d.]+%)"', r'width="\1"', context["body"])
        context["body"] = sized(body, size)


def publish(app: Sphinx, exception: Exception | None) -> None:
    """At the end of a build of a site with an address: write the cards' picture and the sitemap."""
    base = app.config.html_baseurl
    if exception is not None or app.builder.format != "html" or not base:
        return
    measured = s3_raw_attention.measure(proof.build_world(), np.random.default_rng(0))
    figure = s3_raw_attention.SECTION.figures["bank_water_money_plane"](measured)
    figures.save(figure, Path(app.outdir, CARD))
    addresses = [urljoin(base, app.builder.get_target_uri(name)) for name in app.env.found_docs]
    Path(app.outdir, "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        + "".join(f"<url><loc>{html.escape(url)}</loc></url>\n" for url in sorted(addresses))
        + "</urlset>\n",
        "utf-8",
    )


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect to Sphinx."""
    app.connect("html-page-context", complete)
    app.connect("build-finished", publish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
