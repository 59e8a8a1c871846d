"""What a reader takes away: each lesson at the top of its page, and one page of downloads.

- A lesson's page begins with its script, its notebook and the way to run them.
- At the end of a build the folder ``downloads`` of the site is made anew: the workshop in one zip,
  the wheel, the canonical log, the figures, and the whole site as a zip that can be read from it.
- The page that ``attnlab_download_page`` names lists these files, their sizes and checksums
  between two marks. Without such a page nothing is made.
- The same sources give the same bytes, whenever and wherever the site is built.
"""

from __future__ import annotations

import html
import itertools
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.errors import ExtensionError

from attnlab import figures, reproduce, worksheet
from attnlab.byhand import Head
from attnlab.errors import AttnlabError
from attnlab.sphinxext import places, proof

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from matplotlib.figure import Figure
    from sphinx.application import Sphinx

    from attnlab.toy_world import ToyWorld

DOWNLOADS = "downloads"
WORKSHOP = "attnlab-workshop.zip"
BOOK = "attnlab-workshop.pdf"
SITE = "attnlab-site.zip"
LOG = "results.log"
CHECKSUMS = "SHA256SUMS"
#: Where the list of downloads stands on its page.
MARKS = ("<!-- downloads -->", "<!-- end of downloads -->")
#: The page that says how to install, if the site has it.
INSTALL = "install"
#: The page that offers a worksheet for each lesson, if the site has it.
WORKSHEETS = "worksheets"

#: What the list says of each file, in its order.
WORDS = {
    WORKSHOP: "The workshop to run: every lesson as script and notebook, the package, the log.",
    SITE: "The workshop to read without a network: this site. Unpack it and open index.html.",
    BOOK: "The workshop to print: the lessons, the log and the glossary.",
    "*.whl": "The package alone, for pip.",
    LOG: "The canonical results log.",
    "figures/*.png": "The figures.",
    "worksheets/*.html": "A worksheet for each lesson, with its answers, to open and print.",
    CHECKSUMS: "The SHA-256 checksums of all files here.",
}

REQUIREMENTS = """\
# What the lessons import. In this folder, run:  python -m pip install -r requirements.txt
# Put a # before a line to leave it out.

# The package of the workshop; it brings NumPy and Matplotlib.
./{wheel}

# PyTorch, for lesson 6 alone. On Linux this may be a build for graphics cards, several gigabytes
# large. The build for the processor (CPU) is enough: https://pytorch.org/get-started/locally/
# prints the command for it. Run that first, and this line finds PyTorch in place.
torch>=2.1

# Jupyter, for the notebooks alone.
notebook
"""

README = """\
LLM Self-Attention by Hand
==========================

The workshop, ready to run. You need Python 3.11 or newer. In this folder, run:

    python -m pip install -r requirements.txt

It installs the package attnlab from the wheel beside it, and what the lessons need; what you can
leave out, and how to get a small PyTorch, stands in requirements.txt. Then

    python {script}

runs the first lesson and prints its numbers,

    python -m notebook

opens the folder in Jupyter, where the notebooks are, and

    python -m attnlab reproduce

makes every number and figure again and compares the log with results.log, the canonical one.
"""


def timestamp() -> tuple[int, int, int, int, int, int]:
    """Return when everything here was made: at ``SOURCE_DATE_EPOCH``, if it is set, else in 1980.

    Zip's calendar begins in 1980.
    """
    return time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]


def write_zip(path: Path | IO[bytes], members: Mapping[str, bytes]) -> None:
    """Write a zip whose bytes depend on its members alone.

    Parameters
    ----------
    path : Path or binary file
        The file.
    members : mapping of str to bytes
        Contents by name. They are stored in the order of their names.
    """
    made = timestamp()
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(members):
            member = zipfile.ZipInfo(name, made)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3  # as on Unix, wherever it is made
            member.external_attr = 0o644 << 16
            archive.writestr(member, members[name])


def build_wheel(root: Path, folder: Path) -> Path:
    """Build the package's wheel without a network.

    Parameters
    ----------
    root : Path
        The source tree, with ``pyproject.toml``.
    folder : Path
        Where to write.

    Returns
    -------
    Path
        The wheel. Hatchling gives the same bytes for the same sources.

    Raises
    ------
    ExtensionError
        If there is no source tree, or it cannot be built.
    """
    if not (root / "pyproject.toml").exists():
        raise ExtensionError(
            f"attnlab_download_page offers the package's wheel, which is built from the source "
            f"tree beside conf.py, but there is no pyproject.toml in {root}"
        )
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder.resolve()],
        cwd=root,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise ExtensionError(f"the wheel cannot be built: {done.stdout}{done.stderr}")
    [wheel] = folder.glob("*.whl")
    return wheel


