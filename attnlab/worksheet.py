"""Worksheets: the same calculation with its numbers left out, to be filled in with a pencil.

- A :class:`Task` asks for the attention of one word; a sheet holds one or several.
- :func:`worksheets` gives an HTML page to print: sheets with empty cells, and their answers, which
  are the numbers of :func:`attnlab.trace_word`.
- With a seed, each copy has numbers of its own, chosen such that they can be worked with by hand.
- :func:`print_pdf` prints such a page with a browser.
"""

import html
import math
import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from attnlab import byhand
from attnlab.attention import Floats
from attnlab.byhand import Head, Line
from attnlab.errors import InvalidTypeError, InvalidValueError, OutputError
from attnlab.results_log import columns_of
from attnlab.toy_world import ToyWorld
from attnlab.trace import (
    Given,
    Trace,
    emphasized,
    given_html,
    given_tables,
    math_html,
    page,
    trace_word,
    word_html,
)

#: What can be left out, in the order of the calculation.
BLANKS = ("rows", "scores", "weights", "output")
PAPERS = {"a4": "A4", "letter": "letter"}
LEVELS = (1, 2, 3)
MAX_COPIES = 200
#: The environment variable that names the browser.
BROWSER = "ATTNLAB_BROWSER"
#: Browsers that print from the command line, as systems call them, and where else they are.
BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "microsoft-edge-stable", "msedge"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
    r"C:\Program Files\Microsoft\Edge\Application\msedge.exe",
)

#: Sheets with drawn numbers have scores up to this, which differ at least by that.
_LARGEST, _SPREAD = 3.0, 0.2
#: Who rounds at each step of such a sheet ends at most so many hundredths away.
_AWAY = 3
#: A word of such a sheet has so many entries other than 0, at most.
_ENTRIES = 3
_DRAWS = 2000
#: How many exponentials a sheet offers, at most.
_EXPONENTIALS = 24


@dataclass(frozen=True)
class Task:
    """A question: the attention of a word.

    Attributes
    ----------
    head : Head
        Which attention, on which sentence. Its sharpness is 1.
    word : str
        A word that stands once in the sentence.
    """

    head: Head
    word: str

    def trace(self, world: ToyWorld, places: int) -> Trace:
        """Calculate it."""
        head = self.head
        return trace_word(
            world,
            head.sentence,
            self.word,
            head=head.name,
            causal=head.causal,
            scaled=head.scaled,
            places=places,
        )


@dataclass(frozen=True)
class _Cell:
    """A number in a table, and whether it is to be found."""

    text: str
    answer: bool = True


@dataclass(frozen=True)
class _Grid:
    """A table to fill in: its step's name, what to do, and the cells. All HTML.

    ``worked`` is the arithmetic of the row, or of the cell, that is filled in as an example.
    """

    title: str
    words: str
    formula: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[_Cell]]]
    worked: str = ""


def worksheets(
    world: ToyWorld,
    tasks: Sequence[Task],
    *,
    blank: Sequence[str] = ("scores", "weights", "output"),
    level: int = 1,
    answers: bool = False,
    seed: int | None = None,
    copies: int = 1,
    paper: str = "a4",
    title: str = "Self-attention by hand",
) -> str:
    """Make worksheets.

    Parameters
    ----------
    world : ToyWorld
        The words, and without a seed the numbers, which are rounded to three decimals if they
        have more.
    tasks : sequence of Task
        What to ask on each sheet; each is a :class:`attnlab.worksheet.Task`.
    blank : sequence of str, optional
        What to leave out, some of ``rows``, ``scores``, ``weights`` and ``output``. What comes
        before the first of them in the calculation is given.
    level : int, optional
        1: each step is explained and its first row is worked. 2: each step is named. 3: the
        question and the tables only.
    answers : bool, optional
        Whether pages with the answers follow the sheets.
    seed : int, optional
        Draw numbers for each copy that can be worked with by hand: entries with one decimal, few
        of them, and small scores. The same seed, world and tasks give the same sheets, however
        many copies are made.
    copies : int, optional
        How many sheets, each with numbers of its own. More than one needs a seed.
    paper : str, optional
        ``a4`` or ``letter``.
    title : str, optional
        What stands at the top of each sheet.

    Returns
    -------
    str
        An HTML page that needs no other file. It prints in black and white.

    Raises
    ------
    InvalidValueError
        If a choice cannot be, or no numbers are found that can be worked with by hand.
    InvalidTypeError
        If a number is not whole.
    UnknownWordError
        If a word has no vector.
    """
    _check(tasks, blank, level, seed, copies, paper)
    sheets, keys = [], []
    for number, numbers in enumerate(_worlds(world, tasks, seed, copies), start=1):
        label = "" if seed is None else f"Sheet {number}, seed {seed}"
        sheet = _Sheet(numbers, tasks, blank, level, title, label)
        sheets.append(sheet.html())
        keys.append(sheet.key())
    style = STYLE.format(paper=PAPERS[paper])
    body = "\n".join(["<main>", *sheets, *(keys if answers else []), "</main>"])
    return page(title, style, body)


