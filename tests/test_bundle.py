"""What readers take away: the downloads of the built site, and that they work where they land."""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import pytest

for package in ("sphinx", "sphinx_gallery", "furo", "hatchling", "torch"):
    pytest.importorskip(package, reason="the site's packages are not installed")

from bs4 import BeautifulSoup  # noqa: E402
from real_site import CHROMIUM, LESSONS, ROOT  # noqa: E402
from small_site import build as build_small  # noqa: E402
from sphinx.errors import ExtensionError  # noqa: E402

import attnlab  # noqa: E402
from attnlab import reproduce  # noqa: E402
from attnlab.sections import SECTIONS  # noqa: E402
from attnlab.sphinxext import book as printing  # noqa: E402
from attnlab.sphinxext import bundle, places  # noqa: E402
from attnlab.sphinxext import downloads as downloading  # noqa: E402

WHEEL = f"attnlab-{attnlab.__version__}-py3-none-any.whl"
FIGURES = {f"{name}.png" for section in SECTIONS for name in section.figures}
#: Numbers that are rounding noise; these may differ from run to run.
NOISE = re.compile(r"max \|difference\| = \S+")


def unpack(archive, folder):
    with zipfile.ZipFile(archive) as opened:
        assert opened.testzip() is None
        opened.extractall(folder)
    return folder


def read(page):
    return BeautifulSoup(page.read_text("utf-8"), "html.parser")


def digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def checksums(folder):
    """The checksums that a folder states, by name."""
    lines = (folder / "SHA256SUMS").read_text("utf-8").splitlines()
    return {name: checksum for checksum, name in (line.split("  ") for line in lines)}


def assert_checksums_match(folder):
    files = {
        file.relative_to(folder).as_posix(): digest(file)
        for file in folder.rglob("*")
        if file.is_file() and file.name != "SHA256SUMS"
    }
    assert checksums(folder) == files


def links(page):
    return [link["href"] for link in read(page).select(".attnlab-downloads a.download")]


# The downloads of the real site


@pytest.fixture(scope="module")
def downloads(site):
    return site / "downloads"


def test_the_site_offers_everything_once(site, downloads):
    offered = links(site / "download.html")
    assert len(offered) == len(set(offered))
    assert {(site / link).resolve() for link in offered} == {
        file for file in downloads.rglob("*") if file.is_file()
    }
    sheets = {f"{name}.html" for name in LESSONS}
    assert {Path(link).name for link in offered} == FIGURES | sheets | {
        "attnlab-workshop.zip", "attnlab-site.zip", WHEEL, "results.log", "SHA256SUMS",
    }  # fmt: skip
    assert len(FIGURES) == 7


def test_checksums_match_and_stand_on_the_page(site, downloads):
    assert_checksums_match(downloads)
    shown = read(site / "download.html").select_one("[aria-label=Checksums]").get_text()
    assert shown == (downloads / "SHA256SUMS").read_text("utf-8")


def test_the_log_is_the_canonical_one_and_the_figures_are_those_of_the_command(downloads, tmp_path):
    assert (downloads / "results.log").read_bytes() == reproduce.canonical_path().read_bytes()
    reproduce.write(tmp_path)
    made = {file.name: digest(file) for file in (tmp_path / "diagrams").iterdir()}
    assert {file.name: digest(file) for file in (downloads / "figures").iterdir()} == made


def test_a_worksheet_for_each_lesson(site, downloads):
    offered = {link["href"] for link in read(site / "worksheets.html").select("a[download]")}
    assert offered == {f"downloads/worksheets/{name}.html" for name in LESSONS}
    world = attnlab.TOY_WORLD
    for name in LESSONS:
        sheet, key = read(downloads / "worksheets" / f"{name}.html").select("article")
        title = read(site / "lessons" / f"{name}.html").h1.find(string=True)
        assert sheet.h1.get_text() == f"Worksheet {title}"
        assert key.h1.get_text() == "Answers"
        cells = len(sheet.select(".blank, .worked"))
        assert cells == len(key.select(".answer")) > len(sheet.select(".blank")) > 5
        # The numbers are those of the lessons.
        tasks, blank = bundle.lesson_tasks(world)[name]
        tables = key.select("section.task")
        for task, shown in zip(tasks, tables, strict=True):
            numbers = [float(cell.get_text()) for cell in shown.select("tr:last-child .answer")]
            if blank[-1] == "output":
                expected = task.trace(world, 2).output
                assert numbers[-4:] == pytest.approx(expected, abs=0.005)
            if blank[-1] == "weights":
                column = [row.select("td")[-1].get_text() for row in shown.select("tbody tr")]
                expected = task.trace(world, 2).weights
                assert [*map(float, column[-4:-1])] == pytest.approx(expected, abs=0.005)


