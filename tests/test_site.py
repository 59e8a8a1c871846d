"""The site as Sphinx builds it: complete, self-contained, and executed when it must be."""

import ast
import gzip
import itertools
import json
import os
import re
import shutil
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import urlopen

import numpy as np
import pytest

from attnlab import TOY_WORLD

for package in ("sphinx", "sphinx_gallery", "furo", "torch"):
    pytest.importorskip(package, reason="the site's packages are not installed")

from bs4 import BeautifulSoup  # noqa: E402
from real_site import LESSONS, ROOT, build, copy_project, page_files, served  # noqa: E402


def read(path):
    text = path.read_text("utf-8")
    return BeautifulSoup(text, "html.parser", preserve_whitespace_tags={"pre", "code"})


# The real site


@pytest.fixture(scope="session")
def pages(site):
    """Every page by its address within the site."""
    return {file.relative_to(site).as_posix(): read(file) for file in page_files(site)}


def test_every_lesson_has_a_page(pages):
    assert len(LESSONS) == 6
    assert {f"lessons/{lesson}.html" for lesson in LESSONS} < set(pages)


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_shows_what_it_printed_and_drew(site, pages, lesson):
    page = pages[f"lessons/{lesson}.html"]
    assert page.select(".sphx-glr-script-out pre")
    assert not page.select(".highlight-pytb")
    shown = (ROOT / "gallery" / f"{lesson}.py").read_text("utf-8").count("\nplt.show()")
    assert len(page.select(".attnlab-picture")) == shown
    assert not page.select("img.sphx-glr-single-img, img.sphx-glr-multi-img")


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_can_be_downloaded(site, pages, lesson):
    links = [link["href"] for link in pages[f"lessons/{lesson}.html"].select("a.download")]
    files = {Path(link).name: site / "lessons" / link for link in links}
    code = [
        ast.dump(ast.Module(ast.parse(file.read_text("utf-8")).body[1:], []))
        for file in (files[f"{lesson}.py"], ROOT / "gallery" / f"{lesson}.py")
    ]
    assert code[0] == code[1]
    notebook = json.loads(files[f"{lesson}.ipynb"].read_text("utf-8"))
    assert "install" in "".join(notebook["cells"][0]["source"])


def test_lessons_lead_to_each_other(pages):
    for here, there in itertools.pairwise(LESSONS):
        assert pages[f"lessons/{here}.html"].select_one("a.next-page")["href"] == f"{there}.html"
        assert pages[f"lessons/{there}.html"].select_one("a.prev-page")["href"] == f"{here}.html"


def test_the_home_page_leads_to_the_first_lesson(pages):
    links = [link["href"] for link in pages["index.html"].select("article a.reference")]
    assert f"lessons/{LESSONS[0]}.html" in links


def test_the_log_page_shows_and_numbers_every_line(pages):
    log = (ROOT / "attnlab" / "canonical" / "results.log").read_text("utf-8").split("\n")[:-1]
    lines = pages["results.html"].select(".attnlab-log .attnlab-line > code")
    numbers = [line.find_parent(class_="attnlab-line")["id"] for line in lines]
    assert numbers == [f"L{number}" for number in range(1, len(log) + 1)]
    assert [may_differ(n, line.get_text()) for n, line in enumerate(lines, start=1)] == [
        may_differ(n, text) for n, text in enumerate(log, start=1)
    ]


def may_differ(number, text):
    """A line of the log without what may differ from machine to machine."""
    if number == 3:
        return "the environment"
    return re.sub(r"(?<=max \|difference\| = )\S+", "noise", text)


def test_no_id_stands_twice_on_a_page(pages):
    for address, page in pages.items():
        ids = [tag["id"] for tag in page.select("[id]")]
        twice = {name for name in ids if ids.count(name) > 1}
        assert not twice, f"{address}: {twice}"


def test_formulas_are_mathml(pages):
    formulas = [formula for page in pages.values() for formula in page.find_all("math")]
    assert formulas
    assert all(formula["alttext"] for formula in formulas)
    assert not any(re.search(r"\\[(\[]", page.body.get_text()) for page in pages.values())


def test_every_link_within_the_site_leads_somewhere(site, pages):
    anchors = {
        address: {tag[key] for key in ("id", "name") for tag in page.select(f"[{key}]")}
        for address, page in pages.items()
    }
    broken = []
    for address, page in pages.items():
        targets = [tag[key] for key in ("href", "src") for tag in page.select(f"[{key}]")]
        for image in page.select("[srcset]"):
            targets += [entry.split()[0] for entry in image["srcset"].split(",")]
        for target in targets:
            parts = urlsplit(target)
            if parts.scheme:
                continue
            path = (site / address).parent / unquote(parts.path) if parts.path else site / address
            file = Path(os.path.normpath(path))
            known = anchors.get(os.path.relpath(file, site).replace(os.sep, "/"))
            if not file.is_file() or not file.is_relative_to(site):
                broken.append((address, target, "no such file"))
            elif parts.fragment and known is not None and unquote(parts.fragment) not in known:
                broken.append((address, target, "no such anchor"))
    assert broken == []