def _check(
    tasks: Sequence[Task],
    blank: Sequence[str],
    level: int,
    seed: int | None,
    copies: int,
    paper: str,
) -> None:
    """Raise unless a sheet can be made so."""
    for name, number in (("level", level), ("copies", copies), ("seed", seed)):
        whole = isinstance(number, int) and not isinstance(number, bool)
        if not whole and not (name == "seed" and number is None):
            raise InvalidTypeError(f"{name} must be a whole number, but it is {number!r}")
    if not tasks:
        raise InvalidValueError("a worksheet must have at least one task, but there is none")
    for task in tasks:
        if task.head.sharpness != 1:
            raise InvalidValueError(
                f"the sharpness of a task's head must be 1, but it is {task.head.sharpness:g}"
            )
    if not blank:
        raise InvalidValueError(f"blank must be some of {', '.join(BLANKS)}, but it is empty")
    for name in blank:
        byhand.one_of("blank", name, BLANKS)
    if level not in LEVELS:
        raise InvalidValueError(f"level must be 1, 2 or 3, but it is {level}")
    if not 1 <= copies <= MAX_COPIES:
        raise InvalidValueError(f"copies must be from 1 to {MAX_COPIES}, but it is {copies}")
    if copies > 1 and seed is None:
        raise InvalidValueError(
            f"{copies} copies would all have the same numbers; give a seed to have them differ, "
            "or print one sheet as often as you like"
        )
    byhand.one_of("paper", paper, PAPERS)


def _worlds(
    world: ToyWorld, tasks: Sequence[Task], seed: int | None, copies: int
) -> Iterator[ToyWorld]:
    """Yield the numbers of each sheet; drawn ones are all different."""
    if seed is None:
        yield world
        return
    taken: set[bytes] = set()
    for number in range(1, copies + 1):
        # Python keeps this generator's random() the same from release to release.
        rng = random.Random(f"{seed} {number}")
        for _ in range(_DRAWS):
            drawn = _drawn(world, rng)
            given = b"".join(
                np.array([[float(entry.text.replace("−", "-")) for entry in row]
                          for row in table.entries]).tobytes()
                for table in given_tables(drawn, [task.head for task in tasks], 1)
            )  # fmt: skip
            if given not in taken and _is_handy(drawn, tasks):
                taken.add(given)
                yield drawn
                break
        else:
            raise InvalidValueError(
                f"no numbers were found for sheet {number} that are new, and such that every "
                f"score is at most {_LARGEST:g} and the scores of a sheet differ by at least "
                f"{_SPREAD}; take fewer copies, a sentence of words that share axes, or leave "
                "the seed out"
            )


def _drawn(world: ToyWorld, rng: random.Random) -> ToyWorld:
    """Draw other numbers where a world has numbers other than 0; signs stay."""

    def one_to(most: int) -> int:
        return 1 + int(rng.random() * most)

    embeddings = np.zeros_like(world.embeddings)
    for i, row in enumerate(world.embeddings.tolist()):
        largest = sorted(range(len(row)), key=lambda axis: -abs(row[axis]))[:_ENTRIES]
        for axis in sorted(largest):
            embeddings[i, axis] = np.sign(row[axis]) * one_to(9) / 10
    asks = [[float(np.sign(entry)) * one_to(2) for entry in row] for row in world.W_Q.tolist()]
    return replace(world, embeddings=embeddings, W_Q=np.array(asks), W_K=np.sign(world.W_K))


