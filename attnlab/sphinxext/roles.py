"""Roles that prove what a sentence says: ``measured``, ``logline``, ``claim`` and ``given``.

Each has the form ``:role:`what the reader sees <what it must agree with>```. Whatever does not
hold is a warning at its line.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxRole
from sphinx.util.nodes import make_refnode

from attnlab.errors import AttnlabError, InvalidValueError
from attnlab.sphinxext import directives, expressions, numbers, proof

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from docutils.nodes import Node, system_message
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator

    from attnlab.results_log import Measurement
    from attnlab.sphinxext.expressions import Expression, Value

LINK = "attnlab-line"
# What would change a number beside it: a sign, a power, a further digit, a percentage.
_SPACE = r"[\u00a0\u2009\u202f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069]*"
_BEFORE = re.compile(
    rf"(?:[-+−±√^/\u2010-\u2015]|[0-9][.,]?|\.|\b(?:minus|negative)\s+){_SPACE}\Z", re.IGNORECASE
)
_AFTER = re.compile(
    rf"{_SPACE}(?:[⁻^/]|[.,]?\d|[⁰¹²³⁴-⁹½¼¾⅓]|\s*[%‰‱]|e[-+−]?\d|\s*×\s*10[⁻⁰¹²³⁴-⁹^]"
    r"|\s*(?:hundred|thousand|million|billion|trillion|percent|per\s+cent)\b)",
    re.IGNORECASE,
)
_TARGETED = re.compile(r"(?P<text>[^<]*?)\s*<(?P<target>.*)>", re.DOTALL)


class proved(nodes.inline):
    """Text that a role has proved; ``title`` says how."""


def split(content: str) -> tuple[str, str | None]:
    """Split what stands in a role into the reader's text and its target.

    Parameters
    ----------
    content : str
        For example ``0.435 <S3.output.river_bank.water>``.

    Returns
    -------
    tuple of str and str or None
        Both on one line. The target is what follows the first ``<``, None if there is none.
    """
    content = " ".join(content.split())
    match = _TARGETED.fullmatch(content)
    return (match["text"], match["target"].strip()) if match else (content, None)


def line_text(number: int) -> str:
    """Return how a line of the log is cited."""
    return f"line {number} of results.log"


class _Role(SphinxRole):
    """A role that proves its text."""

    kind: ClassVar[str]

    def run(self) -> tuple[list[Node], list[system_message]]:
        """Return the text, marked as proved; with a warning if it does not hold."""
        text, target = split(self.text)
        node = proved(self.rawtext, classes=[f"attnlab-{self.kind}"], attnlab_proved=True)
        self.set_source_info(node)
        try:
            self.prove(node, text, target)
        except (AttnlabError, ArithmeticError, RecursionError) as error:
            message = f"{self.kind}: {error}"
            proof.warn(self.env, self.get_location(), self.kind, message, self.rawtext)
            node.clear()
            node += nodes.Text(text)
        return [node], []

    def prove(self, node: proved, text: str, target: str | None) -> None:
        """Fill the node, or raise."""
        raise NotImplementedError

    def cite(self, node: proved, names: Iterable[str]) -> None:
        """Give the node an id, and remember that it cites these measurements."""
        anchor = f"cites-{self.env.new_serialno('attnlab')}"
        node["ids"].append(anchor)
        proof.record(self.env).citations.extend((name, anchor) for name in names)

    def link(self, text: str, line: int, title: str) -> Node:
        """Return text that links to a line of the log."""
        return addnodes.pending_xref(
            "",
            nodes.Text(text),
            refdomain="",
            reftype=LINK,
            reftarget=f"L{line}",
            refdoc=self.env.docname,
            reftitle=title,
        )


def _required(text: str, target: str | None, example: str) -> str:
    """Return a target, or raise if it or the text is missing."""
    if not text or not target:
        raise InvalidValueError(f"expected text and a target, such as {example!r}")
    return target


class MeasuredRole(_Role):
    """A number that must be the value of an expression, at the precision it is shown in."""

    kind = "measured"

    def prove(self, node: proved, text: str, target: str | None) -> None:
        """Compare the number, and link it to the line that shows its measurement."""
        target = _required(text, target, "0.435 <S3.output.river_bank.water>")
        expression = expressions.parse(target)
        found = expressions.look_up(expression.names, proof.facts(self.env))
        if expression.proves_nothing:
            raise InvalidValueError(f"{target!r} names no measurement, so it proves nothing")
        if literal := re.search(r"\b(?:True|False|None)\b", target):
            raise InvalidValueError(f"{literal[0]!r} is no number, so {target!r} proves nothing")
        for name, measurement in found.items():
            if measurement.noise_bound is not None:
                raise InvalidValueError(
                    f"{name} is rounding noise, whose digits differ from machine to machine; "
                    f"claim a bound instead, such as {name} <= {measurement.noise_bound:g}"
                )
        value = expression.evaluate(_values(found))
        expression.check_matters(_values(found))
        numbers.check(text, value)
        node["title"] = f"{target} = {value!r}"
        line_numbers = proof.line_numbers(self.env)
        lines = [line_numbers[name] for name in found if name in line_numbers]
        node += self.link(text, lines[0], node["title"]) if lines else nodes.Text(text)
        self.cite(node, found)
        proof.record(self.env).numbers += 1


class LogLineRole(_Role):
    """The number of the line that shows a measurement or begins a block."""

    kind = "logline"

    def prove(self, node: proved, text: str, target: str | None) -> None:
        """Look up the line, and link to it."""
        name = target or text
        line = expressions.look_up([name], proof.line_numbers(self.env))[name]
        if target:
            _check_line(text, line)
        node += self.link(text if target else line_text(line), line, name)
        self.cite(node, [name])


def _check_line(text: str, line: int) -> None:
    """Raise if a text has a number that is not the line's."""
    for token in text.split():
        word = token.strip(".,;:()").lower()
        if (word in numbers.WORDS or any(map(str.isnumeric, word))) and word != str(line):
            raise InvalidValueError(f"{token!r} stands in the text, but the line is {line}")