def draw_figures(folder: Path) -> None:
    """Draw the figures of a run, as ``python -m attnlab reproduce`` does.

    Parameters
    ----------
    folder : Path
        Where to write.
    """
    import matplotlib as mpl

    mpl.use("agg")  # to files, whatever display there is

    def save(name: str, figure: Figure) -> None:
        figures.save(figure, folder / f"{name}.png")

    reproduce.run(world=proof.build_world(), save_figure=save)


def lesson_tasks(world: ToyWorld) -> dict[str, tuple[list[worksheet.Task], tuple[str, ...]]]:
    """Return what each lesson's worksheet asks, and what it leaves out.

    Parameters
    ----------
    world : ToyWorld
        Whose sentences and focus word.

    Returns
    -------
    dict
        Tasks and blanks by the lesson's name.
    """
    first, *others = map(world.split, world.sentences)
    focus = world.focus
    both = [worksheet.Task(Head(sentence), focus) for sentence in (first, *others[:1])]
    wired = worksheet.Task(Head(first, "wired"), focus)
    unscaled = worksheet.Task(Head(first, "wired", scaled=False), focus)
    word = first[-2:][0]  # the last but one: the causal mask hides the last from it
    masked = [worksheet.Task(Head(first, "wired", causal=causal), word) for causal in (False, True)]
    return {
        "s1_toy_world": (both, ("rows",)),
        "s2_dot_softmax": (both[:1], ("scores", "weights")),
        "s3_raw_attention": (both, ("scores", "weights", "output")),
        "s4_wired_head": ([wired], ("scores", "weights", "output")),
        "s5_scaling": ([unscaled, wired], ("weights",)),
        "s6_general_head": (masked, ("weights",)),
    }


def worksheets(app: Sphinx) -> dict[str, str]:
    """Make a worksheet with answers for each lesson that a site has.

    Parameters
    ----------
    app : Sphinx
        Knows the lessons' titles.

    Returns
    -------
    dict of str to str
        HTML pages by the lessons' names.

    Raises
    ------
    ExtensionError
        If the world of the site does not make a sheet.
    """
    world = proof.build_world()
    titles = {name.rpartition("/")[2]: title.astext() for name, title in app.env.titles.items()}
    made = {}
    for name, (tasks, blank) in lesson_tasks(world).items():
        if name not in titles:
            continue
        title = f"Worksheet {titles[name]}"
        try:
            made[name] = worksheet.worksheets(world, tasks, blank=blank, answers=True, title=title)
        except AttnlabError as error:
            raise ExtensionError(f"the worksheet of {name} cannot be made: {error}") from error
    return made


def workshop(lessons: Mapping[str, bytes], wheel: Path) -> dict[str, bytes]:
    """Return what is in the zip of the workshop.

    Parameters
    ----------
    lessons : mapping of str to bytes
        Each lesson's script and notebook by its path, as a reader gets them from its page.
    wheel : Path
        The package.

    Returns
    -------
    dict of str to bytes
        Contents by name.

    Raises
    ------
    ExtensionError
        If there is no lesson.
    """
    scripts = sorted(name for name in lessons if name.endswith(".py"))
    if not scripts:
        raise ExtensionError("attnlab_download_page offers lessons, but the site has none")
    return {
        "README.txt": README.format(script=scripts[0]).encode(),
        "requirements.txt": REQUIREMENTS.format(wheel=wheel.name).encode(),
        wheel.name: wheel.read_bytes(),
        LOG: reproduce.canonical_path().read_bytes(),
        **lessons,
    }


def offered_lessons(app: Sphinx) -> dict[str, bytes]:
    """Return each lesson's script and notebook by its path, as the built site offers them."""
    offered = {}
    for source, (_, target) in app.env.dlfiles.items():
        file = Path(app.srcdir, source)
        if file.suffix in {".py", ".ipynb"} and places.gallery_file(app.env, file):
            offered[Path(source).as_posix()] = Path(app.outdir, "_downloads", target).read_bytes()
    return offered


def finish(site: Path, page: Path) -> None:
    """Zip a site, and list what it offers.

    The site in the zip lists all files but the zip itself.

    Parameters
    ----------
    site : Path
        The folder of the built site, with all other downloads in it.
    page : Path
        The page that lists them.
    """
    archive = site / DOWNLOADS / SITE
    archive.unlink(missing_ok=True)
    _list_downloads(site, page)
    with TemporaryDirectory(dir=site.parent) as unfinished:  # outside the site that is zipped
        made = Path(unfinished, SITE)
        write_zip(
            made,
            {
                file.relative_to(site).as_posix(): file.read_bytes()
                for file in site.rglob("*")
                if file.is_file() and not file.name.startswith(".")
            },
        )
        made.replace(archive)
    _list_downloads(site, page)