def _is_handy(world: ToyWorld, tasks: Sequence[Task]) -> bool:
    """Whether a sheet's scores are small enough to work with, and not all alike."""
    spread = []
    for task in tasks:
        trace = task.trace(world, 2)
        seen = [score for score in trace.values("scores").values() if math.isfinite(score)]
        if max(map(abs, seen)) > _LARGEST or _away(world, trace, 2) > _AWAY:
            return False
        spread += [max(seen) - min(seen)] if len(seen) > 1 else []
    return not spread or max(spread) >= _SPREAD


class _Sheet:
    """One sheet and its answers."""

    def __init__(
        self,
        world: ToyWorld,
        tasks: Sequence[Task],
        blank: Sequence[str],
        level: int,
        title: str,
        label: str,
    ) -> None:
        self.blank, self.level = blank, level
        self.title, self.label = title, label
        heads = [task.head for task in tasks]
        places = 1
        tables = given_tables(world, heads, places)
        used = [world.embed(tables[0].rows), *([world.W_Q, world.W_K] if tables[1:] else [])]
        short = all(np.allclose(array, array.round(1), rtol=0, atol=1e-12) for array in used)
        #: Products of numbers with one decimal have two.
        self.places = 2 if short else 3
        # What is given is all that a pupil has, so what is shown of it is what it is.
        self.world = world = replace(
            world,
            embeddings=world.embeddings.round(self.places),
            W_Q=world.W_Q.round(self.places),
            W_K=world.W_K.round(self.places),
        )
        words, *matrices = given_tables(world, heads, self.places)
        self.given = [words] if set(blank) != {"weights"} else []
        self.given += matrices if "scores" in blank else []
        self.traces = [task.trace(world, self.places) for task in tasks]
        self.last = max(map(BLANKS.index, blank))

    def number(self, value: float) -> str:
        """Write a number of a table."""
        return byhand.decimal(value, self.places).text

    def html(self) -> str:
        """The sheet."""
        parts = [
            f"<header><h1>{html.escape(self.title)}</h1>",
            f'<p class="label">{self.label}</p>' if self.label else "",
            '<p class="who"><span>Name</span><span>Date</span></p></header>',
            self.question(),
            f'<div class="tables">{"".join(map(self.given_part, self.given))}',
            f"{self.exponentials() if 'weights' in self.blank else ''}</div>",
        ]
        parts += [self.task(i, key=False) for i in range(len(self.traces))]
        if len(self.traces) > 1:
            parts.append(
                '<section class="part"><p>Compare the results. What differs, and why?</p>'
                '<p class="line"></p><p class="line"></p></section>'
            )
        return self.article("sheet", self.label or "Worksheet", parts)

    def key(self) -> str:
        """The answers."""
        label = f": {self.label[0].lower()}{self.label[1:]}" if self.label else ""
        parts = [f"<header><h1>Answers{label}</h1>"]
        parts.append(f"<p>{html.escape(self.title)}. {self.exactness()}</p></header>")
        parts += [self.task(i, key=True) for i in range(len(self.traces))]
        return self.article("sheet key", f"Answers{label}", parts)

    def article(self, kind: str, name: str, parts: Sequence[str]) -> str:
        """A sheet, which scrolls on a narrow screen, with the keyboard too."""
        return (
            f'<article class="{kind}" tabindex="0" aria-label="{name}">\n'
            f"{''.join(parts)}\n</article>"
        )

    def question(self) -> str:
        """What is asked."""
        asked = {
            "rows": "Write down the row of each word",
            "scores": "Calculate the score of each word",
            "weights": "Calculate the weight that the word gives to each word",
            "output": "Calculate the output of the word",
        }[BLANKS[self.last]]
        several = len(self.traces) > 1
        cases = "".join(f"<li>{self.case(trace)}</li>" for trace in self.traces)
        rounded = "" if BLANKS[self.last] == "rows" else f" Round to {self.places} decimals."
        return (
            f'<section class="part"><p class="question">{asked}:</p>'
            f"<{'ol' if several else 'ul'}>{cases}</{'ol' if several else 'ul'}>"
            f"<p>Fill in the empty cells.{rounded}</p></section>"
        )

    def case(self, trace: Trace) -> str:
        """Which word, sentence and head."""
        if BLANKS[self.last] == "rows":
            return f"“{emphasized(('', trace.sentence))}”"
        head = byhand.describe(trace.head)
        return emphasized(("the word ", trace.word, " in “", trace.sentence, f"”, {head}"))

    def given_part(self, given: Given) -> str:
        """A given table with what it is."""
        wide = ' class="wide"' if _is_wide(given.columns, given.rows) else ""
        return f"<section{wide}><p>{html.escape(given.caption)}:</p>{given_html(given)}</section>"

    def exponentials(self) -> str:
        """A table of exponentials: those that are needed, and others."""
        powers = self.powers()
        height = math.ceil(len(powers) / 4)
        columns = math.ceil(len(powers) / height)
        head = '<th scope="col">x</th><th scope="col">e<sup>x</sup></th>' * columns
        rows = ""
        for i in range(height):
            cells = powers[i::height]
            rows += "<tr>" + "".join(
                f"<td>{self.number(x)}</td><td><b>{self.number(math.exp(x))}</b></td>"
                for x in cells
            )
            rows += "<td></td>" * 2 * (columns - len(cells)) + "</tr>"
        return (
            "<section><p>Exponentials (or use the key e<sup>x</sup> of a calculator):</p>"
            f'<table class="given powers" aria-label="Exponentials">'
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></section>"
        )

    def powers(self) -> list[float]:
        """What a sheet gives the exponentials of: the scores that are needed, and others."""
        needed: list[float] = []
        others: list[float] = []
        for trace in self.traces:
            steps = [step for step in trace.calculation.steps if step.kind in _SCORED]
            needed += byhand.values(steps[-1]).tolist()
            others += byhand.attend(self.world, trace.head).scores.ravel().tolist()
        # A slip in one product leads to a neighbour, so the table does not tell a slip.
        others += [score + slip for slip in (0.1, -0.1, 0.5, -0.5) for score in needed]
        first, second = (
            {round(score, self.places) + 0.0: None for score in scores if math.isfinite(score)}
            for scores in (needed, others)
        )
        second = {score: None for score in second if min(0, *first) <= score <= max(first) + 1}
        enough = max(_EXPONENTIALS, len(first))
        return sorted([*(first | second)][:enough])

    def exactness(self) -> str:
        """How far a pupil may end from the answers who rounds at each step."""
        if BLANKS[self.last] == "rows":
            return ""
        away = max(_away(self.world, trace, self.places) for trace in self.traces)
        if away == 0:
            return "Whoever rounds at each step gets these numbers."
        return (
            "The numbers are calculated with all digits, then rounded. Whoever rounds at each step "
            f"may end up to {away * 10**-self.places:.{self.places}f} away from them."
        )

    def task(self, index: int, *, key: bool) -> str:
        """One task's tables: to be filled in, or filled."""
        trace = self.traces[index]
        heading = f"{index + 1}. " if len(self.traces) > 1 else ""
        case = self.case(trace)
        # The question has named the case of a single task.
        named = key or len(self.traces) > 1
        parts = [f"<h2>{heading}{case[0].upper()}{case[1:]}</h2>" if named else ""]
        for number, grid in enumerate(self.grids(trace), start=1):
            words = ""
            if not key and self.level == 1:
                words = f"<p>{grid.words}</p>"
                for line in filter(None, (grid.formula, grid.worked)):
                    words += f'<p class="formula">{line}</p>'
            step = f"Step {number}: " if not key and self.level < 3 else ""
            wide = " wide" if _is_wide(grid.columns, [name for name, _ in grid.rows]) else ""
            parts.append(
                f'<section class="part{wide}"><h3>{step}{grid.title}</h3>{words}'
                f"{self.table(grid, key=key)}</section>"
            )
        if not key:  # a heading stays with its first table
            parts[:2] = [f'<div class="part">{"".join(parts[:2])}</div>']
        return f'<section class="task">{"".join(parts)}</section>'

    def table(self, grid: _Grid, *, key: bool) -> str:
        """A table."""
        head = "".join(f'<th scope="col">{column}</th>' for column in grid.columns)
        rows = ""
        for i, (name, cells) in enumerate(grid.rows):
            rows += f'<tr><th scope="row">{name}</th>'
            for j, cell in enumerate(cells):
                # Of one row alone, the first cell is the example.
                worked = self.level == 1 and i == 0 and (len(grid.rows) > 1 or j == 0)
                if not cell.text:
                    rows += '<td class="none"></td>'
                elif not cell.answer:
                    rows += f"<td>{cell.text}</td>"
                elif key:
                    rows += f'<td class="answer">{cell.text}</td>'
                elif worked:
                    rows += f'<td class="worked">{cell.text}</td>'
                else:
                    rows += '<td class="blank"></td>'
            rows += "</tr>\n"
        return (
            f'<table class="grid"><thead><tr><td class="none"></td>{head}</tr></thead>\n'
            f"<tbody>{rows}</tbody></table>"
        )

    def grids(self, trace: Trace) -> Iterator[_Grid]:
        """Yield the tables of a task."""
        if "rows" in self.blank:
            yield self.rows(trace)
        if "scores" in self.blank:
            if trace.head.name == "wired":
                yield from self.projections(trace)
            yield self.scores(trace)
        if "weights" in self.blank:
            yield self.weights(trace)
        if "output" in self.blank:
            yield self.output(trace)

    def cells(self, values: Sequence[float], *, answer: bool = True) -> list[_Cell]:
        """Write numbers."""
        return [_Cell(self.number(value), answer) for value in values]

    def rows(self, trace: Trace) -> _Grid:
        """The matrix X."""
        X = self.world.embed(trace.head.sentence).tolist()
        return _Grid(
            "Rows",
            "Copy the row of each word of the sentence from the table of words:",
            "",
            list(map(word_html, self.world.axes)),
            [
                (word_html(word), self.cells(row))
                for word, row in zip(trace.head.sentence, X, strict=True)
            ],
        )

    def projections(self, trace: Trace) -> Iterator[_Grid]:
        """The query of the word, and the keys."""
        steps = [step for step in trace.calculation.steps if step.kind in ("query", "key")]
        channels = list(map(word_html, self.world.channels))
        query, *keys = steps
        yield _Grid(
            "Query",
            emphasized(query.words),
            "query entry = entry × W<sub>Q</sub> + entry × W<sub>Q</sub> + …",
            channels,
            [(word_html(trace.word), self.cells(byhand.values(query).tolist()))],
            _example(query.lines[0]),
        )
        yield _Grid(
            "Keys",
            emphasized(("The keys in the same way, from what each axis advertises:",)),
            "key entry = entry × W<sub>K</sub> + entry × W<sub>K</sub> + …",
            channels,
            [(word_html(step.words[1]), self.cells(byhand.values(step).tolist())) for step in keys],
            _example(keys[0].lines[0]),
        )

    def scores(self, trace: Trace) -> _Grid:
        """The products of two words, and their sums."""
        (step,) = (step for step in trace.calculation.steps if step.kind == "scores")
        wired = trace.head.name == "wired"
        rows = []
        first, of = word_html(trace.word), "q<sub>{}</sub> · k<sub>{}</sub>" if wired else "{} · {}"
        for line, other in zip(step.lines, trace.head.sentence, strict=True):
            if line.value == -math.inf:
                continue
            calculation = byhand.write_out(
                self.world, "score", [trace.word, other], trace.head, self.places
            )
            products = byhand.values(calculation.steps[0]).tolist()
            rows.append((of.format(first, word_html(other)), self.cells(products)))
        names = self.world.channels if wired else self.world.axes
        what = "query × key + query × key" if wired else "entry × entry + entry × entry"
        return _Grid(
            "Scores",
            emphasized(step.words),
            f"score = {what} + …",
            [*map(word_html, names), "score"],
            rows,
            _example(step.lines[0]),
        )

    def weights(self, trace: Trace) -> _Grid:
        """From scores to weights."""
        steps = [step for step in trace.calculation.steps if step.kind in _COLUMNS]
        root = len(self.world.channels)
        columns = [_COLUMNS[step.kind].format(root=root) for step in steps]
        told = " ".join(emphasized(step.words) for step in steps if step.kind != "scores")
        hidden = any(value == -math.inf for value in byhand.values(steps[0]))
        rows = []
        for i, word in enumerate(trace.head.sentence):
            cells = []
            for step in steps:
                value = step.lines[i].value if i < len(step.lines) else -math.inf
                given = step.kind == "scores" and "scores" not in self.blank
                cells += self.cells([-math.inf if value is None else value], answer=not given)
            rows.append((word_html(word), cells))
        (powers,) = (step for step in steps if step.kind == "exponentials")
        nothing = [_Cell("")] * (len(steps) - 2)
        total = powers.lines[-1].value or 0.0
        rows.append(("sum", [*nothing, *self.cells([total, 1.0])]))
        return _Grid(
            "Weights",
            ("Later words are hidden: they score −∞, and e<sup>−∞</sup> is 0. " if hidden else "")
            + told.replace(":", ".", told.count(":") - 1),
            "weight = e<sup>x</sup> ÷ (the sum of all e<sup>x</sup>)",
            columns,
            rows,
            _example(*(step.lines[0] for step in steps if step.kind != "scores")),
        )

    def output(self, trace: Trace) -> _Grid:
        """The rows, each times its weight, and their sum."""
        weights = trace.weights.tolist()
        given = "weights" not in self.blank
        X = self.world.embed(trace.head.sentence).tolist()
        rows = [
            (
                word_html(word),
                [
                    *self.cells([weight], answer=not given),
                    *self.cells([weight * entry for entry in row]),
                ],
            )
            for word, weight, row in zip(trace.head.sentence, weights, X, strict=True)
        ]
        rows.append(("output", [_Cell(""), *self.cells(trace.output.tolist())]))
        (step,) = (step for step in trace.calculation.steps if step.kind == "sum")
        return _Grid(
            "Output",
            emphasized(step.words),
            "output = weight × row + weight × row + …",
            ["weight", *map(word_html, self.world.axes)],
            rows,
        )


