r"""The audit: every number in prose is proved, or it is a warning.

It reads each page that a person wrote (not docstrings) once Docutils has parsed it, and looks at
what a reader meets as prose: paragraphs, list items, table cells, captions, headings, alt texts,
the text in raw HTML.

Numbers that may stand:

- what a role of this extension has proved or marked as given, and what its directives show;
- code and literals, and so the output of executed code;
- a number that belongs to a name: ``S1``, ``GPT-2``, ``W_Q2``, ``x86-64``;
- the number that a heading begins with: *3. Raw attention*;
- a date: ``2017-06-12``, *12 June 2017*, *June 2017*; a year by its place, as in *(2017)*,
  *and others, 2017)* or *since 2017.*;
- a version: ``1.2.3``, or after the name of what has the version: *Python 3.11 to 3.13*;
- the text of a link that is its own address.

In a formula, whole numbers up to ten may stand: they are indices, exponents and sizes such as
:math:`\sqrt{2}`. Anything else there is written by a directive, or taken out of the formula into
prose, where a role can prove it.
"""

from __future__ import annotations

import html
import re
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes

from attnlab.sphinxext import pictures, proof

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

#: Largest whole number that may stand in a formula.
LARGEST_IN_FORMULA = 10

# What is not prose. Formulas are looked at on their own.
_NOT_PROSE = (
    nodes.Invisible,
    nodes.FixedTextElement,
    nodes.literal,
    nodes.math,
    nodes.raw,
    nodes.label,
    nodes.footnote_reference,
    nodes.citation_reference,
    nodes.problematic,
    nodes.system_message,
    addnodes.desc_signature,
    addnodes.download_reference,
    addnodes.index,
)
_NUMBER = re.compile(
    r"""
    (?: (?<![\w.]) | (?<=[^\W\d_]{2})(?=\.\d) )  # the second is for "about.9601"
    [-+−]? \.? [\d¼-¾⅐-⅞①-⑳]+ (?:[.,]\d+)* (?:[eE][-+−]\d+)? \w* (?:\s?%)?
    """,
    re.VERBOSE,
)

_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_YEAR = r"(?:19|20)\d\d"
_VERSION = r"(?!0\.\d{3})\d+(?:\.\d{1,3})*"  # 0.435 is a measured number
_VERSIONED = (
    "Python|NumPy|SciPy|PyTorch|torch|Matplotlib|Sphinx|sphinx-gallery|Docutils|attnlab|[Vv]ersion"
)
_MAY_STAND = re.compile(
    rf"""
    \b{_YEAR}-\d\d-\d\d\b
  | \b(?:\d\d?\s+)?{_MONTH}\s+(?:\d\d?,\s+)?{_YEAR}\b
  | (?:(?<=\()|(?<=,\s)|(?<=in\s)|(?<=since\s)|(?<=©\s)){_YEAR}(?=\s*(?:[),.;:]|$))
  | (?<!\w)[^\W\d]\w*(?:[-‑]\w+)+
  | (?<![\w.])\d+(?:\.\d+){{2,}}\b
  | \b(?:{_VERSIONED})s?\s+{_VERSION}(?:\s*(?:,|–|-|and|or|to)\s*{_VERSION})*\b
    """,
    re.VERBOSE,
)
_HEADING_NUMBER = re.compile(r"^(?:[1-9]\d?\.)*[1-9]\d?\.(?=\s)")
_TAG = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_TEX_TEXT = re.compile(r"\\(?:begin|end|label|tag)\{[^}]*\}")


def bare_numbers(text: str, *, heading: bool = False) -> list[str]:
    """List the numbers in a piece of prose that need a proof.

    Parameters
    ----------
    text : str
        As the reader sees it, without what is proved already.
    heading : bool, optional
        Whether it is a heading, which may begin with a number.

    Returns
    -------
    list of str
        As they stand in the text.
    """
    if heading:
        text = _HEADING_NUMBER.sub("", text)
    return [match[0] for match in _NUMBER.finditer(_MAY_STAND.sub("·", text))]


