"""Directives that calculate while the site is built: ``by-hand``, ``attention``, ``results-log``.

- Nothing that they show is stored anywhere: it comes from the toy world or from this build's run.
- A mistake in a directive is a warning at its line.
- A builder other than HTML gets what it knows already: formulas, plain tables, a literal block.
"""

from __future__ import annotations

import functools
import html
import os
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst.directives.admonitions import Attention as Admonition
from sphinx.util.docutils import SphinxDirective

from attnlab import byhand, figures, reproduce
from attnlab.errors import AttnlabError, InvalidValueError
from attnlab.sphinxext import audit, pictures, proof
from attnlab.sphinxext.tables import Table, explained, scroll_box, table_node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator

    from attnlab.attention import AttentionResult, Floats
    from attnlab.results_log import Line, ResultsLog
    from attnlab.toy_world import ToyWorld

    Options = Mapping[str, str | None]

STATIC = Path(__file__).resolve().parent / "static"


class AnyOption(dict[str, Any]):
    """Takes every option as it is written, so that the directive itself can say what is wrong."""

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, name: str) -> Callable[[str | None], str | None]:
        return lambda value: value


class _Directive(SphinxDirective):
    """A directive that takes one line of arguments and options, and no body."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[Any] = AnyOption()

    def run(self) -> list[nodes.Node]:
        """Return what the directive shows, or nothing and a warning at its line."""
        proof.record(self.env)
        try:
            _refuse_content("\n".join(self.content))
            shown = self.show(" ".join(self.arguments).strip())
        except AttnlabError as error:
            message = f"{self.name}: {error}"
            proof.warn(self.env, self.get_location(), self.name, message)
            return []
        shown["attnlab_proved"] = True
        for node in (shown, *shown.findall(nodes.Element)):
            self.set_source_info(node)
        return [shown]

    def show(self, arguments: str) -> nodes.Element:
        """Return what the directive shows."""
        raise NotImplementedError


def _refuse_content(content: str) -> None:
    """Raise if a directive has a body."""
    if content:
        raise InvalidValueError(
            f"no text may stand in the directive, but {content.splitlines()[0]!r} does "
            "(options come right below the first line, without an empty line between)"
        )


class ByHand(_Directive):
    """Write out one calculation in full: ``.. by-hand:: softmax bank``."""

    def show(self, arguments: str) -> nodes.Element:
        """Return the steps, each a sentence and a formula."""
        calculation = byhand.calculate(proof.build_world(), arguments, self.options)
        container = nodes.container(classes=["attnlab-by-hand"])
        for step in calculation.steps:
            formula = nodes.math_block(
                step.tex, step.tex, docname=self.env.docname, number=None, label=None
            )
            formula["nowrap"] = formula["no-wrap"] = False
            container += [_paragraph(*step.words), formula]
        if calculation.note:
            note = _paragraph(calculation.note)
            note["classes"] = ["attnlab-note"]
            container += note
        return container


def _paragraph(*words: str) -> nodes.paragraph:
    """Return a sentence of plain and emphasized text in turn."""
    paragraph = nodes.paragraph("".join(words))
    for i, part in enumerate(words):
        paragraph += nodes.emphasis(part, part) if i % 2 else nodes.Text(part)
    return paragraph


SHOWN = ("scores", "weights", "output")
HEAD_OPTIONS = ("head", "causal", "unscaled")


def attention_tables(
    world: ToyWorld, sentence: str, options: Options
) -> tuple[byhand.Head, AttentionResult, list[Table]]:
    """Apply attention to a sentence, and choose what to show of it.

    Parameters
    ----------
    world : ToyWorld
        Knows the words and has the wired head.
    sentence : str
        Any of its words, in any order.
    options : mapping of str to str or None
        ``head``, ``causal`` and ``unscaled`` as for :func:`attnlab.byhand.read_head`; ``show``
        (some of ``scores, weights, output``), ``caption``, and the flag ``heatmap``.

    Returns
    -------
    head, result, tables : Head, AttentionResult, list of Table
        What was applied, what came out, and a table for each thing to show.

    Raises
    ------
    AttnlabError
        If the sentence or an option cannot be used; the message says what can.
    """
    byhand.check_options("attention", options, (*HEAD_OPTIONS, "show", "heatmap", "caption"))
    if options.get("heatmap"):
        raise InvalidValueError(f"heatmap takes no value, but {options['heatmap']!r} was given")
    if options.get("caption", "given") in (None, ""):
        raise InvalidValueError("caption must say something, but it is empty")
    if numbers := audit.bare_numbers(options.get("caption") or ""):
        raise InvalidValueError(
            f"caption must hold no number, since no role can prove it there, but it holds "
            f"{' and '.join(numbers)}"
        )
    head = byhand.read_head(world, options, sentence)
    result = byhand.attend(world, head)
    whose = options.get("caption") or f"{byhand.describe(head)} on “{' '.join(head.sentence)}”"
    tables = {
        "scores": Table(
            f"Scores: {whose} (a row a query, a column a key)",
            head.sentence,
            head.sentence,
            result.scores,
        ),
        "weights": Table(
            f"Weights: {whose} (a row a query, a column a key)",
            head.sentence,
            head.sentence,
            result.weights,
            shaded=True,
        ),
        "output": Table(
            f"Output: {whose} (a row a word, a column an axis)",
            head.sentence,
            world.axes,
            result.output,
        ),
    }
    of_head = {name: options[name] for name in HEAD_OPTIONS if name in options}
    of_head["sentence"] = " ".join(head.sentence)
    shown = _read_show(options.get("show", "weights"))
    return head, result, [explained(tables[name], world, name, of_head) for name in shown]


def _read_show(text: str | None) -> list[str]:
    names = [name.strip() for name in (text or "").split(",")]
    for name in names:
        if name not in SHOWN:
            raise InvalidValueError(
                f"show must be some of {', '.join(SHOWN)}, with commas between, "
                f"but it is {text or ''!r}"
            )
    return names


class Attention(_Directive):
    """Apply attention to any sentence: ``.. attention:: the river bank``."""

    def run(self) -> list[nodes.Node]:
        """Return what the directive shows, or the admonition that Docutils has by this name."""
        if self.content and not self.arguments and not self.options:
            admonition = Admonition(
                self.name,
                self.arguments,
                self.options,
                self.content,
                self.lineno,
                self.content_offset,
                self.block_text,
                self.state,
                self.state_machine,
            )
            return list(admonition.run())
        return super().run()

    def show(self, arguments: str) -> nodes.Element:
        """Return the tables, and the heatmap if it is asked for."""
        head, result, tables = attention_tables(proof.build_world(), arguments, self.options)
        container = nodes.container(classes=["attnlab-attention"])
        container += [table_node(table, self.env) for table in tables]
        if "heatmap" in self.options:
            container += heatmap(self.env, head, result.weights)
        return container


def heatmap(env: BuildEnvironment, head: byhand.Head, weights: Floats) -> nodes.Element:
    """Draw the weights of a head into files of the build, and return the figure.

    Parameters
    ----------
    env : BuildEnvironment
        Of the build. The files stand beside its doctrees, named by what they hold.
    head : Head
        Whose weights.
    weights : ndarray, shape (n, n)
        The weights.

    Returns
    -------
    nodes.Element
        The figure, whose alternative text tells every number.
    """
    import matplotlib as mpl

    mpl.use("agg")  # to files, whatever display there is
    sentence = " ".join(head.sentence)
    figure = figures.attention_heatmap(
        f"“{sentence}”", byhand.describe(head), head.sentence, weights
    )
    folder = Path(env.doctreedir, "attnlab")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as unfinished:
        pictures.draw(figure, Path(unfinished, "drawn"))
        drawn = sorted(Path(unfinished).iterdir())
        digest = sha256(b"".join(file.read_bytes() for file in drawn)).hexdigest()[:16]
        stem = folder / f"attention-{digest}"
        for file in drawn:
            kept = Path(file.name.replace("drawn", str(stem)))
            if not kept.exists():  # a newer file would have other pages read again
                file.replace(kept)
    page = Path(env.srcdir, env.docname).parent
    return pictures.picture_node(Path(os.path.relpath(stem, page)).as_posix(), stem)


class Picture(_Directive):
    """Show a figure that a lesson drew: ``.. picture:: /lessons/images/sphx_glr_s1_one_001``."""

    def show(self, arguments: str) -> nodes.Element:
        """Return the figure."""
        byhand.check_options("picture", self.options, ())
        return pictures.picture_node(arguments, Path(self.env.relfn2path(arguments)[1]))


class results_log(nodes.literal_block):
    """Lines of the log. A builder that does not know it takes it for a literal block.

    Attributes
    ----------
    numbers : list of int
        The lines, in order.
    whole : bool
        Whether it is the whole log, which has the anchors and the citations.
    folded : bool
        Whether each section can be folded.
    """


class ResultsLogDirective(_Directive):
    """Show the log of this build's run, whole or in part: ``.. results-log::``."""

    def show(self, arguments: str) -> nodes.Element:
        """Return the lines."""
        log = proof.build_log(self.env)
        numbers = log_lines(log, arguments, self.options)
        whole = not self.options
        if whole:
            page = self.config.attnlab_log_page
            if self.env.docname != page:
                raise InvalidValueError(
                    f"the whole log must stand on the page {page!r}, which attnlab_log_page names "
                    f"in conf.py, but this is {self.env.docname!r}"
                )
            if proof.record(self.env).shows_citations:
                raise InvalidValueError("the whole log must stand on its page once, not twice")
            proof.record(self.env).shows_citations = True
        text = "\n".join(log.lines[number - 1].text for number in numbers)
        block = results_log(text, text, language="none", numbers=numbers, whole=whole)
        block["folded"] = "block" not in self.options
        label = "results.log" if whole else "an excerpt of results.log"
        return scroll_box("", block, label=label, classes=["attnlab-log"])