def _is_wide(columns: Sequence[str], rows: Sequence[str]) -> bool:
    """Whether a table is too wide for a page, unless it is set small and its names are broken."""
    names = [re.sub("<.*?>", "", name) for name in (*columns, max(rows, key=len))]
    return len(columns) > 8 or sum(columns_of(html.unescape(name)) + 3 for name in names) > 72


def _example(*lines: Line) -> str:
    """Write the arithmetic of the first row."""
    return "For example: " + " &emsp; ".join(
        math_html(line.name) + "&ensp;" + "<wbr>".join(map(math_html, line.pieces))
        for line in lines
    )


#: The columns of the table of weights. The root's number stands in the third.
_COLUMNS = {
    "scores": "score",
    "scaling": "÷ √{root}",
    "shift": "− largest",
    "exponentials": "e<sup>x</sup>",
    "weights": "weight",
}
_SCORED = ("scores", "scaling", "shift")


def _away(world: ToyWorld, trace: Trace, places: int) -> int:
    """How far from the exact numbers a pupil may end who rounds at each step, in last decimals."""
    away = 0.0
    for kind, numbers in _by_hand(world, trace, places).items():
        exact = np.array([*trace.values(kind).values()])[: len(numbers)]
        away = max(away, float(np.abs(numbers - exact.round(places)).max()))
    return round(away * 10.0**places)


