"""Downloads keep their words: scripts and notebooks without markup that only Sphinx understands.

sphinx-gallery offers each lesson as it was written, with roles and directives in it. This module
replaces what the built site offers: roles become the words that a reader sees, directives become
the sentences and formulas that they show. The generated sources stay as sphinx-gallery made them,
because by those it knows what to execute again.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import textwrap
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sphinx.util import logging

from attnlab.errors import AttnlabError, InvalidValueError
from attnlab.sphinxext import bundle, directives, exercises, places, proof, roles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

logger = logging.getLogger(__name__)

#: Lines of prose in a script are no longer than this, their ``# `` included.
WIDTH = 98
ADMONITIONS = ("note", "tip", "hint", "important", "warning", "caution", "seealso")

_ROLE = re.compile(
    r"(?P<literal>``.+?``)|:(?P<role>[a-z][\w:.+-]*):`(?P<content>[^`]+)`", re.DOTALL
)
_DIRECTIVE = re.compile(r"(?P<indent> *)\.\. (?P<name>[a-z][\w:-]*)::(?: +(?P<first>.*))?")
_COMMENT = re.compile(r" *\.\.(?: .*)?")
_OPTION = re.compile(r":(?P<name>[\w-]+):(?: +(?P<value>.*))?")
_ADORNMENT = re.compile(r"([^\w\s])\1+")  # above or below a heading
_MARKER = re.compile(r"(?:[-*+]|\d+\.) +")
# The blocks of text in a script, as sphinx-gallery finds them.
_TEXT_BLOCK = re.compile(r"(?P<head>^(?:#{20,}|# ?%%).*\n)(?P<text>(?:^#.*\n?)+)", re.MULTILINE)
_DOCSTRING = re.compile(r"((?s:.*?)(?:\"{3}|'{3}))(.*)(\"{3}|'{3})", re.DOTALL)
_SETTING = re.compile(r"^# sphinx_gallery_\w+.*\n", re.MULTILINE)


class Sheet:
    """The exercises of a lesson: each question in its place, the answers together at the end.

    Parameters
    ----------
    solved : iterable of Exercise
        What the page of the lesson shows, in order.

    Attributes
    ----------
    answers : list of str
        As reStructuredText, of the exercises so far.
    """

    def __init__(self, solved: Iterable[proof.Exercise] = ()) -> None:
        self.solved = iter(solved)
        self.answers: list[str] = []

    def question(self, content: str) -> str:
        """Return the question of the next exercise, and keep its answer.

        Parameters
        ----------
        content : str
            What stands in the exercise.

        Raises
        ------
        InvalidValueError
            If the page shows no such exercise.
        """
        solved = next(self.solved, None)
        parts: dict[str, list[str]] = {"question": [], **{name: [] for name in exercises.PARTS}}
        lines = content.split("\n")
        while lines:
            directive = _DIRECTIVE.fullmatch(lines[0])
            if directive and not directive["indent"] and directive["name"] in parts:
                _, _, body = _read(directive, _body(lines))
                parts[directive["name"]].append(body)
            else:
                parts["question"].append(lines.pop(0))
        if solved is None or len(solved.mistakes) != len(parts["mistake"]):
            raise InvalidValueError("an exercise is none that the page shows")
        hints = [
            textwrap.indent(f"If you have {number}: {hint}", "  ").replace("  ", "- ", 1)
            for number, hint in zip(solved.mistakes, parts["mistake"], strict=True)
        ]
        name = f"Exercise {len(self.answers) + 1}"
        told = f"**{name}:** The answer is {solved.answer}."
        self.answers.append("\n\n".join([told, *parts["solution"], "\n".join(hints)]))
        question = "\n".join(parts["question"]).strip("\n")
        return f"**{name}**\n\n{question}\n\nYour answer, {solved.wanted}: ________"


def plain_text(rst: str, say: Callable[[str, str], str], sheet: Sheet | None = None) -> str:
    r"""Turn reStructuredText into text that reads well without Sphinx.

    Parameters
    ----------
    rst : str
        Headings, paragraphs, lists, roles and the directives that this module knows.
    say : callable
        Called with the name and the content of each role; returns its words.
    sheet : Sheet, optional
        Keeps the answers of exercises.

    Returns
    -------
    str
        The same without roles and directives; formulas stand between ``$`` or ``$$``.

    Raises
    ------
    AttnlabError
        If a directive has no plain form, or is wrong.
    """
    out: list[str] = []
    lines = rst.split("\n")
    while lines:
        directive = _DIRECTIVE.fullmatch(lines[0])
        if directive or _COMMENT.fullmatch(lines[0]):
            body = _body(lines)
            if directive:
                out += _directive(directive, body, say, sheet)
            continue
        paragraph = [lines.pop(0)]
        while paragraph[0].strip() and lines and lines[0].strip():
            paragraph.append(lines.pop(0))
        out += _paragraph(paragraph, say)
    return "\n".join(out)


def _body(lines: list[str]) -> list[str]:
    """Take a directive's lines off the front, and return those after the first, without indent."""
    indent = len(lines[0]) - len(lines.pop(0).lstrip())
    body = []
    while lines and (not lines[0].strip() or lines[0].startswith(" " * (indent + 1))):
        body.append(lines.pop(0))
    while body and not body[-1].strip():  # the empty lines after it are not its own
        lines.insert(0, body.pop())
    return textwrap.dedent("\n".join(body)).split("\n") if body else []