def test_what_is_in_the_workshop(site, downloads):
    with zipfile.ZipFile(downloads / "attnlab-workshop.zip") as workshop:
        lessons = {f"lessons/{name}{kind}" for name in LESSONS for kind in (".py", ".ipynb")}
        assert set(workshop.namelist()) == lessons | {
            "README.txt", "requirements.txt", "results.log", WHEEL,
        }  # fmt: skip
        assert workshop.read(WHEEL) == (downloads / WHEEL).read_bytes()
        assert workshop.read("results.log") == (downloads / "results.log").read_bytes()
        for name in lessons:
            page = site / Path(name).with_suffix(".html")
            [link] = {
                link["href"]
                for link in read(page).select("a.download")
                if Path(link["href"]).name == Path(name).name
            }
            assert workshop.read(name) == (page.parent / link).read_bytes()
            assert b":measured:" not in workshop.read(name)
        readme = workshop.read("README.txt").decode()
        assert f"python lessons/{LESSONS[0]}.py" in readme


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_offers_itself_under_its_title(site, lesson):
    page = read(site / "lessons" / f"{lesson}.html")
    offer = page.h1.find_next_sibling()
    assert "attnlab-take-away" in offer["class"]
    assert [Path(link["href"]).name for link in offer.select("a")] == [
        f"{lesson}.py", f"{lesson}.ipynb", "worksheets.html", "download.html", "install.html",
    ]  # fmt: skip
    assert not page.select(".sphx-glr-download-link-note")


def test_the_site_in_the_zip_is_this_site_and_whole(site, downloads, tmp_path):
    unpacked = unpack(downloads / "attnlab-site.zip", tmp_path)
    names = {
        file.relative_to(site).as_posix()
        for file in site.rglob("*")
        if file.is_file() and not file.name.startswith(".")
    } - {"downloads/attnlab-site.zip"}
    assert names == {
        file.relative_to(unpacked).as_posix() for file in unpacked.rglob("*") if file.is_file()
    }
    differ = {
        name for name in names if (site / name).read_bytes() != (unpacked / name).read_bytes()
    }
    assert differ == {"download.html", "downloads/SHA256SUMS"}  # they list no zip of the site
    assert_checksums_match(unpacked / "downloads")
    assert all((unpacked / link).is_file() for link in links(unpacked / "download.html"))


# The workshop, unpacked on another machine