def log_lines(log: ResultsLog, arguments: str, options: Options) -> list[int]:
    """Return which lines of a log are meant.

    Parameters
    ----------
    log : ResultsLog
        Of a run.
    arguments : str
        Must be empty.
    options : mapping of str to str or None
        Nothing for the whole log, or ``section`` (such as ``S3``), or ``block`` (such as
        ``S3.scores.river_bank``).

    Returns
    -------
    list of int
        Line numbers from 1. Empty lines at the end of a section are left out.

    Raises
    ------
    InvalidValueError
        If there is no such section or block; the message names the nearest ones.
    """
    if arguments:
        raise InvalidValueError(
            f"it takes options only, such as :section: S3, but {arguments!r} stands on its line"
        )
    byhand.check_options("results-log", options, ("section", "block"))
    if len(options) == 2:
        raise InvalidValueError("section and block exclude each other, but both are given")
    if "block" in options:
        return list(log.blocks[byhand.one_of("block", options["block"], log.blocks)])
    groups = _groups(log)
    if "section" in options:
        names = [name for name in groups if name]
        numbers = groups[byhand.one_of("section", options["section"], names)]
        while not log.lines[numbers[-1] - 1].text:
            numbers.pop()
        return numbers
    return [number for numbers in groups.values() for number in numbers]