def _read(directive: re.Match[str], body: list[str]) -> tuple[str, dict[str, str | None], str]:
    """Return the arguments, the options and the content of a directive."""
    arguments = [directive["first"] or ""]
    while body and body[0] and not _OPTION.fullmatch(body[0]):
        arguments.append(body.pop(0))
    options: dict[str, str | None] = {}
    while body and (option := _OPTION.fullmatch(body[0])):
        options[option["name"]] = option["value"]
        body.pop(0)
    return "\n".join(arguments).strip(), options, "\n".join(body).strip("\n")


def _directive(
    directive: re.Match[str], body: list[str], say: Callable[[str, str], str], sheet: Sheet | None
) -> list[str]:
    """Return the lines that say what a directive shows."""
    name = directive["name"]
    first, options, content = _read(directive, body)
    if name in directives.PLAIN:
        shown = plain_text(directives.plain(name, first, options, content), say)
    elif name == "math":
        shown = "\n\n".join(map(_formula, re.split(r"\n\s*\n", f"{first}\n\n{content}".strip())))
    elif name == "code-block":
        shown = f"```{first}\n{content}\n```"
    elif name == "exercise":
        shown = plain_text((sheet or Sheet()).question(content), say)
    elif name in ADMONITIONS:
        shown = plain_text(f"**{name.capitalize()}:** " + f"{first}\n\n{content}".strip(), say)
    else:
        raise InvalidValueError(f"the directive {name!r} has no plain form for downloads")
    return textwrap.indent(shown.strip("\n"), directive["indent"]).split("\n")


def _formula(tex: str) -> str:
    r"""Return a displayed formula; rows and columns need an environment outside Sphinx."""
    tex = textwrap.dedent(tex).strip()
    if r"\\" in tex and r"\begin" not in tex:
        tex = f"\\begin{{aligned}}\n{tex}\n\\end{{aligned}}"
    return f"$$\n{tex}\n$$"


def _paragraph(lines: list[str], say: Callable[[str, str], str]) -> list[str]:
    """Say the roles of a paragraph or a list in words, and fill lines that changed or are long."""
    items: list[list[str]] = []
    indent: str | None = None
    for line in lines:
        spaces, marker = _start(line)
        alone = _ADORNMENT.fullmatch(line)
        if marker or alone or spaces != indent:
            items.append([])
        indent = None if alone else spaces + " " * len(marker)
        items[-1].append(line)
    return [line for item in items for line in _item(item, say)]


def _start(line: str) -> tuple[str, str]:
    """Return the spaces that a line starts with and the mark of a list item, if it begins one."""
    marker = _MARKER.match(line.lstrip(" "))
    return line[: len(line) - len(line.lstrip(" "))], marker[0] if marker else ""