class ClaimRole(_Role):
    """A sentence that is true because a comparison holds.

    Numbers that the sentence has in digits must be in the comparison; its words are the author's.
    """

    kind = "claim"

    def prove(self, node: proved, text: str, target: str | None) -> None:
        """Evaluate the comparison."""
        target = _required(text, target, "more water <S1.embedding.river.water > 0>")
        claim = expressions.parse(target)
        found = expressions.look_up(claim.names, proof.facts(self.env))
        if not found:
            raise InvalidValueError(f"{target!r} names no measurement, so it proves nothing")
        values = _values(found)
        claim.evaluate(values)
        claim.check_matters(values)
        title = _with_values(claim, found)
        for label, possible in _possible_values(values, found):
            holds = claim.evaluate(possible)
            if not isinstance(holds, bool):
                raise InvalidValueError(f"{target!r} is no comparison, it is {holds!r}")
            if not holds:
                raise InvalidValueError(f"{text!r} does not hold{label}: {title}")
        stated = {Decimal(repr(constant)) for constant in claim.constants}
        for shown in numbers.find(text):
            if shown.value not in stated:
                raise InvalidValueError(f"{shown.text!r} stands in the text, but not in {target!r}")
        node += nodes.Text(text)
        node["title"] = title
        self.cite(node, found)
        proof.record(self.env).claims += 1


class GivenRole(_Role):
    """A number from outside the workshop, and the reason for it."""

    kind = "given"

    def prove(self, node: proved, text: str, target: str | None) -> None:
        """Demand a reason."""
        node["title"] = _required(text, target, "124 million <GPT-2's published size>")
        node += nodes.Text(text)
        proof.record(self.env).givens += 1


def _values(measurements: Mapping[str, Measurement]) -> dict[str, Value]:
    return {name: measurement.value for name, measurement in measurements.items()}


