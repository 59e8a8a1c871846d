"""Figures as the pages show them: SVG, light or dark like the page, narrow on a narrow page.

- sphinx-gallery hands the figures that a lesson drew to :func:`scrape`, which draws each in every
  look, and as PNG for the thumbnail.
- The directive ``picture`` shows a figure by the files that were drawn. Its size and its text for
  those who do not see it come from the files, so they fit what is drawn.
"""

from __future__ import annotations

import html
import posixpath
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree

from docutils import nodes

from attnlab import figures
from attnlab.errors import InvalidValueError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

#: How the file of each look ends. Other builders than HTML show the first.
LOOKS = {
    "-light.svg": figures.Look(),
    "-light-narrow.svg": figures.Look(narrow=True),
    "-dark.svg": figures.Look(dark=True),
    "-dark-narrow.svg": figures.Look(dark=True, narrow=True),
}
#: On which pages a figure is narrow.
NARROW = "(max-width: 37em)"


def draw(figure: Figure, stem: Path) -> None:
    """Draw a figure in every look, and close it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        One that :mod:`attnlab.figures` drew.
    stem : Path
        Where to write: the files' names without what :data:`LOOKS` adds.
    """
    import matplotlib.pyplot as plt

    for suffix, look in LOOKS.items():
        figures.save(figures.redraw(figure, look), f"{stem}{suffix}")
    plt.close(figure)


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Draw each open figure of :mod:`attnlab.figures` for its lesson's page, and close it.

    Parameters
    ----------
    block : tuple
        sphinx-gallery's block of code, unused.
    block_vars : dict
        Its variables; ``image_path_iterator`` gives each figure its file.
    gallery_conf : dict
        sphinx-gallery's settings.

    Returns
    -------
    str
        A directive a figure.
    """
    import matplotlib.pyplot as plt

    rst = ""
    for figure in map(plt.figure, plt.get_fignums()):
        if figures.alt_text(figure):
            file = Path(next(block_vars["image_path_iterator"]))
            figures.save(figure, file)
            draw(figure, file.with_suffix(""))
            shown = file.with_suffix("").relative_to(gallery_conf["src_dir"]).as_posix()
            rst += f"\n.. picture:: /{shown}\n"
    return rst


class picture(nodes.image):
    """A figure in one look; the other looks are its children, so that Sphinx copies their files.

    A builder that does not know it takes it for an ordinary image.
    """


def picture_node(uri: str, stem: Path) -> picture:
    """Return the node of a figure that was drawn in every look.

    Parameters
    ----------
    uri : str
        Where the files are, as an image of the page names it, without what :data:`LOOKS` adds.
    stem : Path
        The same as a path.

    Returns
    -------
    picture
        With the files' text and sizes.

    Raises
    ------
    InvalidValueError
        If a file is missing, or says nothing.
    """
    images = []
    for suffix in LOOKS:
        try:
            svg = ElementTree.parse(f"{stem}{suffix}").getroot()
        except FileNotFoundError:
            raise InvalidValueError(
                f"no figure is drawn here, for there is no file {stem.name}{suffix} "
                "(lessons draw figures to their folder's images)"
            ) from None
        alt = svg.findtext("{*}title")
        if not alt:
            raise InvalidValueError(f"the figure {stem.name}{suffix} does not say what it shows")
        points = (float(svg.attrib[side].removesuffix("pt")) for side in ("width", "height"))
        pixels = [round(4 / 3 * length) for length in points]  # as CSS has it
        images.append(picture(uri=uri + suffix, alt=alt, pixels=pixels))
    shown, *others = images
    shown += others
    return shown


def visit_picture(self: HTML5Translator, node: picture) -> None:
    """Write the light and the dark picture. The theme shows the one that fits.

    The dark one loads when it is shown. The light one loads at once: paper is always light.
    """
    light, light_narrow, dark, dark_narrow = (_source(self, image) for image in (node, *node))
    alt = html.escape(node["alt"])
    self.body.append(
        '<div class="attnlab-picture">\n'
        f'<picture class="only-light"><source media="{NARROW}" srcset={light_narrow}>'
        f'<img alt="{alt}" src={light}></picture>\n'
        f'<picture class="only-dark"><source media="{NARROW}" srcset={dark_narrow}>'
        f'<img alt="{alt}" loading="lazy" src={dark}></picture>\n'
        "</div>\n"
    )
    raise nodes.SkipNode


def _source(self: HTML5Translator, image: nodes.image) -> str:
    """Return where an image's file is on the site, and its size, as the end of an attribute."""
    address = posixpath.join(self.builder.imgpath, quote(self.builder.images[image["uri"]]))
    return '"{}" width="{}" height="{}"'.format(address, *image["pixels"])


def setup(app: Sphinx) -> None:
    """Register the node; the directive is among those of :mod:`attnlab.sphinxext.directives`."""
    app.add_node(picture, html=(visit_picture, None))
