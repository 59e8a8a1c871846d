r"""Formulas as MathML, made while the site is built.

A page needs no script and no request to show a formula, and a formula that cannot be converted
is a warning with its file and line. The conversion is Docutils' own, which Sphinx depends on
anyway: it knows ``aligned``, and it refuses a command that it does not know instead of showing
the command's name.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from attnlab.errors import InvalidValueError

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def to_mathml(tex: str, *, display: bool) -> str:
    r"""Convert a formula from TeX to MathML.

    Parameters
    ----------
    tex : str
        The formula, in the part of LaTeX's maths that Docutils knows. In a displayed formula, an
        empty line starts a new row, as ``\\`` does.
    display : bool
        Whether the formula stands on a line of its own.

    Returns
    -------
    str
        A ``<math>`` element that keeps the TeX in its ``alttext`` attribute.

    Raises
    ------
    InvalidValueError
        If the formula is empty, uses something that Docutils does not know, or opens what it
        does not close.
    """
    tex = tex.strip()
    if not tex:
        raise InvalidValueError("the formula is empty")
    _check_pairs(tex)
    rows = re.sub(r"\n\s*\n", r" \\\\ ", tex)
    try:
        mathml: str = tex2mathml(rows, as_block=display)
    except MathError as error:
        raise InvalidValueError(f"{error} in {tex!r}") from error
    except (AttributeError, IndexError) as error:  # what Docutils lets escape, such as for "^2"
        raise InvalidValueError(f"cannot make sense of {tex!r}") from error
    mathml = re.sub(r"\\([%_$#]|&amp;)", r"\1", mathml)
    if "\\" in mathml:  # a command within \text is kept as text
        raise InvalidValueError(f"a command would be shown as it is written in {tex!r}")
    return mathml.replace("<math ", f'<math alttext="{html.escape(tex)}" ', 1)


def _check_pairs(tex: str) -> None:
    r"""Refuse what Docutils takes without a word: a brace, ``\begin`` or ``\left`` on its own."""
    bare = re.sub(r"\\[\\{}]", "", tex)
    if bare.count("{") != bare.count("}"):
        raise InvalidValueError(f"braces do not pair in {tex!r}")
    begun = re.findall(r"\\begin\{(.*?)\}", bare)
    ended = re.findall(r"\\end\{(.*?)\}", bare)
    if sorted(begun) != sorted(ended):
        raise InvalidValueError(rf"\begin{begun} and \end{ended} do not pair in {tex!r}")
    if len(re.findall(r"\\left\b", bare)) != len(re.findall(r"\\right\b", bare)):
        raise InvalidValueError(rf"\left and \right do not pair in {tex!r}")


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula that stands in a line of text."""
    self.body.append(_convert(node, display=False))
    raise nodes.SkipNode


def visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula that stands on a line of its own, with its number if it has a label."""
    self.body.append(self.starttag(node, "div", CLASS="math") + _convert(node, display=True))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def _convert(node: nodes.math | nodes.math_block, *, display: bool) -> str:
    """Return the MathML of `node`, or, with a warning, its TeX."""
    tex = node.astext()
    try:
        return to_mathml(tex, display=display)
    except InvalidValueError as error:
        logger.warning("formula: %s", error, location=node, type="attnlab", subtype="formula")
        return f"<code>{html.escape(tex)}</code>"


def setup(app: Sphinx) -> None:
    """Register the renderer; ``html_math_renderer = "mathml"`` chooses it."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
