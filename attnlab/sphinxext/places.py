"""Where something stands: the file and line that its author would open.

- Docutils knows the first line of a paragraph; what is wanted is the line of the text itself.
- sphinx-gallery generates a lesson's page from a script; what is wanted is the script's line.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils import get_source_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.environment import BuildEnvironment

# How sphinx-gallery says, above each block of a page, where in the script the block stands.
_GENERATED = re.compile(r"\.\. GENERATED FROM PYTHON SOURCE LINES (\d+)-")


def locate(env: BuildEnvironment, location: str | nodes.Node, text: str = "") -> str:
    """Return the file and line of something in a page's source.

    Parameters
    ----------
    env : BuildEnvironment
        Of the build.
    location : str or Node
        As ``file:line``, or the node that it became.
    text : str, optional
        What stands there, if the line is only the first of its paragraph.

    Returns
    -------
    str
        As ``file:line``; what was given where nothing better is known.
    """
    if isinstance(location, nodes.Node):
        location = ":".join(str(part or "") for part in get_source_line(location))
    source, _, number = location.rpartition(":")
    try:
        lines = Path(source).read_text("utf-8").splitlines()
        line = int(number)
    except (OSError, ValueError):  # a docstring, a generated text, or no line at all
        return location
    line = _line_of(text, lines, line)
    script = gallery_file(env, Path(source))
    if script and script.exists() and (in_script := _line_in_script(script, lines, line)):
        return f"{script}:{in_script}"
    return f"{source}:{line}"


def _line_of(text: str, lines: Sequence[str], first: int) -> int:
    """Return the line on which a text begins, in the paragraph or above the underline."""
    start = text.strip().partition("\n")[0]
    whole = re.compile(rf"(?<![\w.]){re.escape(start)}(?!\w|[.,]\d)")
    for number, line in enumerate(lines[first - 1 :], start=first):
        if whole.search(line):
            return number
        if not line.strip():
            break
    return first - 1 if first > 1 and whole.search(lines[first - 2]) else first


def gallery_file(env: BuildEnvironment, file: Path) -> Path | None:
    """Return where the script of a generated file would be, None if sphinx-gallery made it not."""
    conf = getattr(env.config, "sphinx_gallery_conf", {})
    scripts, pages = (
        [folders] if isinstance(folders, str) else folders
        for folders in (conf.get("examples_dirs", []), conf.get("gallery_dirs", []))
    )
    for script_folder, page_folder in zip(scripts, pages, strict=False):
        folder = Path(env.srcdir, page_folder).resolve()
        if file.resolve().is_relative_to(folder):
            below = file.resolve().relative_to(folder).with_suffix(".py")
            return Path(env.srcdir, script_folder).resolve() / below
    return None


def _line_in_script(script: Path, page: Sequence[str], line: int) -> int | None:
    """Return which line of a script became a line of its page."""
    marks = [
        (number, int(match[1]))
        for number, text in enumerate(page[:line], start=1)
        if (match := _GENERATED.match(text))
    ]
    if not marks:
        return None
    mark, start = marks[-1]
    wanted = page[line - 1].strip()
    nth = sum(text.strip() == wanted for text in page[mark:line])
    for number, text in enumerate(script.read_text("utf-8").splitlines(), start=1):
        if number >= start and text.removeprefix("#").strip() == wanted:
            nth -= 1
            if not nth:
                return number
    return None
