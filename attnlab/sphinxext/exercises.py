"""Exercises that a page can check: ``exercise``, with ``mistake`` and ``solution`` in it.

- The answer, and the number that each mistake leads to, are expressions over the run. The build
  proves them like any number, and fails if the page could not tell one from another.
- Without a script the page asks the question and folds up the answer, the solution and the
  mistakes. The script, ``attnlab-exercises.js``, adds the field for the reader's number and tells
  what it is, by what stands in the fold.
- A builder other than HTML shows all of it, one after the other.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from attnlab import byhand
from attnlab.errors import AttnlabError, InvalidValueError
from attnlab.results_log import Measurement
from attnlab.sphinxext import expressions, numbers, proof
from attnlab.sphinxext.directives import AnyOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator

    from attnlab.toy_world import ToyWorld

    Options = dict[str, str | None]

#: The decimals that are asked for, unless told otherwise, of a number that is not whole.
PLACES = 3
#: How far a reader's number may be from one that is meant, in units of the last place asked for:
#: from one with no more places, and from one that is rounded, maybe on the way to it as well.
RIGHT, NEAR = 0.5, 2.5
#: What an exercise may hold besides the question.
PARTS = ("calculation", "mistake", "solution")
_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_CALCULATION = re.compile(r"(?P<name>[a-z][a-z0-9_]*) *= *(?P<what>[^=]+)")


class exercise(nodes.container):
    """A question with its answer.

    Attributes
    ----------
    answer, near : float
        What is right, and how far from it is close, in units of the last place.
    places : int
        How many decimals are asked for.
    wanted : str
        The same in words.
    page, key : str
        Where it stands, and what the browser remembers it by.
    """


class answer_line(nodes.paragraph):
    """The words that ask for the number, with a blank to fill."""


class solution(nodes.container):
    """The answer, how to find it, and what mistakes lead to; folded up."""


class mistake(nodes.list_item):
    """A mistake, with what is said about it.

    Attributes
    ----------
    expression : str
        What number it leads to.
    value, near : float
        The number, and how far from it a reader's may be, in units of the last place.
    """


@dataclass(frozen=True)
class Number:
    """A number that a reader may come to.

    Attributes
    ----------
    expression : str
        Where it comes from.
    value : float
        In full precision.
    text : str
        As it is shown.
    near : float
        How far from it a reader's may be, in units of the last place.
    """

    expression: str
    value: float
    text: str
    near: float


def number(env: BuildEnvironment, expression: str, places: int) -> Number:
    """Evaluate an expression to a number, as a page shows it.

    Parameters
    ----------
    env : BuildEnvironment
        Of the build.
    expression : str
        As the role ``measured`` takes it.
    places : int
        With how many decimals; a whole number is shown without.

    Returns
    -------
    Number
        What it comes to.

    Raises
    ------
    InvalidValueError
        If it cannot be evaluated, or is no number.
    """
    value = _value(env, expression)
    text = f"{value:,}" if isinstance(value, int) else f"{value:z,.{places}f}"
    exact = abs(Decimal(value) - Decimal(text.replace(",", ""))) <= Decimal(numbers.NOISE)
    return Number(expression, float(value), text, RIGHT if exact else NEAR)


def _value(env: BuildEnvironment, expression: str) -> float | int:
    """Return the value of an expression, or raise if it is no number."""
    parsed = expressions.parse(expression)
    found = expressions.look_up(parsed.names, proof.facts(env))
    value = parsed.evaluate({name: measurement.value for name, measurement in found.items()})
    if isinstance(value, bool):
        raise InvalidValueError(f"{expression!r} is no number, it is {value}")
    return value


def check_distinct(known: Sequence[Number], places: int) -> None:
    """Raise if a reader's number could be taken for two.

    Parameters
    ----------
    known : sequence of Number
        The answer first, then what mistakes lead to.
    places : int
        How many decimals are asked for.

    Raises
    ------
    InvalidValueError
        If two are too near to each other; the message names them.
    """
    for first, second in itertools.combinations(known, 2):
        apart = abs(first.value - second.value) * 10**places
        if apart < (first.near + second.near) * (1 - numbers.NOISE):
            other = "the answer" if first is known[0] else f"the mistake {first.expression!r}"
            raise InvalidValueError(
                f"the mistake {second.expression!r} leads to {second.text}, which cannot be told "
                f"from {other}, {first.text}: ask for more places, or leave it out"
            )


def wanted(places: int) -> str:
    """Return in words how many decimals are asked for: ``to three decimals``."""
    if not places:
        return "a whole number"
    return f"to {_COUNTS[places]} decimal{'s' if places > 1 else ''}"


class _Part(SphinxDirective):
    """A directive whose body is parsed, and whose mistakes are warnings at its line."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = AnyOption()

    def run(self) -> list[nodes.Node]:
        """Return what it shows, or nothing and a warning at its line."""
        proof.record(self.env)
        try:
            return self.show(" ".join(" ".join(self.arguments).split()))
        except AttnlabError as error:
            message = f"{self.name}: {error}"
            proof.warn(self.env, self.get_location(), self.name, message)
            return []

    def show(self, arguments: str) -> list[nodes.Node]:
        """Return what the directive shows."""
        raise NotImplementedError

    def inside(self) -> dict[str, Measurement]:
        """Return what the exercise around this calculated so far, or raise if there is none."""
        calculated = self.env.current_document.get(proof.CALCULATED)
        if calculated is None:
            raise InvalidValueError(f"a {self.name} must stand in an exercise, indented")
        return calculated  # type: ignore[no-any-return]

    def place(self, node: nodes.Element) -> None:
        """Tell a node that this wrote, and all in it, where in the source it comes from."""
        for part in (node, *node.findall(nodes.Element)):
            self.set_source_info(part)

    def measured(self, number: Number) -> list[nodes.Node]:
        """Return a number as the role proves and shows it."""
        found, _ = self.parse_inline(f":measured:`{number.text} <{number.expression}>`")
        return found


