r"""One word's attention written out whole, as a person would do it on paper.

- :func:`trace_word` gives a :class:`Trace`: what is given, every step with its numbers in full
  precision, and how exact the numbers are that are shown.
- :meth:`Trace.write` makes it a text for a terminal, Markdown, a LaTeX document or an HTML page.
  Words may hold any sign; each format shows it as it is.
- The steps themselves are made by :mod:`attnlab.byhand`.
"""

import html
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from attnlab import byhand
from attnlab.attention import Floats
from attnlab.byhand import Calculation, Formula, Head, Step, isolated, tex_escaped
from attnlab.errors import InvalidTypeError, InvalidValueError
from attnlab.results_log import columns_of, pad
from attnlab.toy_world import ToyWorld

#: Text and Markdown are broken at this many signs.
_WIDTH = 76
#: LaTeX's lines of formula hold as many.
_TEX_WIDTH = 68

#: What each kind of step stands under.
TITLES = {
    "query": "Query",
    "key": "Keys",
    "scores": "Scores",
    "scaling": "Scaling",
    "sharpening": "Sharpening",
    "shift": "Shift",
    "exponentials": "Exponentials",
    "weights": "Weights",
    "check": "Weights",
    "sum": "Output",
    "output": "Output",
}


@dataclass(frozen=True)
class Given:
    """A table that a calculation starts from.

    Attributes
    ----------
    caption : str
        What it is.
    rows, columns : tuple of str
        Their names.
    entries : tuple of tuple of Formula
        One tuple a row.
    """

    caption: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    entries: tuple[tuple[Formula, ...], ...]


@dataclass(frozen=True)
class Trace:
    """The attention of one word, step by step.

    Attributes
    ----------
    word : str
        Whose output is calculated.
    head : Head
        The attention that is meant, and the sentence.
    given : tuple of Given
        The embeddings of the sentence's words, and the wired head's matrices.
    calculation : Calculation
        The steps. The lines of each hold their values in full precision.
    """

    word: str
    head: Head
    given: tuple[Given, ...]
    calculation: Calculation

    @property
    def sentence(self) -> str:
        """The sentence, its words apart by spaces."""
        return " ".join(self.head.sentence)

    @property
    def parts(self) -> list[tuple[str, tuple[Step, ...]]]:
        """The steps under their titles, in order."""
        return [
            (title, tuple(steps))
            for title, steps in itertools.groupby(
                self.calculation.steps, key=lambda step: TITLES[step.kind]
            )
        ]

    def values(self, kind: str) -> dict[str, float]:
        """What the lines of a kind of step end in, in full precision, by their names.

        Parameters
        ----------
        kind : str
            Such as ``scores``, ``weights`` or ``output``; see :class:`attnlab.byhand.Step`.

        Returns
        -------
        dict of str to float
            Empty if the calculation has no such step. Where several steps are of a kind, as with
            keys, the last one's.
        """
        return {
            line.name.text.removesuffix(":"): line.value
            for step in self.calculation.steps
            if step.kind == kind
            for line in step.lines
            if line.value is not None
        }

    @property
    def weights(self) -> Floats:
        """The weight that the word gives to each word of the sentence, shape (n words,)."""
        (step,) = (step for step in self.calculation.steps if step.kind == "weights")
        return byhand.values(step)

    @property
    def output(self) -> Floats:
        """The word's output, shape (n axes,)."""
        return self.calculation.result

    def write(self, form: str = "text") -> str:
        """Write the whole calculation.

        Parameters
        ----------
        form : str, optional
            ``text``, ``markdown``, ``latex`` or ``html``.

        Returns
        -------
        str
            A document that needs no other file; it ends in a line break.

        Raises
        ------
        InvalidValueError
            If there is no such format.
        """
        return FORMATS[byhand.one_of("format", form, FORMATS)](self)


