"""Matrices as HTML tables, in which each number shows its arithmetic.

- A lesson's output that shows a matrix of the log gets a table; the printed lines fold below it.
  That they equal the lines of this build's run proves the page's output against the run.
- Docutils takes away the indent that all lines of an output share. Lines of the log get theirs
  back, so that a page shows the log letter for letter.
- A cell with arithmetic can have the focus. The style sheet alone shows its arithmetic, in a place
  of its own: that of one cell at first, then that of the cell with the pointer, or with the focus.
- A script makes each table one stop of the Tab key, with arrow keys inside.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from docutils import nodes

from attnlab import byhand
from attnlab.errors import AttnlabError
from attnlab.sections import s3_raw_attention as s3
from attnlab.sphinxext import proof

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator

    from attnlab.attention import Floats
    from attnlab.results_log import Line, ResultsLog
    from attnlab.toy_world import ToyWorld

    Options = Mapping[str, str | None]

HINT = "Point at a number, tap it or move to it by keyboard: it shows where it comes from."
ROUNDED = "Rounded to three decimals; calculated with all digits."
#: For how many lines of arithmetic the style sheet keeps room, and how long a line is.
ROOM, WIDTH = (4, 5, 6, 7, 9, 12, 16), 42
OUTPUT = "sphx-glr-script-out"


@dataclass(frozen=True)
class Table:
    """A matrix with the names of its rows and columns.

    Attributes
    ----------
    caption : str
        What it shows.
    rows, columns : sequence of str
        The names.
    values : ndarray or sequence, shape (len(rows), len(columns))
        The entries.
    shaded : bool
        Whether the entries are weights, to be shown darker the nearer they are to 1.
    spec : str
        The format specification of the entries.
    arithmetic : sequence, shape (len(rows), len(columns))
        For each entry the lines that say where it comes from; empty if there are none.
    """

    caption: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Floats | Sequence[Sequence[float]]
    shaded: bool = False
    spec: str = ".3f"
    arithmetic: Sequence[Sequence[Sequence[str]]] = ()

    def cells(self) -> list[list[str]]:
        """Return the entries as they are shown."""
        return [
            [
                f"{x:z{self.spec}}".strip().replace("-inf", "−∞").replace("-", "−")
                for x in map(float, row)
            ]
            for row in self.values
        ]

    @property
    def text(self) -> str:
        """The table in plain text, as the log writes it."""
        first = max(map(len, self.rows))
        width = max(7, *map(len, self.columns))
        lines = [["", *self.columns]]
        lines += [[row, *cells] for row, cells in zip(self.rows, self.cells(), strict=True)]
        return "\n".join(
            f"{name:<{first}}" + "".join(f" {cell:>{width}}" for cell in cells)
            for name, *cells in lines
        )


def explained(table: Table, world: ToyWorld, what: str, options: Options) -> Table:
    """Return a table with the arithmetic of its entries.

    Parameters
    ----------
    table : Table
        Without arithmetic.
    world : ToyWorld
        What it was calculated from.
    what : str
        Which calculation it shows: ``scores``, ``weights``, ``output``, or ``channels`` for
        queries and keys.
    options : mapping of str to str or None
        Sentence and head, as for :func:`attnlab.byhand.calculate`.

    Returns
    -------
    Table
        A row whose word stands twice in the sentence gets none: it could not be told which.

    Raises
    ------
    AttnlabError
        If the arithmetic of an entry does not end in what the entry shows.
    """
    between = " looks at " if what in ("scores", "weights") else ", "
    twice = {name for name in table.rows if list(table.rows).count(name) > 1}
    arithmetic: list[list[list[str]]] = []
    for row, cells in zip(table.rows, table.cells(), strict=True):
        arithmetic.append([])
        for at, (column, text) in enumerate(zip(table.columns, cells, strict=True)):
            lines: list[str] = []
            if text == "−∞":
                lines = [f"{column} comes later and is hidden: −∞"]
            elif row not in twice and not (what == "scores" and column in twice):
                lines = _ARITHMETIC[what](world, options, row, column, at)
            if lines and not lines[-1].endswith(f" {text}"):
                raise AttnlabError(
                    f"{table.caption}: {row}{between}{column} is {text}, "
                    f"but its arithmetic ends in {lines[-1]!r}"
                )
            arithmetic[-1].append(lines and [f"{row}{between}{column}: {text}", *lines])
    return replace(table, arithmetic=arithmetic)


def _entries(step: byhand.Step) -> list[tuple[str, str]]:
    """Return the names and the formulas of a step."""
    return [(line.name.text, line.formula.text) for line in step.lines]


def _products(*steps: byhand.Step) -> list[str]:
    """Return all entries of steps."""
    return [" ".join(entry) for step in steps for entry in _entries(step)]


def _score(world: ToyWorld, options: Options, row: str, column: str, at: int) -> list[str]:
    return _products(*byhand.calculate(world, f"score {row} {column}", options).steps)


def _weight(world: ToyWorld, options: Options, row: str, column: str, at: int) -> list[str]:
    steps = byhand.calculate(world, f"softmax {row}", options).steps
    first, *others, powers, shares = map(_entries, steps)
    middle = [
        ("divided" if step.kind == "scaling" else "less the largest", entries)
        for step, entries in zip(steps[1:-2], others, strict=True)
    ]
    return [
        f"score: {first[at][1]}",
        *(f"{name}: {step[at][1]}" for name, step in middle if at < len(step)),
        f"exponential: {powers[at][1]}",
        f"sum: {powers[-1][1]}",
        f"share: {shares[at][1]}",
    ]


def _output(world: ToyWorld, options: Options, row: str, column: str, at: int) -> list[str]:
    _, by_axis = byhand.calculate(world, f"output {row}", options).steps
    return [" ".join(_entries(by_axis)[at])]


def _channel(world: ToyWorld, options: Options, row: str, column: str, at: int) -> list[str]:
    kind, _, channel = column.partition(", ")
    steps = byhand.calculate(world, f"{kind} {row}", {"places": "2"}).steps
    return _products(steps[world.channels.index(channel)])


_ARITHMETIC = {"scores": _score, "weights": _weight, "output": _output, "channels": _channel}


def meanings(world: ToyWorld) -> dict[str, tuple[str, Options]]:
    """Return which calculation each matrix of the log shows, as for :func:`explained`, by block."""
    wired: dict[str, str | None] = {"sentence": world.sentences[0], "head": "wired"}
    raw: dict[str, tuple[str, Options]] = {
        f"S3.{what}.{s3.key(world, sentence)}": (what, {"sentence": sentence})
        for sentence in world.sentences
        for what in ("scores", "weights")
    }
    return raw | {
        "S4.queries_and_keys": ("channels", {}),
        "S4.scores": ("scores", wired | {"unscaled": ""}),
        "S4.weights": ("weights", wired),
        "S6.causal_weights": ("weights", wired | {"causal": ""}),
    }


def log_tables(log: ResultsLog, world: ToyWorld) -> list[tuple[list[str], int, Table]]:
    """Return the matrices of a log.

    Parameters
    ----------
    log : ResultsLog
        Of a run.
    world : ToyWorld
        That the run was on.

    Returns
    -------
    list of (list of str, int, Table)
        The lines of a block that shows a matrix below a title, how many of them the table
        stands for, and the table.
    """
    found = []
    for name, numbers in log.blocks.items():
        lines = [log.lines[number - 1] for number in numbers]
        end = max((i + 1 for i, line in enumerate(lines) if _is_row(line)), default=0)
        if end and not _is_row(lines[0]):
            what, options = meanings(world).get(name, ("", {}))
            title = lines[0].text.strip().rstrip(":")
            table = _table(title, [line for line in lines if _is_row(line)], what == "weights")
            table = explained(table, world, what, options) if what else table
            found.append(([line.text for line in lines], end, table))
    return found


def _is_row(line: Line) -> bool:
    """Whether a line is a row of a matrix: a word, and numbers that are named after it."""
    return len(line.measurements) > 1 and {
        measurement.name.split(".")[-2] for measurement in line.measurements
    } == {line.text.split()[0]}


def _table(caption: str, rows: Sequence[Line], shaded: bool) -> Table:
    names = [measurement.name.split(".")[-3:] for measurement in rows[0].measurements]
    several = len({matrix for matrix, _, _ in names}) > 1
    return Table(
        caption,
        [row for row, *_ in (line.text.split() for line in rows)],
        [f"{matrix}, {column}" if several else column for matrix, _, column in names],
        [[float(measurement.value) for measurement in line.measurements] for line in rows],
        shaded,
        rows[0].measurements[0].spec,
    )


def with_indent(text: str, log: ResultsLog) -> str:
    """Return a text with the indent of the log's lines, if all of its lines are lines of the log.

    Parameters
    ----------
    text : str
        Lines of which an indent that all had was taken away.
    log : ResultsLog
        Of a run.

    Returns
    -------
    str
        The lines as the log has them, or the text as it came.
    """
    lines, known = text.split("\n"), {line.text for line in log.lines}
    for indent in sorted({line[: len(line) - len(line.lstrip())] for line in known}):
        if all(not line or indent + line in known for line in lines):
            return "\n".join(line and indent + line for line in lines)
    return text


def pieces(
    lines: Sequence[str], tables: Iterable[tuple[list[str], int, Table]]
) -> Iterator[tuple[list[str], Table | None]]:
    """Cut an output into lines that a table stands for, with the table, and lines between."""
    between: list[str] = []
    rest = list(lines)
    while rest:
        for block, end, table in tables:
            if rest[: len(block)] == block:
                if between:
                    yield between, None
                yield rest[:end], table
                between, rest = [], rest[end:]
                break
        else:
            between.append(rest.pop(0))
    if between:
        yield between, None


def add_tables(app: Sphinx, doctree: nodes.document) -> None:
    """Give the outputs on a page the indent of the log, and its matrices tables."""
    env = app.env
    outputs = [node for node in doctree.findall(nodes.literal_block) if OUTPUT in node["classes"]]
    if not outputs:
        return
    proof.record(env)
    log = proof.build_log(env)
    try:
        tables = log_tables(log, proof.build_world())
    except AttnlabError as error:
        proof.warn(env, outputs[0], "table", str(error))
        return
    for node in outputs:
        text = with_indent(node.astext(), log)
        cut = list(pieces(text.split("\n"), tables))
        if all(table is None for _, table in cut):
            _set_text(node, text)
            continue
        shown = nodes.container(classes=[OUTPUT, "attnlab-output"])
        for lines, table in cut:
            printed = node.copy()
            printed["classes"] = []
            _set_text(printed, "\n".join(lines))
            if table:
                shown += [table_node(table, env), fold("", printed)]
            else:
                shown += printed
        shown["attnlab_proved"] = True
        for captioned in shown.findall(nodes.table):
            doctree.note_implicit_target(captioned)  # its id, without which Sphinx warns
        node.replace_self(shown)


def _set_text(node: nodes.literal_block, text: str) -> None:
    node.rawsource = text
    node[:] = [nodes.Text(text)]


class cell(nodes.entry):
    """A table cell that knows whether it is the header of its row or its column.

    A builder that does not know it takes it for an ordinary cell.

    Attributes
    ----------
    scope : str
        Only of a header: ``row`` or ``col``.
    arithmetic : list of str
        Lines that say where the number comes from, if any do.
    explained_by : str
        The id of these lines.
    """


def visit_cell(self: HTML5Translator, node: cell) -> None:
    """Open a cell, with its scope if it is a header; one with arithmetic can have the focus."""
    attributes = {"scope": node["scope"]} if "scope" in node else {}
    if node.get("arithmetic"):
        attributes = {"tabindex": "0", "aria-describedby": node["explained_by"]}
    self.body.append(self.starttag(node, "th" if "scope" in node else "td", "", **attributes))


def depart_cell(self: HTML5Translator, node: cell) -> None:
    """Write the arithmetic, and close the cell."""
    if node.get("arithmetic"):
        first, *lines = map(html.escape, node["arithmetic"])
        self.body.append(
            f'<div class="attnlab-arithmetic" id="{node["explained_by"]}"><b>{first}</b>'
            + "".join(f"<br>\n{_raised(line)}" for line in lines)
            + "</div>"
        )
    self.body.append("</th>\n" if "scope" in node else "</td>\n")


def _raised(line: str) -> str:
    """Return a line with powers above and names of queries and keys below, as in formulas."""
    return re.sub(
        r"\b([eqk])([_^])(\S+)",
        lambda m: (
            f'{m[1]}<span class="attnlab-aloud">{m[2]}</span>'
            + ("<sub>{}</sub>" if m[2] == "_" else "<sup>{}</sup>").format(m[3])
        ),
        line,
    )


class scroll_box(nodes.container):
    """A part of the page that scrolls inside itself when it is too wide."""


def visit_scroll_box(self: HTML5Translator, node: scroll_box) -> None:
    """Open the box; it takes the keyboard's focus, or the keyboard could not scroll it."""
    label = {"aria-label": node["label"]}
    self.body.append(
        self.starttag(node, "div", CLASS="attnlab-scroll", role="region", tabindex="0", **label)
    )