class Calculation(_Part):
    """Name what a calculation by hand leads to: ``.. calculation:: sharp = softmax bank``."""

    def show(self, arguments: str) -> list[nodes.Node]:
        """Remember each entry of the result by its name, such as ``sharp.river``."""
        known = self.inside()
        if self.content:
            raise InvalidValueError(f"no text may stand in it, but {self.content[0]!r} does")
        known.update(calculated(proof.build_world(), arguments, self.options))
        return []


def calculated(world: ToyWorld, arguments: str, options: Options) -> dict[str, Measurement]:
    """Return the numbers that a calculation by hand leads to, by name.

    Parameters
    ----------
    world : ToyWorld
        What is calculated with.
    arguments : str
        A name and a calculation as for :func:`attnlab.byhand.calculate`: ``sharp = softmax bank``.
    options : mapping of str to str or None
        Of the calculation.

    Returns
    -------
    dict of str to Measurement
        Named by the entry: ``sharp.river`` for a softmax, ``x.water`` for an output, ``x.topic``
        for a query or a key, ``x.score`` and ``x.dot`` for a single number.

    Raises
    ------
    AttnlabError
        If it cannot be calculated.
    """
    match = _CALCULATION.fullmatch(arguments)
    if not match:
        raise InvalidValueError(
            "expected a name in small letters and a calculation, such as "
            f"'sharp = softmax bank', but {arguments!r} stands there"
        )
    result = byhand.calculate(world, match["what"], options).result
    kind = match["what"].split()[0]
    if kind == "softmax":
        entries = byhand.read_head(world, options).sentence
    else:
        entries = {"output": world.axes, "query": world.channels, "key": world.channels}.get(
            kind, (kind,)
        )
    names = [f"{match['name']}.{entry}" for entry in entries]
    if twice := {name for name in names if names.count(name) > 1}:
        raise InvalidValueError(f"{min(twice)!r} would be two numbers: the word stands there twice")
    return {
        name: Measurement(name, value, "")
        for name, value in zip(names, result.ravel().tolist(), strict=True)
    }


class Mistake(_Part):
    """Say what went wrong if the number is this: ``.. mistake:: exp(S2.scores.river)``."""

    def show(self, arguments: str) -> list[nodes.Node]:
        """Return the hint; the exercise calculates the number, for it knows the places."""
        self.inside()
        if not arguments or not self.content:
            raise InvalidValueError(
                "expected an expression such as exp(S2.scores.river), and a hint below it, indented"
            )
        byhand.check_options("mistake", self.options, ())
        node = mistake("", *self.parse_content_to_nodes(), expression=arguments)
        self.set_source_info(node)
        if not isinstance(node[0], nodes.paragraph):
            raise InvalidValueError("a hint must begin with a sentence")
        return [node]


class Solution(_Part):
    """Show how the answer is found: ``.. solution::``."""

    def show(self, arguments: str) -> list[nodes.Node]:
        """Return what stands in it."""
        self.inside()
        if arguments or self.options or not self.content:
            raise InvalidValueError("expected nothing but the solution, below an empty line")
        node = solution("", *self.parse_content_to_nodes())
        self.set_source_info(node)
        return [node]