def trace_word(
    world: ToyWorld,
    sentence: str | Iterable[str],
    word: str | None = None,
    *,
    head: str = "raw",
    causal: bool = False,
    scaled: bool = True,
    sharpness: float = 1.0,
    places: int = 3,
) -> Trace:
    """Write out how attention makes the output of one word.

    Parameters
    ----------
    world : ToyWorld
        Gives the embeddings, which are the values too, and the wired head.
    sentence : str or iterable of str
        Words of the world.
    word : str, optional
        A word that stands once in the sentence; the world's focus if left out.
    head : str, optional
        ``raw``: each word is its own query and key. ``wired``: the world's W_Q and W_K.
    causal : bool, optional
        Whether no word may look at later ones.
    scaled : bool, optional
        Whether the wired head's scores are divided by √d_k. Raw scores never are.
    sharpness : float, optional
        What the scores are multiplied by in the end, above 0 and at most 1000.
    places : int, optional
        How many decimals are shown, from 1 to 9. All digits are calculated with.

    Returns
    -------
    Trace
        The steps as data, and ready to be written.

    Raises
    ------
    UnknownWordError
        If a word has no vector.
    InvalidValueError
        If the sentence is empty, the word does not stand in it once, a choice cannot be, or a
        number is too long to be written with so many decimals.
    InvalidTypeError
        If an argument is of another type.

    Notes
    -----
    The formula is equation 1 of Vaswani and others, *Attention Is All You Need* (2017), one row
    of it. :func:`attnlab.attention` calculates the same, and the two are compared.
    """
    if not isinstance(places, int) or isinstance(places, bool):
        raise InvalidTypeError(f"places must be a whole number, but it is {places!r}")
    if not 1 <= places <= 9:
        raise InvalidValueError(f"places must be a whole number from 1 to 9, but it is {places}")
    meant = Head(world.split(sentence), head, bool(causal), bool(scaled), sharpness)
    if word is None:
        word = world.focus
        if word not in meant.sentence:
            raise InvalidValueError(
                f"the world's focus word {word!r} does not stand in the sentence "
                f"{' '.join(meant.sentence)!r}; name a word that does"
            )
    (word,) = world.split([word])
    byhand.check_in_sentence(meant, [word])
    calculation = byhand.write_out(world, "trace", [word], meant, places)
    return Trace(word, meant, given_tables(world, [meant], places), calculation)


def given_tables(world: ToyWorld, heads: Sequence[Head], places: int) -> tuple[Given, ...]:
    """Return the tables that the calculations of some heads start from.

    Parameters
    ----------
    world : ToyWorld
        Whose numbers.
    heads : sequence of Head
        Whose sentences. The matrices are given if one of the heads is wired.
    places : int
        How many decimals to show.

    Returns
    -------
    tuple of Given
        The embedding of each word, as it first comes, and W_Q and W_K.
    """
    words = tuple(dict.fromkeys(word for head in heads for word in head.sentence))
    tables = [("The words, one row a word and one column an axis", words, world.axes)]
    arrays = [world.embed(words)]
    if any(head.name == "wired" for head in heads):
        tables += [
            ("W_Q, what each axis asks for on each channel", world.axes, world.channels),
            ("W_K, what each axis advertises on each channel", world.axes, world.channels),
        ]
        arrays += [world.W_Q, world.W_K]
    return tuple(
        Given(*table, entries=byhand.written(array, places))
        for table, array in zip(tables, arrays, strict=True)
    )


def _title(trace: Trace) -> tuple[str, ...]:
    """Return the title, plain and emphasized text in turn."""
    return ("The output of ", trace.word, " in “", trace.sentence, "”")


def _about(trace: Trace) -> str:
    """Return which attention it is, as a sentence."""
    about = byhand.describe(trace.head)
    return f"{about[0].upper()}{about[1:]}, step by step."


def _numbered(trace: Trace) -> Iterator[tuple[str, tuple[Step, ...]]]:
    for number, (title, steps) in enumerate(trace.parts, start=1):
        yield f"{number}. {title}", steps


def _text(trace: Trace) -> str:
    """Write for a terminal."""
    title = "".join(map(isolated, _title(trace)))
    parts = [f"{title}\n{'=' * columns_of(title)}", _about(trace)]
    parts += [f"{given.caption}:\n\n{_text_table(given)}" for given in trace.given]
    for heading, steps in _numbered(trace):
        parts.append(f"{heading}\n{'-' * len(heading)}")
        for step in steps:
            words = _filled("".join(map(isolated, step.words)))
            parts.append(f"{words}\n\n{step.block(_WIDTH)}")
    parts += ["Rounding\n--------", _filled(trace.calculation.bound)]
    return "\n\n".join(parts) + "\n"


def _filled(words: str) -> str:
    """Break a sentence into lines."""
    lines = [""]
    for word in words.split(" "):
        if lines[-1] and columns_of(f"{lines[-1]} {word}") > _WIDTH:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    return "\n".join(lines)