class explained_box(nodes.container):
    """A table with room for the arithmetic of its numbers."""


def visit_explained_box(self: HTML5Translator, node: explained_box) -> None:
    """Open the box."""
    self.body.append(self.starttag(node, "div"))


def depart_explained_box(self: HTML5Translator, node: explained_box) -> None:
    """Say what the table can do, and close the box."""
    hint = f"{HINT} {ROUNDED}" if node["rounded"] else HINT
    self.body.append(f'<p class="attnlab-hint">{hint}</p></div>\n')


class fold(nodes.container):
    """The printed text that a table stands for."""


def visit_fold(self: HTML5Translator, node: fold) -> None:
    """Open a fold that is closed at first."""
    self.body.append('<details class="attnlab-printed"><summary>As printed</summary>\n')


def depart_fold(self: HTML5Translator, node: fold) -> None:
    """Close the fold."""
    self.body.append("</details>\n")


def depart_box(self: HTML5Translator, node: nodes.Element) -> None:
    """Close a box."""
    self.body.append("</div>\n")


def table_node(table: Table, env: BuildEnvironment) -> nodes.Element:
    """Return a table as Docutils nodes, with header cells and a caption.

    Parameters
    ----------
    table : Table
        What to show.
    env : BuildEnvironment
        Of the build; it numbers the tables of a page.

    Returns
    -------
    nodes.Element
        A box with the table.
    """
    group = nodes.tgroup(cols=len(table.columns) + 1)
    width = max(map(len, [*table.rows, *table.columns])) + 2  # for builders of plain text
    group += nodes.colspec(colwidth=width, stub=1)
    group += [nodes.colspec(colwidth=width) for _ in table.columns]
    head = nodes.row("", cell(), *(_cell(name, scope="col") for name in table.columns))
    body = nodes.tbody()
    number = env.new_serialno("attnlab-table")
    shown = (len(table.rows) - 1, max(len(table.columns) - 2, 0))
    for i, (name, texts, values) in enumerate(
        zip(table.rows, table.cells(), table.values, strict=True)
    ):
        row = nodes.row("", _cell(name, scope="row"))
        for j, (text, value) in enumerate(zip(texts, values, strict=True)):
            entry = _cell(text, classes=[f"w{int(10 * value + 0.5)}"] if table.shaded else [])
            if table.arithmetic and table.arithmetic[i][j]:
                entry["arithmetic"] = table.arithmetic[i][j]
                entry["explained_by"] = f"attnlab-cell-{number}-{i}-{j}"
                entry["classes"] += ["attnlab-shown"] if (i, j) == shown else []
            row += entry
        body += row
    group += [nodes.thead("", head), body]
    title = nodes.title(table.caption, table.caption)
    classes = ["attnlab-weights" if table.shaded else "attnlab-matrix", "colwidths-auto"]
    box = scroll_box("", nodes.table("", title, group, classes=classes), label=table.caption)
    explanations = [lines for row in table.arithmetic for lines in row if lines]
    if not explanations:
        return box
    most = max(sum(1 + len(line) // WIDTH for line in lines) for lines in explanations)
    room = next((lines for lines in ROOM if lines >= most), ROOM[-1])
    place = "below" if len(table.columns) > 4 else "beside"
    return explained_box(
        "",
        box,
        rounded="≈" in str(explanations),
        classes=["attnlab-explained", f"attnlab-{place}", f"attnlab-room-{room}"],
    )


def _cell(text: str, **attributes: Any) -> cell:
    return cell("", nodes.paragraph(text, text), **attributes)


def remove_second_ids(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Take the ids off the boxes that the furo theme puts around tables: the tables have them."""
    for table in doctree.findall(nodes.table):
        if table.parent["ids"] == table["ids"]:
            table.parent["ids"] = []


def setup(app: Sphinx) -> None:
    """Register the nodes and the script; style sheets are in ``attnlab-proof.css``."""
    app.add_node(cell, html=(visit_cell, depart_cell))
    app.add_node(scroll_box, html=(visit_scroll_box, depart_box))
    app.add_node(explained_box, html=(visit_explained_box, depart_explained_box))
    app.add_node(fold, html=(visit_fold, depart_fold))
    app.connect("doctree-read", add_tables)
    app.connect("doctree-resolved", remove_second_ids)
    app.add_js_file("attnlab-tables.js", loading_method="defer")