def _groups(log: ResultsLog) -> dict[str, list[int]]:
    """Return the line numbers of each section by its name; those before the first have none."""
    groups: dict[str, list[int]] = {}
    for block, numbers in log.blocks.items():
        section = block.partition(".")[0]
        name = section if f"{section}.heading" in log.blocks else ""
        groups.setdefault(name, []).extend(numbers)
    return groups


def has_whole_log(env: BuildEnvironment) -> bool:
    """Whether the page of the log, which ``attnlab_log_page`` names, shows the whole log."""
    page = proof.records(env).get(env.config.attnlab_log_page)
    return page is not None and page.shows_citations


def visit_results_log(self: HTML5Translator, node: results_log) -> None:
    """Write the lines, each with its number, and the whole log with anchors and citations."""
    env = self.builder.env
    log = proof.build_log(env)
    page = env.config.attnlab_log_page

    def link(docname: str, anchor: str) -> str:
        """Return the address of a place on a page."""
        here = self.builder.current_docname
        address = self.builder.get_relative_uri(here, docname) if docname != here else ""
        return html.escape(f"{address}#{anchor}")

    cited = proof.citations(env) if node["whole"] else {}
    titles = {name: title.astext() for name, title in env.titles.items()}
    headings = {
        log.blocks[f"{name}.heading"][0] for name in _groups(log) if name and node["folded"]
    }
    open_fold = False
    for number in node["numbers"]:
        line = log.lines[number - 1]
        anchor = f' id="L{number}"' if node["whole"] else ""
        text = f"<code>{_marked(line) or '<br>'}</code>"  # an empty line is copied too
        places = _cited_in(_names(log, number), cited, link, titles)
        if number in headings:
            self.body.append(
                ("</details>\n" if open_fold else "")
                + '<details class="attnlab-fold" open>'
                + f'<summary class="attnlab-line"{anchor} data-line="{number}">{text}</summary>\n'
                + (f'<div class="attnlab-line">{places}</div>\n' if places else "")
            )
            open_fold = True
            continue
        count = f'<span class="attnlab-number" data-line="{number}"></span>'
        if has_whole_log(env):
            count = (
                f'<a class="attnlab-number" data-line="{number}" href="{link(page, f"L{number}")}" '
                f'aria-label="line {number}"></a>'
            )
        self.body.append(f'<div class="attnlab-line"{anchor}>{count}{text}{places}</div>\n')
    self.body.append("</details>\n" if open_fold else "")
    raise nodes.SkipNode


def _marked(line: Line) -> str:
    """Return a line as HTML, with the name of each measured number on hover."""
    marked, rest = "", line.text
    for measurement in line.measurements:
        shown = measurement.text.strip()
        before, _, rest = rest.partition(shown)
        name = html.escape(measurement.name)
        marked += f'{html.escape(before)}<span title="{name}">{html.escape(shown)}</span>'
    return marked + html.escape(rest)