class Exercise(_Part):
    """Ask for a number: ``.. exercise:: S3.weights.river_bank.river.bank``."""

    def show(self, arguments: str) -> list[nodes.Node]:
        """Return the question, and all that tells what the reader's number is."""
        if not arguments:
            raise InvalidValueError("expected an expression whose value is the answer")
        byhand.check_options("exercise", self.options, ("places",))
        document = self.env.current_document
        if proof.CALCULATED in document:
            raise InvalidValueError("an exercise must not stand in another")
        document[proof.CALCULATED] = {}
        try:
            return [self._exercise(arguments, self.parse_content_to_nodes())]
        finally:
            del document[proof.CALCULATED]

    def _exercise(self, expression: str, content: list[nodes.Node]) -> exercise:
        mistakes = [node for node in content if isinstance(node, mistake)]
        solutions = [node for node in content if isinstance(node, solution)]
        question = [node for node in content if not isinstance(node, mistake | solution)]
        for what, count in (("question", len(question)), ("solution", len(solutions))):
            if not count or (what == "solution" and count > 1):
                raise InvalidValueError(f"expected a {what}, but it has {count or 'none'}")
        places = self._places(_value(self.env, expression))
        answer = number(self.env, expression, places)
        others = [number(self.env, node["expression"], places) for node in mistakes]
        check_distinct([answer, *others], places)

        n = self.env.new_serialno("attnlab-exercise") + 1
        name, asked = f"Exercise {n}", wanted(places)
        title = nodes.paragraph(name, name, classes=["attnlab-exercise-title"])
        title["ids"].append(f"exercise-{n}-title")
        ask = f"Your answer, {asked}:"
        line = answer_line(ask, ask)
        told = nodes.paragraph("", "The answer is ", *self.measured(answer), nodes.Text("."))
        title["attnlab_proved"] = line["attnlab_proved"] = True
        for new in (title, line, told):
            self.place(new)

        fold = solutions[0]
        fold.insert(0, told)
        if mistakes:
            fold += nodes.bullet_list("", *mistakes, bullet="-")
            self.set_source_info(fold[-1])
        for node, other in zip(mistakes, others, strict=True):
            got = nodes.inline("", "If you have ", classes=["attnlab-got"])
            got += [*self.measured(other), nodes.Text(": ")]
            self.place(got)
            cast("nodes.paragraph", node[0]).insert(0, got)
            node["value"], node["near"] = other.value, other.near

        text = "\0".join([expression, *(node.astext() for node in question)])
        shown = exercise(
            "",
            title,
            *question,
            line,
            fold,
            ids=[f"exercise-{n}"],
            answer=answer.value,
            near=answer.near,
            places=places,
            wanted=asked,
            page=self.env.docname,
            key=sha256(text.encode()).hexdigest()[:8],
        )
        self.set_source_info(shown)
        proof.record(self.env).exercises.append(
            proof.Exercise(asked, answer.text, tuple(other.text for other in others))
        )
        return shown

    def _places(self, answer: float | int) -> int:
        """Return how many decimals are asked for."""
        text = self.options.get("places", "0" if isinstance(answer, int) else str(PLACES))
        if not re.fullmatch(r"[0-9]", text or "", re.ASCII):
            raise InvalidValueError(
                f"places must be a whole number from 0 to 9, but it is {text or ''!r}"
            )
        if isinstance(answer, int) and text != "0":
            raise InvalidValueError(
                f"the answer is the whole number {answer:,}, so places must be 0 or left out, "
                f"but it is {text}"
            )
        return int(text)


def visit_exercise(self: HTML5Translator, node: exercise) -> None:
    """Open the exercise, with what the script must know."""
    data: dict[str, Any] = {
        f"data-{name}": str(node[name]) for name in ("places", "wanted", "page", "key")
    }
    data |= {f"data-{name}": repr(node[name]) for name in ("answer", "near")}
    data["aria-labelledby"] = f"{node['ids'][0]}-title"
    self.body.append(self.starttag(node, "div", CLASS="attnlab-exercise", role="group", **data))


def visit_answer_line(self: HTML5Translator, node: answer_line) -> None:
    """Write the words and a blank; the script puts a field in its place."""
    self.body.append(
        f'<form class="attnlab-answer"><span>{self.encode(node.astext())}</span> '
        '<span class="attnlab-blank"></span></form>\n'
    )
    raise nodes.SkipNode


def visit_solution(self: HTML5Translator, node: solution) -> None:
    """Open a fold that is closed at first."""
    self.body.append('<details class="attnlab-solution"><summary>Answer and solution</summary>\n')


def depart_solution(self: HTML5Translator, node: solution) -> None:
    """Close the fold."""
    self.body.append("</details>\n")


def visit_mistake(self: HTML5Translator, node: mistake) -> None:
    """Open an item, with the number that the script compares."""
    data: dict[str, Any] = {"data-value": repr(node["value"]), "data-near": repr(node["near"])}
    self.body.append(self.starttag(node, "li", "", **data))


def depart_mistake(self: HTML5Translator, node: mistake) -> None:
    """Close the item."""
    self.body.append("</li>\n")


def depart_exercise(self: HTML5Translator, node: exercise) -> None:
    """Close the exercise."""
    self.body.append("</div>\n")


def setup(app: Sphinx) -> None:
    """Register the directives, their nodes and the script; styles are in ``attnlab-proof.css``."""
    for name, directive in zip(PARTS, (Calculation, Mistake, Solution), strict=True):
        app.add_directive(name, directive)
    app.add_directive("exercise", Exercise)
    app.add_node(exercise, html=(visit_exercise, depart_exercise))
    app.add_node(answer_line, html=(visit_answer_line, None))
    app.add_node(solution, html=(visit_solution, depart_solution))
    app.add_node(mistake, html=(visit_mistake, depart_mistake))
    app.add_js_file("attnlab-exercises.js", loading_method="defer")