def _text_table(given: Given) -> str:
    names = max(map(columns_of, given.rows))
    texts = [[entry.text for entry in row] for row in given.entries]
    widths = [
        max(columns_of(name), *(len(row[i]) for row in texts))
        for i, name in enumerate(given.columns)
    ]
    rows = [("", given.columns), *zip(given.rows, texts, strict=True)]
    return "\n".join(
        "    "
        + "  ".join(
            [
                pad(isolated(name), names),
                *(pad(isolated(text), -width) for text, width in zip(row, widths, strict=True)),
            ]
        )
        for name, row in rows
    )


def _markdown(trace: Trace) -> str:
    """Write Markdown. The formulas are blocks of code, which every reader of it shows."""
    parts = [f"# {_marked(_title(trace))}", _about(trace)]
    for given in trace.given:
        parts += [f"{_md(given.caption)}:", _markdown_table(given)]
    for heading, steps in _numbered(trace):
        parts.append(f"## {heading}")
        for step in steps:
            block = re.sub("^ {4}", "", step.block(_WIDTH), flags=re.MULTILINE)
            parts += [_marked(step.words), f"```text\n{block}\n```"]
    parts += ["## Rounding", _md(trace.calculation.bound)]
    return "\n\n".join(parts) + "\n"


def _markdown_table(given: Given) -> str:
    rows = [
        ["", *map(_md, map(isolated, given.columns))],
        [":--", *("--:" for _ in given.columns)],
        *(
            [_md(isolated(name)), *(entry.text for entry in row)]
            for name, row in zip(given.rows, given.entries, strict=True)
        ),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _marked(words: Sequence[str]) -> str:
    """Write plain and emphasized text in turn."""
    return "".join(
        f"*{_md(isolated(part))}*" if i % 2 else _md(part) for i, part in enumerate(words)
    )


def _md(text: str) -> str:
    """Escape what Markdown could read as markup; it takes a backslash before any of these."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~$&@^=\"'/-]|(?<=\w)[.:](?=\w|/))", r"\\\1", text)


LATEX = r"""\documentclass{{article}}
\usepackage{{iftex}}
\ifPDFTeX
  \usepackage[T1]{{fontenc}}
  \IfFileExists{{lmodern.sty}}{{\usepackage{{lmodern}}}}{{}}
\else
  \usepackage{{fontspec}}
\fi
\usepackage[margin=25mm]{{geometry}}
\usepackage{{amsmath}}
{fallbacks}\allowdisplaybreaks
\setlength{{\parindent}}{{0pt}}
\setlength{{\parskip}}{{.6em}}
\begin{{document}}
\section*{{{title}}}

{body}
\end{{document}}
"""
FALLBACKS = r"""% pdfLaTeX's fonts lack some letters; it shows their codes instead.
% XeLaTeX and LuaLaTeX show the letters, in a font that has them: \setmainfont{{...}}.
\ifPDFTeX
  \makeatletter
  \newcommand{{\orcode}}[2]{{\@ifundefined{{u8:\detokenize{{#1}}}}%
    {{\DeclareUnicodeCharacter{{#2}}{{\texttt{{U+#2}}}}}}{{}}}}
  \makeatother
{lines}\fi
"""


def _latex(trace: Trace) -> str:
    """Write a whole document."""
    parts = [_about(trace)]
    parts += [f"{tex_escaped(given.caption)}:\n\n{_latex_table(given)}" for given in trace.given]
    for heading, steps in _numbered(trace):
        parts.append(f"\\subsection*{{{heading}}}")
        for step in steps:
            rows = " \\\\\n".join(
                f"{name.tex} & {formula.tex}" for name, formula in step.rows(_TEX_WIDTH)
            )
            parts.append(f"{_tex(step.words)}\n\\begin{{align*}}\n{rows}\n\\end{{align*}}")
    parts.append(f"\\subsection*{{Rounding}}\n\n{tex_escaped(trace.calculation.bound)}")
    body, title = "\n\n".join(parts), _tex(_title(trace))
    letters = sorted({sign for sign in title + body if not sign.isascii()} - set("“”"))
    lines = "".join(f"  \\orcode{{{sign}}}{{{ord(sign):04X}}}\n" for sign in letters)
    fallbacks = FALLBACKS.format(lines=lines) if letters else ""
    return LATEX.format(title=title, body=body, fallbacks=fallbacks)


def _latex_table(given: Given) -> str:
    rows = [
        " & ".join(["", *map(tex_escaped, given.columns)]),
        *(
            # In braces, or a name that begins with a bracket would be an option of the line break.
            " & ".join([f"{{{tex_escaped(name)}}}", *(f"${entry.tex}$" for entry in row)])
            for name, row in zip(given.rows, given.entries, strict=True)
        ),
    ]
    head, *others = (f"{row} \\\\" for row in rows)
    body = "\n".join([head, r"\hline", *others])
    return f"\\begin{{tabular}}{{l{'r' * len(given.columns)}}}\n{body}\n\\end{{tabular}}"


def _tex(words: Sequence[str]) -> str:
    """Write plain and emphasized text in turn."""
    return "".join(
        f"\\emph{{{tex_escaped(part)}}}" if i % 2 else tex_escaped(part)
        for i, part in enumerate(words)
    )


STYLE = """\
:root { color-scheme: light dark }
body { max-width: 44rem; margin: 0 auto; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: break-word }
h1 { font-size: 1.5rem; line-height: 1.25 }
h2 { font-size: 1.15rem; margin: 1.8rem 0 .4rem }
table { border-collapse: collapse; margin: .6rem 0 }
th { font-weight: inherit; text-align: start; vertical-align: baseline }
td { vertical-align: baseline }
.given th, .given td { border: 1px solid; padding: .15rem .6rem }
.given td, .given thead th { text-align: end; font-variant-numeric: tabular-nums }
.given th { font-style: italic }
.lines { margin-inline-start: 1rem }
.lines td { padding: .25rem .4rem .25rem 0 }
.lines .name { white-space: nowrap }
.scroll { overflow-x: auto }
.scroll:focus-visible { outline: 2px solid }
@media print { body { max-width: none; padding: 0 } table { break-inside: avoid } }
"""
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def page(title: str, style: str, body: str) -> str:
    """Return an HTML page that needs no other file and asks for none.

    Parameters
    ----------
    title : str
        Plain text.
    style, body : str
        CSS and HTML.

    Returns
    -------
    str
        The document.
    """
    return PAGE.format(title=html.escape(title), style=style, body=body)


def _html(trace: Trace) -> str:
    """Write an HTML page."""
    parts = [f"<h1>{emphasized(_title(trace))}</h1>", f"<p>{_about(trace)}</p>"]
    for given in trace.given:
        # A table that is wider than the page scrolls by itself, with the keyboard too.
        name = html.escape(given.caption)
        parts += [
            f"<p>{name}:</p>",
            f'<div class="scroll" role="region" tabindex="0" aria-label="{name}">',
            f"{given_html(given)}\n</div>",
        ]
    for heading, steps in _numbered(trace):
        parts.append(f"<h2>{heading}</h2>")
        for step in steps:
            parts += [
                f"<p>{emphasized(step.words)}</p>",
                f'<div class="scroll">\n{lines_html(step)}\n</div>',
            ]
    parts += ["<h2>Rounding</h2>", f"<p>{html.escape(trace.calculation.bound)}</p>"]
    body = "\n".join(["<main>", *parts, "</main>"])
    return page("".join(_title(trace)), STYLE, body)


def emphasized(words: Sequence[str]) -> str:
    """Return plain and emphasized text in turn as HTML."""
    return "".join(
        f"<em><bdi>{html.escape(part)}</bdi></em>" if i % 2 else html.escape(part)
        for i, part in enumerate(words)
    )


def word_html(word: str) -> str:
    """Return a name as HTML."""
    return f"<bdi>{html.escape(word)}</bdi>"


def math_html(formula: Formula) -> str:
    """Return a formula as HTML."""
    return f'<math displaystyle="true">{formula.mathml}</math>'


def given_html(given: Given) -> str:
    """Return a given table as HTML."""
    head = "".join(f'<th scope="col">{word_html(name)}</th>' for name in given.columns)
    rows = "\n".join(
        f'<tr><th scope="row">{word_html(name)}</th>'
        f"{''.join(f'<td>{entry.text}</td>' for entry in row)}</tr>"
        for name, row in zip(given.rows, given.entries, strict=True)
    )
    return (
        f'<table class="given" aria-label="{html.escape(given.caption)}">\n'
        f"<thead><tr><td></td>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
    )


def lines_html(step: Step) -> str:
    """Return the lines of a step as an HTML table; the browser breaks long ones where they may."""
    rows = "\n".join(
        f'<tr><td class="name">{math_html(line.name)}</td>'
        f"<td>{'<wbr>'.join(map(math_html, line.pieces))}</td></tr>"
        for line in step.lines
    )
    return f'<table class="lines" role="presentation">\n{rows}\n</table>'


FORMATS: dict[str, Callable[[Trace], str]] = {
    "text": _text,
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
}