def test_no_page_asks_another_host(site, pages):
    foreign = []
    for address, page in pages.items():
        for tag in page.select("[src], [srcset], link[href], form[action], object[data]"):
            foreign += [
                (address, tag[key])
                for key in ("src", "srcset", "href", "action", "data")
                if re.search(r"(^|[\s,])(https?:)?//", tag.get(key, ""))
            ]
        foreign += [(address, style.get_text()) for style in page.select("style") if "//" in style]
    for sheet in site.rglob("*.css"):
        urls = re.findall(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)", sheet.read_text())
        for url in map("".join, urls):
            if url.startswith(("http", "//")):
                foreign.append((sheet.name, url))
            elif not url.startswith(("data:", "#")):
                assert (sheet.parent / urlsplit(url).path).is_file(), (sheet.name, url)
    assert foreign == []


def test_nothing_is_inline_that_a_strict_policy_blocks(pages):
    for address, page in pages.items():
        assert not page.select("style, [style], script:not([src])"), address
        assert not [
            tag for tag in page.find_all() if any(key.startswith("on") for key in tag.attrs)
        ]


def test_images_keep_their_place_while_they_load(pages):
    images = [image for page in pages.values() for image in page.find_all("img")]
    assert images
    assert [
        str(image) for image in images if not (image.get("width") and image.get("height"))
    ] == []


def test_every_page_says_what_it_is(pages):
    said = {}
    for address, page in pages.items():
        assert page.title.get_text().endswith("LLM Self-Attention by Hand"), address
        said[address] = page.select_one("meta[name=description]")["content"]
        assert 20 < len(said[address]) < 170, address
        if address != "404.html":
            assert page.select_one("meta[property='og:description']")["content"] == said[address]
            assert page.select_one("meta[property='og:title']")["content"]
    assert len(set(said.values())) == len(said)
    assert said[f"lessons/{LESSONS[2]}.html"].startswith("The question: how can bank come out")


def test_addresses_stay(pages):
    """Links from elsewhere lead to these; a page that moves must leave a page behind."""
    names = "index api glossary install reproduce results download host search lessons/index"
    assert {f"{name}.html" for name in names.split()} < set(pages)


def test_a_lesson_shows_its_place_among_the_six(pages):
    for lesson in LESSONS:
        steps = pages[f"lessons/{lesson}.html"].select("nav[aria-label='The lessons'] a")
        assert len(steps) == len(LESSONS)
        here = [step["href"] for step in steps if step.get("aria-current") == "page"]
        assert here == ["#"]
        assert (
            steps.index(next(step for step in steps if step["href"] == "#")) == int(lesson[1]) - 1
        )


def test_names_in_code_lead_to_their_pages(pages):
    """Each name in docs/_inventories is one that the workshop uses."""
    links = {
        link["href"]
        for page in pages.values()
        for link in page.select("article .highlight a, article a.reference.external")
    }
    assert any(link.endswith("api.html#attnlab.softmax") for link in links)
    for inventory in (ROOT / "docs" / "_inventories").iterdir():
        names = [line.split()[0] for line in inventory.read_text("utf-8").splitlines()[3:]]
        assert names
        for name in names:
            assert any(link.endswith(f"#{name}") for link in links), name