def _item(lines: list[str], say: Callable[[str, str], str]) -> list[str]:
    """Say the roles of lines that belong together in words, and fill the lines if need be."""
    text = _ROLE.sub(
        lambda match: match["literal"] or say(match["role"], " ".join(match["content"].split())),
        "\n".join(lines),
    )
    width = WIDTH - len("# ")
    if text == "\n".join(lines) and max(map(len, lines)) <= width:
        return lines
    first = "".join(_start(text))
    indent = " " * len(first)
    filled = textwrap.wrap(
        " ".join(text[len(first) :].split()),
        width,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for i in range(1, len(filled)):
        _, marker = _start(filled[i])
        if marker:  # such as a number that ends a sentence; on a new line it would begin a list
            filled[i - 1] += f" {marker.rstrip()}"
            filled[i] = indent + filled[i][len(indent) + len(marker) :]
    return filled


def say_in(env: BuildEnvironment, docname: str) -> Callable[[str, str], str]:
    """Return how roles on a page are said in words.

    Parameters
    ----------
    env : BuildEnvironment
        Of the build, all pages read.
    docname : str
        The page's.

    Returns
    -------
    callable
        Takes the role's name and content, returns words.
    """

    def say(role: str, content: str) -> str:
        text, target = roles.split(content)
        name = role.rpartition(":")[2]
        if name == "math":
            return f"${content}$"
        if name == "logline" and target is None:
            return roles.line_text(proof.line_numbers(env)[text])
        if name == "doc" and target is None:
            folder = docname.rpartition("/")[0]
            path = os.path.normpath(text[1:] if text.startswith("/") else f"{folder}/{text}")
            title = env.titles.get(Path(path).as_posix())
            return str(title.astext()) if title else text
        if name in {"ref", "numref"} and target is None:
            raise InvalidValueError(f":{role}:`{content}` needs a text to be read without Sphinx")
        if role.startswith("py:") or name in {"func", "class", "meth", "mod", "data", "attr"}:
            return f"``{text.rpartition('.')[2] if text.startswith('~') else text}``"
        return text.lstrip("!")

    return say


def plain_script(
    source: str, say: Callable[[str, str], str], solved: Iterable[proof.Exercise] = ()
) -> str:
    """Return a lesson's script with its text in plain words and its code untouched.

    Parameters
    ----------
    source : str
        A script as sphinx-gallery takes it: a docstring, then code and blocks of comments.
    say : callable
        As for :func:`plain_text`, which says what is raised.
    solved : iterable of Exercise
        The exercises that the page shows; their answers come last in the script.
    """
    sheet = Sheet(solved)
    lines = source.split("\n")
    end = ast.parse(source).body[0].end_lineno
    docstring = _DOCSTRING.fullmatch("\n".join(lines[:end]))
    if docstring is None:
        raise InvalidValueError("the script must begin with a docstring in triple quotes")
    opened, text, closed = docstring.groups()
    shown = plain_text(text, say, sheet)
    if "\\" in shown and "\\" not in text:
        opened = "r" + opened.lstrip("r")

    def block(match: re.Match[str]) -> str:
        commented = match["text"].rstrip("\n").split("\n")
        text = plain_text("\n".join(re.sub("^# ?", "", line) for line in commented), say, sheet)
        return match["head"] + _commented(text) + match["text"][len(match["text"].rstrip("\n")) :]

    rest = _TEXT_BLOCK.sub(block, _SETTING.sub("", "\n".join(lines[end:])))
    if sheet.answers:
        title = "Answers to the exercises"
        answers = "\n\n".join([f"{title}\n{'-' * len(title)}", *sheet.answers])
        rest = f"{rest.rstrip()}\n\n# %%\n{_commented(plain_text(answers, say))}\n"
    return f"{opened}{shown}{closed}\n{rest}"


def _commented(text: str) -> str:
    """Return text as lines of comment."""
    return "\n".join(f"# {line}".rstrip() for line in text.split("\n"))


def plain_notebook(script: str, app: Sphinx) -> str:
    """Return the notebook of a plain script, as sphinx-gallery makes it."""
    from sphinx_gallery.notebook import jupyter_notebook  # type: ignore[import-untyped]
    from sphinx_gallery.py_source_parser import (  # type: ignore[import-untyped]
        split_code_and_text_blocks,
    )

    with TemporaryDirectory() as folder:
        file = Path(folder, "lesson.py")
        file.write_text(script, "utf-8")
        _, blocks = split_code_and_text_blocks(file)
        notebook = jupyter_notebook(blocks, app.config.sphinx_gallery_conf, folder)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def plain_archive(archive: bytes, replace: Callable[[str], bytes | None]) -> bytes:
    """Return a zip file with plain members and the same bytes whenever it is made.

    Parameters
    ----------
    archive : bytes
        The zip file that sphinx-gallery made.
    replace : callable
        Called with each member's name; returns its new content, or None to keep it.
    """
    members = {}
    with zipfile.ZipFile(io.BytesIO(archive)) as old:
        for name in old.namelist():
            plain = replace(name)
            members[name] = old.read(name) if plain is None else plain
    out = io.BytesIO()
    bundle.write_zip(out, members)
    return out.getvalue()


def _plain(app: Sphinx, file: Path) -> bytes | None:
    """Return what a generated file is to be offered as, or None if it stays as it is."""
    script = places.gallery_file(app.env, file)
    if script is None:
        return None
    if file.suffix == ".zip":
        return plain_archive(file.read_bytes(), lambda name: _plain(app, file.parent / name))
    if file.suffix not in {".py", ".ipynb"}:
        return None
    docname = file.relative_to(app.srcdir).with_suffix("").as_posix()
    page = proof.records(app.env).get(docname, proof.Record())
    plain = plain_script(script.read_text("utf-8"), say_in(app.env, docname), page.exercises)
    return (plain_notebook(plain, app) if file.suffix == ".ipynb" else plain).encode("utf-8")


def replace_downloads(app: Sphinx, exception: Exception | None) -> None:
    """At the end of a build: replace what the site offers of each lesson by its plain form."""
    if exception is not None:
        return
    for source, (_, target) in app.env.dlfiles.items():
        offered = Path(app.outdir, "_downloads", target)
        file = Path(app.srcdir, source)
        if offered.exists():
            try:
                plain = _plain(app, file)
            except AttnlabError as error:
                logger.warning("%s", error, location=f"{file}:", type="attnlab", subtype="download")
            else:
                if plain is not None:
                    offered.write_bytes(plain)


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect("build-finished", replace_downloads)