def _possible_values(
    values: dict[str, Value], measurements: Mapping[str, Measurement]
) -> list[tuple[str, dict[str, Value]]]:
    """Return the values, and where some are rounding noise, the least and most it can be."""
    bounds = {name: m.noise_bound for name, m in measurements.items() if m.noise_bound is not None}
    possible = [("", values)]
    if bounds:
        possible += [
            (" if rounding errors cancel out", values | dict.fromkeys(bounds, 0.0)),
            (" if rounding errors reach their bound", values | bounds),
        ]
    return possible


def _with_values(claim: Expression, measurements: Mapping[str, Measurement]) -> str:
    """Write a claim with each measurement's value after its name, once."""
    told = []
    for name, measurement in measurements.items():
        noisy = measurement.noise_bound is not None
        told.append(f"{name} is {'rounding noise' if noisy else repr(measurement.value)}")
    return f"{claim.text}; {', '.join(told)}"


def resolve_line(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element
) -> Node | None:
    """Link to a line of the log's page, or show the plain text if the site has no such page."""
    if node["reftype"] != LINK:
        return None
    if not directives.has_whole_log(env):
        return content
    page = app.config.attnlab_log_page
    return make_refnode(
        app.builder, node["refdoc"], page, node["reftarget"], content, node["reftitle"]
    )


def check_neighbours(app: Sphinx, doctree: nodes.document) -> None:
    """Warn where the text beside a number makes it another one, such as a minus before it."""
    for node in doctree.findall(proved):
        if "attnlab-measured" not in node["classes"]:
            continue
        block: nodes.Element = node.parent
        while isinstance(block, nodes.Inline):
            block = block.parent
        texts = list(block.findall(nodes.Text))
        inside = {id(text) for text in node.findall(nodes.Text)}
        places = [i for i, text in enumerate(texts) if id(text) in inside]
        if places and (
            _BEFORE.search("".join(text.astext() for text in texts[: places[0]]))
            or _AFTER.match("".join(text.astext() for text in texts[places[-1] + 1 :]))
        ):
            message = f"measured: put the sign or unit beside {node.astext()!r} inside the role"
            proof.warn(app.env, node, "measured", message, node.rawsource)


def unprove_titles(app: Sphinx, doctree: nodes.document) -> None:
    """Leave plain text of headings where Sphinx repeats them, in the contents and elsewhere."""
    env = app.env
    for titles in (env.titles, env.longtitles, env.tocs):
        for node in list(titles[env.docname].findall(proved)):
            node.parent.replace(node, node.children)


def visit_proved(self: HTML5Translator, node: proved) -> None:
    """Open a span; a link in it has the title already."""
    title = {} if _has_link(node) or "title" not in node else {"title": node["title"]}
    self.body.append(self.starttag(node, "span", "", **title))


def depart_proved(self: HTML5Translator, node: proved) -> None:
    """Close the span; where no link has the title, put it where a screen reader finds it."""
    if "attnlab-measured" in node["classes"] and "title" in node and not _has_link(node):
        told = self.encode(f" ({node['title']})")
        self.body.append(f'<span class="attnlab-unseen">{told}</span>')
    self.body.append("</span>")


def _has_link(node: proved) -> bool:
    return any(isinstance(child, nodes.reference) for child in node.children)


ROLES: tuple[type[_Role], ...] = (MeasuredRole, LogLineRole, ClaimRole, GivenRole)


def setup(app: Sphinx) -> None:
    """Register the roles and their link to the log's page."""
    app.add_config_value("attnlab_log_page", "results", "env", str)
    app.add_node(proved, html=(visit_proved, depart_proved))
    for role in ROLES:
        app.add_role(role.kind, role())
    app.connect("missing-reference", resolve_line)
    app.connect("doctree-read", check_neighbours)
    app.connect("doctree-read", unprove_titles, priority=900)  # after Sphinx collects the titles