def bare_numbers_in_formula(tex: str) -> list[str]:
    """List the numbers in a formula that need a proof: all but whole numbers up to ten."""
    numbers = re.findall(r"\d*(?:(?:[.,]|\{[.,]\})\d+)+|\d+", _TEX_TEXT.sub("", tex))
    return [
        number for number in numbers if not number.isdecimal() or int(number) > LARGEST_IN_FORMULA
    ]


def _prose(node: nodes.Element) -> Iterator[str]:
    """Yield the texts of a block that are prose, and a mark for whatever stands between them."""
    for child in node.children:
        if isinstance(child, nodes.Text):
            yield child.astext()
        elif isinstance(child, nodes.Element):
            skip = isinstance(child, _NOT_PROSE) or _is_proved(child) or _is_address(child)
            yield from ("·",) if skip else _prose(child)


def _is_proved(node: nodes.Element) -> bool:
    """Whether this extension proved a node, or sphinx-gallery measured it."""
    return bool(node.get("attnlab_proved")) or "sphx-glr-timing" in node.get("classes", ())


def _is_address(node: nodes.Element) -> bool:
    """Whether a node is a link that shows where it leads."""
    address = node.get("refuri", "") if isinstance(node, nodes.reference) else ""
    return bool(address) and node.astext() in (address, address.rpartition("://")[2])


def _from_docstring(node: nodes.Element) -> bool:
    """Whether a node, or an object's description in it, was taken from a docstring."""
    parts = node.findall(nodes.Element) if isinstance(node, addnodes.desc) else (node,)
    return any("docstring of " in (part.source or "") for part in parts)


def _without_roles(doctree: nodes.document) -> Iterator[tuple[nodes.Element, str]]:
    """Yield the prose that no role can stand in: alt texts, the names in a toctree, raw HTML."""
    for image in doctree.findall(nodes.image):
        if not isinstance(image, pictures.picture):  # which tells the numbers that it draws
            yield image, image.get("alt", "")
    for raw in doctree.findall(nodes.raw):
        if "html" in raw["format"].split() and not _from_docstring(raw):
            for text in _TAG.sub("\0", raw.astext()).split("\0"):
                yield raw, html.unescape(text).strip()
    for toctree in doctree.findall(addnodes.toctree):
        yield toctree, toctree.get("caption") or ""
        yield from ((toctree, title) for title, _ in toctree["entries"] if title)


def _blocks(node: nodes.Element) -> Iterator[nodes.Element]:
    """Yield the blocks of prose and the formulas that a person wrote and nothing proves."""
    for child in node.children:
        if not isinstance(child, nodes.Element) or _is_proved(child):
            continue
        if isinstance(child, nodes.math | nodes.math_block):
            yield child
        elif isinstance(child, _NOT_PROSE) or _from_docstring(child):
            continue
        else:
            if isinstance(child, nodes.TextElement):
                yield child
            yield from (
                block
                for block in _blocks(child)
                if not isinstance(child, nodes.TextElement) or isinstance(block, nodes.math)
            )


def audit(app: Sphinx, doctree: nodes.document) -> None:
    """Warn of each number on a page that nothing proves."""
    env = app.env
    if any(fnmatch(env.docname, pattern) for pattern in app.config.attnlab_audit_exclude):
        return
    for node, text in _without_roles(doctree):
        for number in bare_numbers(text, heading=not isinstance(node, nodes.image)):
            what = "an alt text, a toctree or raw HTML, where no role can prove it: say it in words"
            proof.warn(env, node, "audit", f"the number {number} stands bare in {what}", number)
    for block in _blocks(doctree):
        if isinstance(block, nodes.math | nodes.math_block):
            found = bare_numbers_in_formula(block.astext())
            what = "a formula: move it to prose, and prove it there with :measured:"
        else:
            heading = isinstance(block, nodes.title) and isinstance(block.parent, nodes.section)
            found = bare_numbers("".join(_prose(block)), heading=heading)
            what = (
                "prose: prove it with :measured:, give its reason with :given:, "
                "or write a small count in words"
            )
        for number in found:
            proof.warn(env, block, "audit", f"the number {number} stands bare in {what}", number)


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_config_value("attnlab_audit_exclude", ["*sg_execution_times"], "env", list)
    app.connect("doctree-read", audit)