def _names(log: ResultsLog, number: int) -> dict[str, str]:
    """Return what can be cited of a line: its measurements, and the block that begins there."""
    line = log.lines[number - 1]
    blocks = {name: "all of" for name, lines in log.blocks.items() if lines.start == number}
    return blocks | {m.name: m.text.strip() for m in line.measurements}


def _cited_in(
    names: Mapping[str, str],
    cited: Mapping[str, Sequence[tuple[str, str]]],
    link: Callable[[str, str], str],
    titles: Mapping[str, str],
) -> str:
    """Return a fold that lists where each number of a line is cited."""
    items, count = "", 0
    for name, shown in names.items():
        pages: dict[str, list[str]] = {}
        for docname, anchor in cited.get(name, ()):
            pages.setdefault(docname, []).append(anchor)
            count += 1
        if pages:
            links = ", ".join(_links(docname, pages[docname], link, titles) for docname in pages)
            items += (
                f'<li>{html.escape(shown)} <span class="attnlab-name">{html.escape(name)}</span>: '
                f"{links}</li>"
            )
    if not items:
        return ""
    return (
        f'<details class="attnlab-cited"><summary>cited {count}×</summary>'
        f"<ul>{items}</ul></details>"
    )


def _links(
    docname: str,
    anchors: Iterable[str],
    link: Callable[[str, str], str],
    titles: Mapping[str, str],
) -> str:
    """Return links to the places on one page: its title, then numbers."""
    return " ".join(
        f'<a href="{link(docname, anchor)}">'
        + (f"({i})" if i > 1 else html.escape(titles[docname]))
        + "</a>"
        for i, anchor in enumerate(anchors, start=1)
    )


def rewrite(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name the pages to write again because what their links say or lead to has changed."""
    citing = {docname for places in proof.citations(env).values() for docname, _ in places}
    now = (has_whole_log(env), {name: env.titles[name].astext() for name in sorted(citing)})
    before = getattr(env, "attnlab_links", now)
    env.attnlab_links = now  # type: ignore[attr-defined]
    return [] if now == before else sorted(proof.records(env))


def _plain_by_hand(arguments: str, options: Options, content: str) -> str:
    _refuse_content(content)
    return byhand.calculate(proof.build_world(), arguments, options).rst


def _plain_attention(arguments: str, options: Options, content: str) -> str:
    if content and not arguments and not options:  # the admonition
        return f"**Attention:** {content}\n"
    _refuse_content(content)
    _, _, tables = attention_tables(proof.build_world(), arguments, options)
    return "\n\n".join(f"{table.caption}\n\n{_literal(table.text)}" for table in tables) + "\n"


def _plain_results_log(arguments: str, options: Options, content: str) -> str:
    _refuse_content(content)
    log = _log_outside_a_build()
    lines = [log.lines[number - 1].text for number in log_lines(log, arguments, options)]
    return _literal("\n".join(lines)) + "\n"


@functools.cache
def _log_outside_a_build() -> ResultsLog:
    return reproduce.run(world=proof.build_world())


def _literal(text: str) -> str:
    """Return text as a block that keeps its spaces."""
    lines = (f"   {line}".rstrip() for line in text.splitlines())
    return "\n".join([".. code-block:: none", "", *lines])


#: What each directive shows, for notebooks and scripts, where there are no directives.
PLAIN: dict[str, Callable[[str, Options, str], str]] = {
    "by-hand": _plain_by_hand,
    "attention": _plain_attention,
    "results-log": _plain_results_log,
}


def plain(name: str, arguments: str, options: Options, content: str = "") -> str:
    """Return what a directive shows, as reStructuredText that any reader of it understands.

    Parameters
    ----------
    name : str
        One of the names in :data:`PLAIN`.
    arguments : str
        What stands on the directive's first line.
    options : mapping of str to str or None
        As written; None for an option without a value.
    content : str, optional
        The directive's body.

    Returns
    -------
    str
        Paragraphs, ``math`` and ``code-block`` directives.

    Raises
    ------
    AttnlabError
        Where the directive itself would warn.
    """
    return PLAIN[name](arguments, options, content)


def _add_static_path(app: Sphinx) -> None:
    """Add the style sheet's folder; so late that its place on this machine leaves no trace."""
    app.config.html_static_path.append(str(STATIC))


def setup(app: Sphinx) -> None:
    """Register the directives, their nodes and the style sheet."""
    app.add_directive("by-hand", ByHand)
    app.add_directive("attention", Attention, override=True)
    app.add_directive("picture", Picture)
    app.add_directive("results-log", ResultsLogDirective)
    app.add_node(results_log, html=(visit_results_log, None))
    app.connect("env-updated", rewrite)
    app.connect("builder-inited", _add_static_path)
    app.add_css_file("attnlab-proof.css")