def _by_hand(world: ToyWorld, trace: Trace, places: int) -> Mapping[str, Floats]:
    """Calculate as such a pupil does; return what comes out of each kind of step."""

    def rounded(numbers: Floats) -> Floats:  # half of the last decimal goes up
        result: Floats = np.floor(numbers * 10**places + 0.5 + 1e-9) / 10**places
        return result

    words = trace.head.sentence
    row = words.index(trace.word)
    X = world.embed(words)
    seen = X[: row + 1] if trace.head.causal else X
    query: Floats = X[row]
    keys: Floats = seen
    if trace.head.name == "wired":
        query, keys = rounded(query @ world.W_Q), rounded(keys @ world.W_K)
    done = {"scores": rounded(query * keys).sum(axis=1)}
    scores = done["scores"]
    if trace.values("scaling"):
        scores = done["scaling"] = rounded(scores / math.sqrt(len(world.channels)))
    if trace.values("shift"):
        scores = done["shift"] = scores - scores.max()
    powers = done["exponentials"] = rounded(np.exp(scores))
    weights = done["weights"] = rounded(powers / powers.sum())
    done["output"] = rounded(weights[:, np.newaxis] * seen).sum(axis=0)
    return done


STYLE = """\
:root {{ color-scheme: light }}
@page {{ size: {paper}; margin: 13mm 15mm 15mm;
  @bottom-center {{ content: counter(page); font: 9pt sans-serif }} }}
body {{ margin: 0; background: white; color: black; font: 11pt/1.35 sans-serif }}
p, ul, ol {{ margin: 1.5mm 0 }}
ul {{ list-style: none; padding: 0 }}
h1 {{ font-size: 15pt; margin: 0; flex: 1 }}
h2 {{ font-size: 12pt; margin: 5mm 0 1mm }}
h3 {{ font-size: 11pt; margin: 4mm 0 1mm }}
h1, h2, h3 {{ break-after: avoid }}
header {{ display: flex; flex-wrap: wrap; gap: 1mm 6mm; align-items: baseline;
  margin-bottom: 3mm }}
header p {{ margin: 0 }}
.who {{ display: flex; gap: 6mm; width: 100%; margin-top: 4mm }}
.who span {{ flex: 1; border-bottom: .2mm solid }}
.who span:first-child {{ flex: 2 }}
.question {{ font-weight: bold }}
.tables {{ display: flex; flex-wrap: wrap; gap: 2mm 8mm; align-items: start }}
.tables section {{ width: min-content; min-width: 42mm }}
.tables p {{ margin: 1mm 0 }}
.part, .tables section, table, tr {{ break-inside: avoid }}
table {{ border-collapse: collapse }}
th, td {{ border: .2mm solid; padding: .6mm 2mm; text-align: center;
  font-variant-numeric: tabular-nums }}
th {{ font-weight: normal; font-style: italic }}
thead td, .none {{ border: 0 }}
tbody th {{ text-align: start }}
.powers td, .powers th {{ padding: .3mm 2mm }}
.powers b {{ font-weight: normal }}
.powers td:nth-child(even), .powers th:nth-child(even) {{ border-inline-end-width: .6mm }}
.grid td {{ min-width: 14mm; height: 7mm }}
.grid .blank {{ height: 8.5mm }}
.grid tr:last-child > * {{ border-top-width: .5mm }}
.worked {{ font-style: italic }}
.key .grid td {{ height: 5mm; min-width: 11mm }}
.key .task {{ display: flex; flex-wrap: wrap; gap: 0 8mm }}
.key h2 {{ width: 100%; margin-top: 4mm }}
.wide table {{ font-size: 8pt; width: calc(100% - 1mm); table-layout: fixed }}
.wide thead > tr > :first-child {{ width: 13% }}
.wide th, .wide .grid td {{ padding: .4mm; min-width: 0; overflow-wrap: anywhere }}
.tables .wide {{ width: 100% }}
.formula {{ margin-inline-start: 8mm }}
.line {{ border-bottom: .2mm solid; height: 8mm; margin: 0 }}
.sheet + .sheet {{ break-before: page }}
@media screen {{
  .sheet {{ max-width: 180mm; margin: 0 auto; padding: 6mm; overflow-x: auto }}
  .sheet + .sheet {{ border-top: .5mm dashed }}
}}
"""


