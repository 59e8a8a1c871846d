"""Downloads keep their words: no markup in them that only Sphinx understands."""

import io
import json
import zipfile

import pytest

pytest.importorskip("sphinx_gallery", reason="the site's packages are not installed")

from small_site import RESULTS, build

from attnlab.errors import AttnlabError, InvalidValueError
from attnlab.sphinxext import downloads, proof


def say(role, content):
    return f"<{role} {content}>"


PLAIN = {
    "nothing to do": ("A *word*.\n\nAnother.", "A *word*.\n\nAnother."),
    "heading": ("Title :a:`b`\n============", "Title <a b>\n============"),
    "roles": ("See :a:`b` and\n:std:doc:`c\nd`.", "See <a b> and <std:doc c d>."),
    "literal": ("See ``:a:`b` `` here.", "See ``:a:`b` `` here."),
    "list": (
        "- one\n  :a:`b`\n- two\n  more",
        "- one <a b>\n- two\n  more",
    ),
    "numbered list": ("1. :a:`b`\n2. two", "1. <a b>\n2. two"),
    "definition": ("Term\n   means :a:`b`\n   this", "Term\n   means <a b> this"),
    "long lines": ("word " * 30, ("word " * 19).strip() + "\n" + ("word " * 11).strip()),
    "a number that would begin a list": (
        "word " * 19 + "64. So on",
        ("word " * 19) + "64.\nSo on",
    ),
    "formula": (".. math:: x^2\n\nText", "$$\nx^2\n$$\n\nText"),
    "formulas": (
        "Text\n\n.. math::\n   :label: eq\n\n   x^2\n\n   y^2",
        "Text\n\n$$\nx^2\n$$\n\n$$\ny^2\n$$",
    ),
    "rows": (
        ".. math::\n\n   a &= b \\\\\n   c &= d",
        "$$\n\\begin{aligned}\na &= b \\\\\nc &= d\n\\end{aligned}\n$$",
    ),
    "rows with an environment": (
        ".. math::\n\n   \\begin{matrix} a \\\\ b \\end{matrix}",
        "$$\n\\begin{matrix} a \\\\ b \\end{matrix}\n$$",
    ),
    "in a list": ("- one\n\n  .. math:: x", "- one\n\n  $$\n  x\n  $$"),
    "code": (
        ".. code-block:: python\n   :linenos:\n\n   x = 1\n\n   y = 2\n\nText",
        "```python\nx = 1\n\ny = 2\n```\n\nText",
    ),
    "note": (".. note::\n\n   Mind :a:`b`.\n\n   And.", "**Note:** Mind <a b>.\n\nAnd."),
    "note on its line": (".. tip:: Do\n   this.", "**Tip:** Do\nthis."),
    "comment": ("One\n\n.. nobody sees\n   this\n\nTwo", "One\n\n\nTwo"),
    "target": (".. _here:\n\nTwo", "\nTwo"),
    "empty comment": ("..\n\nTwo", "\nTwo"),
}


@pytest.mark.parametrize(("rst", "plain"), PLAIN.values(), ids=list(PLAIN))
def test_says_it_in_plain_words(rst, plain):
    assert downloads.plain_text(rst, say) == plain


def test_writes_out_a_calculation_by_hand():
    text = downloads.plain_text("By hand:\n\n.. by-hand:: dot bank river\n\nText", say)
    assert "0.3 \\times 0.9" in text
    assert text.startswith("By hand:\n\n")
    assert text.endswith("\n\nText")
    assert "::" not in text


@pytest.mark.parametrize("rst", [".. raw:: html\n\n   <b>", ".. by-hand:: dot bank boat"])
def test_refuses_a_directive_without_a_plain_form(rst):
    with pytest.raises(AttnlabError):
        downloads.plain_text(rst, say)


SCRIPT = '''\
"""
Title
=====

Intro with :a:`b`.
"""

# %%
# Text with :a:`b`
# here.
#
# .. math:: x

x = 1  # a comment with :a:`b`
# sphinx_gallery_thumbnail_number = 2

######################################
# Other text.

# A comment.
y = 2
'''
PLAIN_SCRIPT = '''\
"""
Title
=====

Intro with <a b>.
"""

# %%
# Text with <a b> here.
#
# $$
# x
# $$

x = 1  # a comment with :a:`b`

######################################
# Other text.

# A comment.
y = 2
'''


def test_a_script_keeps_its_code():
    assert downloads.plain_script(SCRIPT, say) == PLAIN_SCRIPT
    assert downloads.plain_script(PLAIN_SCRIPT, say) == PLAIN_SCRIPT


def test_a_docstring_with_a_formula_is_raw():
    plain = downloads.plain_script('"""\nT\n=\n\n.. by-hand:: dot bank river\n"""\n', say)
    assert plain.startswith('r"""\nT')
    compile(plain, "lesson", "exec")


def test_a_script_without_a_docstring_in_triple_quotes_is_refused():
    with pytest.raises(InvalidValueError, match="docstring in triple quotes"):
        downloads.plain_script('"Title"\n', say)