def _list_downloads(site: Path, page: Path) -> None:
    """Write the file of checksums, and the list between its marks on its page."""
    folder = site / DOWNLOADS
    (folder / CHECKSUMS).unlink(missing_ok=True)
    files = [(file, words) for name, words in WORDS.items() for file in sorted(folder.glob(name))]
    checksums = "".join(
        f"{sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder).as_posix()}\n"
        for file, _ in files
    )
    (folder / CHECKSUMS).write_text(checksums, "utf-8", newline="\n")
    files.append((folder / CHECKSUMS, WORDS[CHECKSUMS]))
    items = ""
    for words, group in itertools.groupby(files, key=lambda item: item[1]):
        items += (
            "".join(_term(file, page.parent) for file, _ in group) + f"<dd><p>{words}</p></dd>\n"
        )
    shown = (
        f'<dl class="attnlab-downloads">\n{items}</dl>\n'
        '<div class="attnlab-scroll" role="region" tabindex="0" aria-label="Checksums">'
        f"<pre>{html.escape(checksums)}</pre></div>"
    )
    begin, end = MARKS
    text, count = re.subn(
        f"{re.escape(begin)}.*?{re.escape(end)}",
        lambda _: f"{begin}\n{shown}\n{end}",
        page.read_text("utf-8"),
        flags=re.DOTALL,
    )
    if count != 1:
        raise ExtensionError(f"{begin} and {end} must stand once on {page}, not {count} times")
    page.write_text(text, "utf-8", newline="\n")


def _term(file: Path, folder: Path) -> str:
    """Return a file's name and size, with a link from a page in a folder."""
    address = html.escape(Path(os.path.relpath(file, folder)).as_posix())
    return (
        f'<dt><a class="reference download internal" href="{address}" download>'
        f"{html.escape(file.name)}</a> ({file_size(file.stat().st_size)})</dt>\n"
    )


def file_size(count: int) -> str:
    """Return a number of bytes as people read it: ``3 bytes``, ``12 kB``, ``3.4 MB``."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1000:.0f} kB" if count < 999_500 else f"{count / 1e6:.1f} MB"


def make_downloads(app: Sphinx, exception: Exception | None) -> None:
    """At the end of a build: make everything that the page of downloads lists."""
    page = app.config.attnlab_download_page
    if exception is not None or app.builder.name != "html" or page not in app.env.found_docs:
        return
    site = Path(app.outdir)
    folder = site / DOWNLOADS
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "figures").mkdir(parents=True)
    wheel = build_wheel(Path(app.confdir), folder)
    write_zip(folder / WORKSHOP, workshop(offered_lessons(app), wheel))
    draw_figures(folder / "figures")
    for name, document in worksheets(app).items():
        sheet = folder / "worksheets" / f"{name}.html"
        sheet.parent.mkdir(exist_ok=True)
        sheet.write_text(document, "utf-8", newline="\n")
    (folder / LOG).write_bytes(reproduce.canonical_path().read_bytes())
    finish(site, site / f"{page}.html")


def offer_at_top(app: Sphinx, doctree: nodes.document) -> None:
    """Put a lesson's downloads under its title, instead of a note that says they are below."""
    for note in list(doctree.findall(nodes.note)):
        only, section = note.parent, doctree.next_node(nodes.section)
        if "sphx-glr-download-link-note" in note["classes"] and only is not None and section:
            only.parent.remove(only)
            only.clear()
            only.append(nodes.container("", _offer(app), classes=["attnlab-take-away"]))
            section.insert(1, only)


def _offer(app: Sphinx) -> nodes.paragraph:
    """Return the sentence that offers the lesson that is being read."""
    here = app.env.docname
    name = here.rpartition("/")[2]
    described = {"refdoc": here, "refexplicit": True, "refwarn": True}
    links: list[nodes.Element] = [
        addnodes.download_reference(
            "",
            nodes.Text(text),
            reftype="download",
            refdomain="",
            reftarget=f"{name}{suffix}",
            **described,
        )
        for text, suffix in (("script", ".py"), ("notebook", ".ipynb"))
    ]
    links += [
        addnodes.pending_xref(
            "",
            nodes.inline("", text),
            reftype="doc",
            refdomain="std",
            reftarget=f"/{page}",
            **described,
        )
        for text, page in (
            ("worksheet", WORKSHEETS),
            ("all lessons in one zip", app.config.attnlab_download_page),
            ("how to run it", INSTALL),
        )
        if page in app.env.found_docs
    ]
    return nodes.paragraph("", "", *_between(links))


def _between(links: list[nodes.Element]) -> Iterator[nodes.Node]:
    """Yield the words of the offer around its links."""
    yield nodes.Text("Take this lesson with you: ")
    for i, link in enumerate(links):
        if i:
            yield nodes.Text(" · ")
        yield link


def setup(app: Sphinx) -> None:
    """Connect to Sphinx: before it collects downloads, and after all else has written the site."""
    app.add_config_value("attnlab_download_page", "", "env", str)
    app.connect("doctree-read", offer_at_top, priority=400)
    app.connect("build-finished", make_downloads, priority=950)