def find_browser(path: str | None = None) -> str:
    """Return a browser that prints from the command line.

    Parameters
    ----------
    path : str, optional
        Its program, or its name. Without it, the environment variable :data:`BROWSER` counts,
        then the known ones are looked for.

    Returns
    -------
    str
        The program's path.

    Raises
    ------
    OutputError
        If it is not there, or none is found.
    """
    wanted = path or os.environ.get(BROWSER)
    if wanted:
        found = shutil.which(wanted)
        if found is None:
            where = "--browser" if path else BROWSER
            raise OutputError(
                f"{where} must name the program of a browser, but {wanted!r} is none that can be "
                "run; give its whole path"
            )
        return found
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    raise OutputError(
        "a PDF is printed by Chromium, Chrome or Edge, and none was found; name its program with "
        f"--browser or in {BROWSER}, or write a .html file and print that from any browser"
    )


def print_pdf(document: str, browser: str) -> bytes:
    """Print an HTML page.

    Parameters
    ----------
    document : str
        The page.
    browser : str
        The program of Chromium, Chrome or Edge.

    Returns
    -------
    bytes
        The PDF.

    Raises
    ------
    OutputError
        If the browser does not print it.
    """
    with TemporaryDirectory(prefix="attnlab-") as folder:
        source, target = Path(folder, "sheet.html"), Path(folder, "sheet.pdf")
        source.write_text(document, "utf-8")
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            "--no-pdf-header-footer",
            f"--user-data-dir={Path(folder, 'profile')}",
            f"--print-to-pdf={target}",
        ]
        if getattr(os, "geteuid", lambda: 1)() == 0:
            command.append("--no-sandbox")  # Chromium refuses to run as root with it
        try:
            done = subprocess.run(
                [*command, source.as_uri()],
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=120,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise OutputError(f"{browser} cannot print: {error}") from error
        if done.returncode or not target.is_file():
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise OutputError(
                f"{browser} did not print a PDF (exit code {done.returncode}): {said}; name "
                "another browser, or write a .html file and print that from any browser"
            )
        return target.read_bytes()