def test_the_icon_is_the_table_of_embeddings():
    """The thumbnail of the first lesson, too: a square is the darker the larger the number."""
    svg = (ROOT / "docs" / "_static" / "lesson.svg").read_text("utf-8")
    squares = re.findall(
        r'x="(\d+)" y="(\d+)" width="48" height="48"(?: fill-opacity="(.+?)")?', svg
    )
    shades = np.zeros((4, 4))
    for x, y, shade in squares:
        shades[(int(y) - 44) // 48, (int(x) - 104) // 48] = float(shade or 1)
    assert np.array_equal(np.where(shades == 0.06, 0, shades), TOY_WORLD.embeddings)


# What is built again, on a site of two small lessons


@pytest.fixture
def small(tmp_path):
    """A project with the real configuration and package, and two lessons that say they ran."""
    copy_project(tmp_path)
    for page in (tmp_path / "docs").glob("*.rst"):
        page.unlink()
    for script in (tmp_path / "gallery").iterdir():
        script.unlink()
    (tmp_path / "docs" / "index.rst").write_text("Home\n====\n\n.. toctree::\n\n   lessons/index\n")
    (tmp_path / "gallery" / "GALLERY_HEADER.rst").write_text("Lessons\n=======\n")
    write_lesson(tmp_path, "s1_one", "import attnlab")
    write_lesson(tmp_path, "s2_two", "import attnlab")
    return tmp_path


def write_lesson(root, name, code):
    (root / "gallery" / f"{name}.py").write_text(
        f'"""\nLesson {name}\n==============\n\nText.\n"""\n\n# %%\n# Code:\n\n'
        f"from pathlib import Path\n\n"
        f"with Path('{root.as_posix()}/runs').open('a') as file:\n"
        f"    file.write('{name} ')\n"
        f"{code}\n"
    )


def runs(root):
    """Which lessons ran since last asked."""
    file = root / "runs"
    names = file.read_text().split() if file.exists() else []
    file.unlink(missing_ok=True)
    return names


def append(path, text):
    path.write_text(path.read_text("utf-8") + text, "utf-8")


def assert_builds(root):
    done = build(root)
    assert done.returncode == 0, done.stderr


def test_a_lesson_runs_again_when_something_it_depends_on_changed(small):
    assert_builds(small)
    assert runs(small) == ["s1_one", "s2_two"]

    assert_builds(small)
    assert runs(small) == []

    append(small / "gallery" / "s2_two.py", "print('changed')\n")
    assert_builds(small)
    assert runs(small) == ["s2_two"]
    page = small / "build" / "html" / "lessons" / "s2_two.html"
    assert "changed" in read(page).select_one(".sphx-glr-script-out").get_text()

    append(small / "attnlab" / "attention.py", "\nANSWER = 42\n")
    assert_builds(small)
    assert runs(small) == ["s1_one", "s2_two"]


def test_a_page_shows_what_the_changed_package_computes(small):
    write_lesson(small, "s1_one", "import attnlab\nprint(getattr(attnlab, 'NEW', 'old'))")
    page = small / "build" / "html" / "lessons" / "s1_one.html"
    assert_builds(small)
    assert read(page).select_one(".sphx-glr-script-out pre").get_text().strip() == "old"
    append(small / "attnlab" / "__init__.py", "\nNEW = 'other'\n")
    assert_builds(small)
    assert read(page).select_one(".sphx-glr-script-out pre").get_text().strip() == "other"


def test_a_deleted_lesson_leaves_nothing_behind(small):
    write_lesson(small, "s2_two", "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()")
    assert_builds(small)
    html = small / "build" / "html"

    def traces(folder):
        return [file for file in folder.rglob("*") if file.is_file() and "s2_two" in file.name]

    assert len(traces(html)) >= 7  # page, source, three downloads, figure, thumbnail
    (html / "notes.html").write_text("not Sphinx's")
    runs(small)

    (small / "gallery" / "s2_two.py").unlink()
    assert_builds(small)
    assert traces(html) == traces(small / "docs") == []
    assert "s2_two" not in (html / "lessons" / "index.html").read_text("utf-8")
    assert (html / "notes.html").exists()
    assert runs(small) == []


def test_a_page_that_is_gone_goes_even_without_sphinx_memory(small):
    (small / "docs" / "extra.rst").write_text(":orphan:\n\nExtra\n=====\n")
    assert_builds(small)
    assert (small / "build" / "html" / "extra.html").exists()
    (small / "docs" / "extra.rst").unlink()
    shutil.rmtree(small / "build" / "doctrees")
    assert_builds(small)
    assert not (small / "build" / "html" / "extra.html").exists()


def test_a_site_with_an_address_says_so(small):
    done = build(small, ATTNLAB_BASEURL="https://attention.example/a/b")
    assert done.returncode == 0, done.stderr
    html, base = small / "build" / "html", "https://attention.example/a/b/"

    listed = re.findall("<loc>(.*?)</loc>", (html / "sitemap.xml").read_text("utf-8"))
    names = ("index", "lessons/index", "lessons/s1_one", "lessons/s2_two")
    assert listed == [f"{base}{name}.html" for name in names]

    page = read(html / "lessons" / "s1_one.html")
    assert page.select_one("link[rel=canonical]")["href"] == listed[2]
    assert page.select_one("meta[property='og:url']")["content"] == listed[2]
    card = page.select_one("meta[property='og:image']")["content"]
    assert (html / card.removeprefix(base)).read_bytes().startswith(b"\x89PNG")

    # The page for what is not there is shown at any depth, so its links start at the root.
    missing = read(html / "404.html")
    links = [tag[key] for key in ("href", "src", "action") for tag in missing.select(f"[{key}]")]
    assert len(links) >= 6
    assert all((html / link.removeprefix("/a/b/")).is_file() for link in links)
    with served(html, "/a/b/") as address, pytest.raises(HTTPError, match="404") as answer:
        urlopen(f"{address}no/such/page.html")
    assert b"Page not found" in gzip.decompress(answer.value.read())
    answer.value.close()


def test_a_failing_lesson_fails_every_build_until_it_is_mended(small):
    assert_builds(small)
    good = (small / "gallery" / "s1_one.py").read_text()
    page = small / "build" / "html" / "lessons" / "s1_one.html"

    append(small / "gallery" / "s1_one.py", "raise ValueError('no such bank')\n")
    for _ in range(2):
        runs(small)
        done = build(small)
        assert done.returncode != 0
        assert "no such bank" in done.stderr
        assert "s1_one" in runs(small)

    (small / "gallery" / "s1_one.py").write_text(good)  # as it was when it last ran well
    assert_builds(small)
    assert "s1_one" in runs(small)
    assert "no such bank" not in page.read_text("utf-8")


def test_everything_runs_again_after_an_interrupted_build(small):
    assert_builds(small)
    write_lesson(small, "s2_two", "import os\nif 'STOP' in os.environ:\n    os._exit(3)")
    assert build(small, STOP="1").returncode == 3
    runs(small)
    assert_builds(small)
    assert runs(small) == ["s1_one", "s2_two"]


def test_a_lesson_leaves_no_state_to_the_next(small):
    write_lesson(
        small,
        "s1_one",
        """
import locale, os, random, sys, warnings
import matplotlib as mpl
import numpy as np
np.random.seed(0)
random.seed(0)
np.set_printoptions(precision=1)
np.seterr(all="ignore")
warnings.simplefilter("ignore")
locale.setlocale(locale.LC_ALL, "C.UTF-8")
mpl.rcParams["lines.linewidth"] = 99
os.environ["ATTNLAB_LEFT"] = "here"
os.chdir("/")
sys.path.append("/left/here")
""",
    )
    write_lesson(
        small,
        "s2_two",
        """
import locale, os, random, sys, warnings
import matplotlib as mpl
import numpy as np
print("numpy random", np.random.random() == np.random.RandomState(0).random())
print("random", random.random() == random.Random(0).random())
print("print options", str(np.array([1 / 3])) == "[0.3]")
print("errors", np.geterr()["divide"] == "ignore")
print("warnings", warnings.filters[0][:3] == ("ignore", None, Warning))
print("locale", locale.setlocale(locale.LC_ALL) == "C.UTF-8")
print("matplotlib", mpl.rcParams["lines.linewidth"] == 99)
print("environment", "ATTNLAB_LEFT" in os.environ)
print("folder", os.getcwd() == "/")
print("path", "/left/here" in sys.path)
""",
    )
    done = build(small, LC_ALL="C")
    assert done.returncode == 0, done.stderr
    page = read(small / "build" / "html" / "lessons" / "s2_two.html")
    lines = page.select_one(".sphx-glr-script-out pre").get_text().split("\n")
    assert len(lines) >= 10
    assert [line for line in lines if line.endswith("True")] == []


def test_a_figure_that_is_shown_but_missing_fails_the_build(small):
    write_lesson(small, "s1_one", "import matplotlib.pyplot as plt\nplt.show()")
    done = build(small)
    assert done.returncode != 0
    assert re.search(
        r"WARNING: .*s1_one\.py shows 1 figure\(s\) that are not on its page", done.stderr
    )


def test_an_unknown_reference_fails_the_build(small):
    unknown = (
        ":term:`no such term`",
        ":func:`attnlab.no_such_function`",
        ":class:`NoSuchClass`",
        ":doc:`no_such_page`",
        ":ref:`no-such-label`",
        ":eq:`no-such-equation`",
        r":math:`\nosuchcommand`",
        ":nosuchrole:`x`",
    )
    append(small / "docs" / "index.rst", "\n" + "\n\n".join(unknown) + "\n")
    done = build(small)
    assert done.returncode != 0
    lines = (small / "docs" / "index.rst").read_text().split("\n")
    for source in unknown:
        complaint = re.search(r"no.?such[\w-]*|NoSuchClass", source)[0]
        where = rf"index\.rst:{lines.index(source) + 1}: (WARNING|ERROR): .*{complaint}"
        assert re.search(where, done.stderr), (source, done.stderr)