def archive(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, content in members.items():
            made.writestr(zipfile.ZipInfo(name, (2020, 1, 2, 3, 4, 6)), content)
    return file.getvalue()


def test_an_archive_is_the_same_whenever_it_is_made(monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    first = downloads.plain_archive(archive(b="2", a="1"), {"a": b"one"}.get)
    second = downloads.plain_archive(archive(a="x", b="2"), {"a": b"one"}.get)
    assert first == second
    with zipfile.ZipFile(io.BytesIO(first)) as made:
        assert {name: made.read(name) for name in made.namelist()} == {"a": b"one", "b": b"2"}
        assert made.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    dated = downloads.plain_archive(archive(a="1"), {}.get)
    with zipfile.ZipFile(io.BytesIO(dated)) as made:
        assert made.infolist()[0].date_time[:3] == (2023, 11, 14)


# A site with one lesson

LESSON = '''\
"""
1. A lesson
===========

Intro, :measured:`0.435 <S3.output.river_bank.water>`.
"""

# %%
# The end
# -------
#
# See :logline:`S3.output.river_bank.water`, :logline:`the note <S1.one_row>`,
# :doc:`/index`, :doc:`lesson`, :doc:`the log </results>`, :func:`attnlab.softmax`,
# :py:func:`~attnlab.softmax`, :term:`word`, :abbr:`QK (query, key)`, :math:`x_1`;
# :claim:`half <0.49 < S4.weights.bank.river < 0.51>` of :given:`124 million <published>`.
#
# .. by-hand:: dot bank river

print("done")
'''
CONF = {
    "extensions": ["sphinx_gallery.gen_gallery", "attnlab.sphinxext"],
    "sphinx_gallery_conf": {
        "examples_dirs": "../gallery",
        "gallery_dirs": "lessons",
        "filename_pattern": r"\.py$",
        "min_reported_time": 3600,
    },
    "html_math_renderer": "mathml",
}
HOME = """\
Home
====

Words, :download:`more <more.txt>` and :download:`more </lessons/more.txt>`.

.. glossary::

   word
      Text.

.. toctree::

   lessons/index
"""
PAGES = {"index": HOME, "results": RESULTS}


@pytest.fixture
def site(tmp_path, monkeypatch, log):
    """Build a site with one lesson."""
    monkeypatch.setattr(proof.reproduce, "run", lambda **options: log)

    def site(lesson):
        gallery = tmp_path / "gallery"
        gallery.mkdir(exist_ok=True)
        (gallery / "GALLERY_HEADER.rst").write_text("Lessons\n=======\n")
        (gallery / "lesson.py").write_text(lesson, "utf-8")
        docs = tmp_path / "docs"
        docs.mkdir(exist_ok=True)
        (docs / "conf.py").write_text("")
        (docs / "lessons").mkdir(exist_ok=True)
        for more in (docs / "more.txt", docs / "lessons" / "more.txt"):
            if not more.exists():
                more.write_text("As :it:`is`.")
        return build(docs, PAGES, confdir=docs, **CONF)

    return site


def offered(site, name):
    (file,) = site.out.glob(f"_downloads/*/{name}")
    return file.read_bytes()


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_the_downloads_of_a_lesson_are_plain(site, log):
    built = site(LESSON)
    assert built.warnings == []
    script = offered(built, "lesson.py").decode("utf-8")
    line = log.line_numbers["S3.output.river_bank.water"]
    words = " ".join(script.replace("\n#", "\n").split())
    assert (
        f"See line {line} of results.log, the note, Home, 1. A lesson, the log, "
        "``attnlab.softmax``, ``softmax``, word, QK (query, key), $x_1$; half of 124 million."
    ) in words
    assert "Intro, 0.435." in script
    notebook = json.loads(offered(built, "lesson.ipynb"))
    assert notebook["nbformat"] == 4
    text = "".join("".join(cell["source"]) for cell in notebook["cells"])
    assert "# 1. A lesson\n\nIntro, 0.435." in text
    assert "$$\n\\begin" in text
    assert 'print("done")' in text
    with zipfile.ZipFile(io.BytesIO(offered(built, "lesson.zip"))) as made:
        assert made.read("lesson.py").decode("utf-8") == script
        assert json.loads(made.read("lesson.ipynb")) == notebook
    with zipfile.ZipFile(io.BytesIO(offered(built, "lessons_python.zip"))) as made:
        assert made.read("lesson.py").decode("utf-8") == script
    assert {file.read_text() for file in built.out.glob("_downloads/*/more.txt")} == {
        "As :it:`is`."
    }
    again = site(LESSON)
    assert offered(again, "lesson.py").decode("utf-8") == script
    assert again.read == []


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".. centered:: words", "the directive 'centered' has no plain form for downloads"),
        (":ref:`genindex`", ":ref:`genindex` needs a text to be read without Sphinx"),
    ],
)
def test_what_cannot_be_said_plainly_is_a_warning(site, text, message):
    built = site(LESSON.replace("# .. by-hand:: dot bank river", f"# {text}"))
    found = [warning for warning in built.warnings if message in warning]
    assert len(found) == len(set(found)) > 0
    assert all("[attnlab.download]" in warning for warning in found)
    assert built.app.statuscode == 0


def test_a_failed_build_leaves_the_downloads_alone(tmp_path):
    downloads.replace_downloads(None, RuntimeError())