@pytest.fixture(scope="module")
def machine(downloads, tmp_path_factory):
    """A folder with the unpacked workshop, and its Python after the one command of its README.

    What the command would fetch is there already, under other packages' folders; Jupyter is
    stood in for.
    """
    root = tmp_path_factory.mktemp("machine")
    workshop = unpack(downloads / "attnlab-workshop.zip", root / "work shop")
    others = root / "others"
    (others / "notebook-7.0.dist-info").mkdir(parents=True)
    (others / "notebook-7.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: notebook\nVersion: 7.0\n"
    )
    for installed in Path(sysconfig.get_path("purelib")).iterdir():
        if "attnlab" not in installed.name:
            (others / installed.name).symlink_to(installed)
    venv.create(root / "venv", with_pip=True)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(root / "venv")}))
    for old in packages.glob("setuptools*"):  # older than PyTorch wants, and in front of the other
        shutil.rmtree(old)
    (packages / "others.pth").write_text(f"{others}\n")
    python = root / "venv" / "bin" / "python"

    def run(*arguments, cwd=workshop, **environment):
        hidden = ("PYTHON", "MPLBACKEND", "DISPLAY", "COV", "PIP")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        return subprocess.run(
            [python, *arguments], cwd=cwd, env=kept | environment,
            capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip

    done = run("-m", "pip", "install", "-r", "requirements.txt", PIP_NO_INDEX="1")
    assert done.returncode == 0, done.stderr
    assert f"Successfully installed attnlab-{attnlab.__version__}" in done.stdout
    return SimpleNamespace(folder=workshop, run=run)


@pytest.fixture
def shown(site):
    """What a lesson's page shows as printed, line by line."""

    def lines(lesson):
        outputs = read(site / "lessons" / f"{lesson}.html").select(".sphx-glr-script-out pre")
        return printed("\n".join(output.get_text() for output in outputs))

    return lines


def printed(text):
    """Lines without the indent, which a page takes away if a whole output has it."""
    return [NOISE.sub("noise", line).strip() for line in text.splitlines() if line.strip()]


@pytest.mark.slow
def test_the_wheel_beside_the_lessons_is_what_they_import(machine):
    done = machine.run("-c", "import attnlab; print(attnlab.__file__)")
    assert Path(done.stdout).is_relative_to(machine.folder.parent / "venv")


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_script_prints_what_its_page_shows(machine, shown, lesson):
    done = machine.run("-W", "error", f"lessons/{lesson}.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(shown(lesson)) > 3
    assert printed(done.stdout) == shown(lesson)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_notebook_prints_what_its_page_shows(machine, shown, lesson, tmp_path):
    ran = tmp_path / "ran.ipynb"
    code = (
        "import sys, nbformat, nbclient; "
        "notebook = nbformat.read(sys.argv[1], 4); "
        "nbclient.NotebookClient(notebook, kernel_name='python3', timeout=120).execute(); "
        "nbformat.write(notebook, sys.argv[2])"
    )
    done = machine.run("-c", code, f"lessons/{lesson}.ipynb", ran, IPYTHONDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    cells = json.loads(ran.read_text("utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    streams = [output for output in outputs if output["output_type"] == "stream"]
    assert {stream["name"] for stream in streams} == {"stdout"}
    assert printed("\n".join("".join(stream["text"]) for stream in streams)) == shown(lesson)


# The printed edition, as `tox -e book` makes it


@pytest.fixture(scope="module")
def book(site, tmp_path_factory):
    """A copy of the site with the printed edition, and what a reader of PDF finds in that."""
    if not CHROMIUM.exists():
        pytest.skip("there is no Chromium")
    pypdf = pytest.importorskip("pypdf", reason="pypdf is not installed")
    pytest.importorskip("playwright", reason="playwright is not installed")
    copy = tmp_path_factory.mktemp("book") / "html"
    shutil.copytree(site, copy)
    pdf = copy / "downloads" / "attnlab-workshop.pdf"
    prints = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "attnlab.sphinxext.book", copy, *book_pages()],
            capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        prints.append(pdf.read_bytes())
    reader = pypdf.PdfReader(pdf)
    texts = [" ".join(page.extract_text().split()) for page in reader.pages]
    return SimpleNamespace(site=copy, prints=prints, reader=reader, texts=texts)


def book_pages():
    """Which pages the command of `tox -e book` prints."""
    tox = (ROOT / "tox.ini").read_text("utf-8").replace("\\\n", " ")
    return re.search(r"attnlab\.sphinxext\.book build/html (.*)", tox)[1].split()


def printed_pages(folder):
    return [
        file.relative_to(folder).as_posix()
        for pattern in book_pages()
        for file in sorted(folder.glob(pattern))
    ]


def test_the_site_offers_the_printed_edition(book):
    assert "downloads/attnlab-workshop.pdf" in links(book.site / "download.html")
    assert_checksums_match(book.site / "downloads")
    with zipfile.ZipFile(book.site / "downloads" / "attnlab-site.zip") as archive:
        assert archive.read("downloads/attnlab-workshop.pdf") == book.prints[-1]


def test_two_prints_say_the_same(book):
    # Chromium numbers the objects in a PDF by their arrival, so the bytes may differ.
    pypdf = pytest.importorskip("pypdf", reason="pypdf is not installed")
    first, second = (
        [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages]
        for data in book.prints
    )
    assert first == second


def test_the_contents_lead_to_each_chapter(book):
    titles = [
        read(book.site / page).h1.find(string=True).strip() for page in printed_pages(book.site)
    ] + [printing.ANSWERS]
    assert len(titles) == len(LESSONS) + 4
    outline = [entry.title for entry in book.reader.outline if not isinstance(entry, list)]
    assert outline[-len(titles) :] == titles
    contents = book.texts[1]
    for title in titles:
        number = int(re.search(rf"{re.escape(title)} (\d+)", contents)[1])
        assert book.texts[number - 1].startswith(f"{number} {title}")


def test_pages_are_numbered_and_neither_few_nor_many(book):
    assert 25 <= len(book.texts) <= 80
    for number, text in enumerate(book.texts[1:], start=2):
        assert text.startswith(f"{number} ")  # at the foot, but first in the file


def test_the_whole_log_is_printed(book):
    text = " ".join(book.texts)
    for line in reproduce.canonical_text().splitlines()[4:]:  # after the line of versions
        assert " ".join(NOISE.sub("max |difference| =", line).split()) in text


def test_what_calculations_show_is_printed(book):
    text = " ".join(book.texts)
    for number in ("0.435", "0.158", "0.540", "147,456", "28,311,552"):
        assert number in text


def test_no_link_leads_to_the_machine_that_printed(book):
    places = book.reader.named_destinations
    for page in book.reader.pages:
        for annotation in page.get("/Annots", ()):
            link = annotation.get_object()
            if "/A" in link:
                assert link["/A"]["/URI"].startswith("https://")
            else:
                assert str(link["/Dest"]).lstrip("/") in {name.lstrip("/") for name in places}


def test_nothing_of_a_page_changes_on_its_way_into_the_book(site):
    pages = printed_pages(site)
    book = BeautifulSoup(
        printing.assemble(site, pages, {}), "html.parser", preserve_whitespace_tags={"article"}
    )
    ids = [tag["id"] for tag in book.select("[id]")]
    assert len(ids) == len(set(ids))
    assert all(tag["href"][1:] in ids for tag in book.select("a[href^='#']"))
    for image in book.select("img"):
        assert Path(unquote(image["src"].removeprefix("file://"))).is_file()
    *articles, answers = book.select("article")
    assert not any(article.select(".attnlab-solution") for article in articles)
    solutions = []
    for page, article in zip(pages, articles, strict=True):
        source = BeautifulSoup(
            (site / page).read_text("utf-8"), "html.parser", preserve_whitespace_tags={"article"}
        )
        for name in ("pre", "code", "math", "td"):
            there = [tag.get_text() for tag in source.article.select(name) if kept(tag)]
            assert [tag.get_text() for tag in article.select(name)] == there
        solutions += source.select(".attnlab-solution")
    assert len(solutions) == len(answers.select("h3")) == len(book.select(".attnlab-blank"))
    for name in ("math", "li"):
        there = [tag for solution in solutions for tag in solution.select(name)]
        printed = [tag.get_text().split() for tag in answers.select(name)]
        assert printed == [visible(tag).split() for tag in there]
        assert len(printed) >= 3 * len(LESSONS)


def test_each_exercise_in_the_book_says_on_which_page_its_answer_is(book):
    told = [int(page) for text in book.texts for page in re.findall(r"Answer: page (\d+)", text)]
    assert len(told) >= 3 * len(LESSONS)
    start = next(i for i, text in enumerate(book.texts, 1) if f"{i} {printing.ANSWERS}" in text)
    assert told == sorted(told)
    assert (told[0], told[-1]) == (start, pytest.approx(len(book.texts), abs=1))
    answers = " ".join(book.texts[start - 1 :])
    assert answers.count("The answer is ") == len(told)
    assert not re.search(r"The answer is \d", " ".join(book.texts[: start - 1]))


def visible(tag):
    return "".join(
        text for text in tag.find_all(string=True) if not text.find_parent(class_="attnlab-unseen")
    )


def kept(tag):
    hidden = ["sphx-glr-footer", "attnlab-cited", "attnlab-take-away", "attnlab-solution"]
    return not tag.find_parent(class_=hidden)


SITE = {
    "index.html": '<article><h1 id="top">Home</h1></article>',
    "one/a.html": (
        "<head><link rel=stylesheet href='../style.css?v=1'></head>"
        "<article><h1 id='a'>A &amp; B</h1>"
        "<a href='#a'>here</a> <a href='b.html#b'>there</a> <a href='b.html'>all</a> "
        "<a href='b.html#no'>no place</a> <a href='../index.html'>home</a> "
        "<a href='https://example.org/'>out</a>"
        "<img src='x%20y.png' srcset='x%20y.png, z.png 2x'><img src='data:,'>"
        "<details>more</details><button>b</button></article>"
    ),
    "one/b.html": "<article><h1 id='a'>B</h1><p id='b'>b</p></article>",
}


@pytest.fixture
def three_pages(tmp_path):
    (tmp_path / "one").mkdir()
    for name, text in SITE.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_pages_become_one_document(three_pages):
    text = printing.assemble(three_pages, ["one/a.html", "one/b.html"], {"one-a--": 3})
    book = BeautifulSoup(text, "html.parser")
    first, second = book.select("article")
    assert {link.get_text(): link["href"] for link in first.select("a")} == {
        "here": "#one-a--a", "there": "#one-b--b", "all": "#one-b--", "out": "https://example.org/",
    }  # fmt: skip
    assert second.h1["id"] == "one-b--a"
    assert [image["src"] for image in first.select("img")] == [
        f"{(three_pages / 'one' / 'z.png').as_uri()}", "data:,",
    ]  # fmt: skip
    assert book.link["href"] == f"{(three_pages / 'style.css').as_uri()}?v=1"
    assert first.details.has_attr("open")
    assert not first.button
    items = [item.get_text().strip() for item in book.select(".book-contents li")]
    assert items == ["A & B 3", "B"]


def test_an_unknown_page_is_refused(three_pages, capsys):
    with pytest.raises(SystemExit):
        printing.main([str(three_pages), "index.html", "two/*.html"])
    assert "there is no page two/*.html in" in capsys.readouterr().err


# Piece by piece


def test_a_zip_depends_on_its_members_alone(tmp_path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    bundle.write_zip(tmp_path / "one", {"b": b"2", "a/c": b"1" * 99})
    bundle.write_zip(tmp_path / "two", {"a/c": b"1" * 99, "b": b"2"})
    assert digest(tmp_path / "one") == digest(tmp_path / "two")
    with zipfile.ZipFile(tmp_path / "one") as archive:
        assert archive.namelist() == ["a/c", "b"]
        assert archive.getinfo("b").date_time == (1980, 1, 1, 0, 0, 0)
        assert archive.getinfo("b").external_attr >> 16 == 0o644
        assert archive.getinfo("a/c").compress_size < 99
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(86400 * 365 * 30))
    bundle.write_zip(tmp_path / "one", {"b": b"2"})
    with zipfile.ZipFile(tmp_path / "one") as archive:
        assert archive.getinfo("b").date_time[0] == 1999


def test_a_wheel_needs_a_source_tree(tmp_path):
    with pytest.raises(ExtensionError, match=r"no pyproject\.toml in .*beside"):
        bundle.build_wheel(tmp_path / "beside", tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    with pytest.raises(ExtensionError, match=r"(?s)the wheel cannot be built: .*version"):
        bundle.build_wheel(tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (12_345_678, "12.3 MB"),
    ],
)
def test_file_sizes(count, shown):
    assert bundle.file_size(count) == shown


def test_a_page_without_the_marks_is_refused(tmp_path):
    (tmp_path / "downloads").mkdir()
    page = tmp_path / "page.html"
    page.write_text("<p>nothing</p>")
    with pytest.raises(ExtensionError, match=r"must stand once on .*page.html, not 0 times"):
        bundle.finish(tmp_path, page)


def test_the_list_is_made_again_in_place(tmp_path):
    (tmp_path / "downloads").mkdir()
    (tmp_path / "deep").mkdir()
    page = tmp_path / "deep" / "page.html"
    page.write_text(f"<p>before</p>{''.join(bundle.MARKS)}<p>after</p>")
    bundle.finish(tmp_path, page)
    assert links(page) == ["../downloads/attnlab-site.zip", "../downloads/SHA256SUMS"]
    (tmp_path / "downloads" / "results.log").write_text("1\n")
    bundle.finish(tmp_path, page)
    bundle.finish(tmp_path, page)
    assert [Path(link).name for link in links(page)] == [
        "attnlab-site.zip", "results.log", "SHA256SUMS",
    ]  # fmt: skip
    text = page.read_text("utf-8")
    assert text.startswith("<p>before</p><!--")
    assert text.endswith("--><p>after</p>")


PAGE = "Files\n=====\n\n.. raw:: html\n\n   {}{}\n".format(*bundle.MARKS)
NOTE = """\
.. only:: html

   .. note::
      :class: sphx-glr-download-link-note

      Below.

Lesson
======

.. note:: A note of its own.
"""


def test_nothing_is_made_unless_a_page_is_named(tmp_path):
    small = build_small(tmp_path, {"index": PAGE})
    assert small.warnings == []
    assert not (small.out / "downloads").exists()
    small = build_small(tmp_path, {}, attnlab_download_page="no_such_page")
    assert not (small.out / "downloads").exists()


def test_a_site_without_lessons_or_sources_says_so(tmp_path, monkeypatch):
    with pytest.raises(ExtensionError, match=r"no pyproject\.toml"):
        build_small(tmp_path, {"index": PAGE}, attnlab_download_page="index")
    monkeypatch.setattr(bundle, "build_wheel", lambda root, folder: folder / "x.whl")
    with pytest.raises(ExtensionError, match="offers lessons, but the site has none"):
        build_small(tmp_path, {"index": PAGE}, attnlab_download_page="index")


def test_worksheets_are_those_of_the_lessons_that_a_site_has(monkeypatch):
    title = SimpleNamespace(astext=lambda: "3. Mine")
    app = SimpleNamespace(env=SimpleNamespace(titles={"here/s3_raw_attention": title, "x": title}))
    [(name, document)] = bundle.worksheets(app).items()
    assert name == "s3_raw_attention"
    assert "<title>Worksheet 3. Mine</title>" in document
    large = replace(attnlab.TOY_WORLD, embeddings=attnlab.TOY_WORLD.embeddings * 1e8)
    monkeypatch.setattr(bundle.proof, "build_world", lambda: large)
    with pytest.raises(
        ExtensionError, match=r"s3_raw_attention cannot be made: .* too many digits"
    ):
        bundle.worksheets(app)


def test_a_site_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "gallery_file", lambda env, file: file)
    monkeypatch.setattr(downloading, "_plain", lambda app, file: None)
    (tmp_path / "pyproject.toml").write_text(
        "[project]\nname = 'own'\nversion = '1'\nrequires-python = '>=3'\n"
    )
    (tmp_path / "own.py").write_text("ANSWER = 42\n")
    for suffix in (".py", ".ipynb"):
        (tmp_path / f"lesson{suffix}").write_text("print(1)\n")
    pages = {"index": PAGE, "lesson": NOTE + "\n:download:`other <index.rst>`\n"}
    for _ in range(2):
        small = build_small(tmp_path, pages, attnlab_download_page="index")
        assert small.warnings == []
        folder = small.out / "downloads"
        assert_checksums_match(folder)
        assert {file.name for file in folder.iterdir()} == {
            "SHA256SUMS", "attnlab-site.zip", "attnlab-workshop.zip", "figures",
            "own-1-py3-none-any.whl", "results.log",
        }  # fmt: skip
        assert {file.name for file in (folder / "figures").iterdir()} == FIGURES
        (folder / "left").write_text("of an earlier build")
    with zipfile.ZipFile(folder / "attnlab-workshop.zip") as workshop:
        assert {"lesson.py", "lesson.ipynb", "own-1-py3-none-any.whl"} < set(workshop.namelist())
        assert "\n./own-1-py3-none-any.whl\n" in workshop.read("requirements.txt").decode()
        assert "index.rst" not in workshop.namelist()


@pytest.mark.parametrize(
    ("others", "offered"),
    [
        ({}, ["script", "notebook"]),
        ({"install": "x"}, ["script", "notebook", "how to run it"]),
        (
            {"install": "x", "files": PAGE, "worksheets": "x"},
            ["script", "notebook", "worksheet", "all lessons in one zip", "how to run it"],
        ),
    ],
)
def test_the_offer_names_what_the_site_has(tmp_path, monkeypatch, others, offered):
    monkeypatch.setattr(bundle, "make_downloads", lambda app, exception: None)
    for suffix in (".py", ".ipynb"):
        (tmp_path / f"lesson{suffix}").write_text("print(1)\n")
    small = build_small(
        tmp_path, {"index": "x", "lesson": NOTE, **others}, attnlab_download_page="files"
    )
    assert small.warnings == []
    page = small.page("lesson")
    offer = page.h1.find_next_sibling()
    assert [link.get_text() for link in offer.select("a")] == offered
    assert offer.get_text().strip() == "Take this lesson with you: " + " · ".join(offered)
    assert [note.get_text().strip() for note in page.select(".note")] == [
        "Note\nA note of its own."
    ]


# Hosting


@pytest.fixture
def repository(tmp_path):
    """A clone with one commit, its origin, and a built site."""
    origin, clone, site = tmp_path / "origin", tmp_path / "clone", tmp_path / "html"
    (site / "_static").mkdir(parents=True)

    def git(*arguments, cwd=clone):
        done = subprocess.run(
            ["git", *arguments], cwd=cwd, capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def publish(name, text):
        (site / "index.html").write_text(text)
        (site / "404.html").write_text(f"404 of {text}")
        done = subprocess.run(
            ["sh", ROOT / ".github" / "publish.sh", site, name],
            cwd=clone, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def shown(path):
        return git("show", f"gh-pages:{path}", cwd=origin)

    git("init", "-q", "--bare", origin, cwd=tmp_path)
    git("clone", "-q", origin, clone, cwd=tmp_path)
    git("config", "user.name", "A")
    git("config", "user.email", "a@example.org")
    (clone / "source.py").write_text("1\n")
    git("add", ".")
    git("commit", "-q", "-m", "One")
    git("push", "-q", "origin", "HEAD")
    return SimpleNamespace(git=git, publish=publish, shown=shown, origin=origin)


def test_each_release_keeps_a_folder_and_the_newest_is_latest(repository):
    repository.publish("main", "draft")
    assert repository.shown("latest/index.html") == "draft"
    repository.publish("v1.9.0", "old")
    repository.publish("v1.10.0", "new")
    repository.publish("v1.9.1", "mended")
    repository.publish("fix/a", "branch")
    files = repository.git("ls-tree", "-r", "--name-only", "gh-pages", cwd=repository.origin)
    folders = {name.split("/")[0] for name in files.split()}
    assert folders == {
        ".nojekyll", "404.html", "index.html", "fix-a", "latest", "main",
        "v1.9.0", "v1.9.1", "v1.10.0",
    }  # fmt: skip
    assert repository.shown("v1.9.0/index.html") == "old"
    assert repository.shown("v1.9.1/index.html") == "mended"
    assert repository.shown("latest/index.html") == "new"
    assert repository.shown("404.html") == "404 of new"
    assert 'url=latest/"' in repository.shown("index.html")


def test_publishing_the_same_again_changes_nothing(repository):
    repository.publish("v1.0.0", "one")
    before = repository.git("rev-parse", "gh-pages", cwd=repository.origin)
    repository.publish("v1.0.0", "one")
    assert repository.git("rev-parse", "gh-pages", cwd=repository.origin) == before
    assert repository.git("worktree", "list").count("\n") == 1
    assert repository.git("status", "--short") == ""
