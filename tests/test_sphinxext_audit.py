"""The audit: which numbers must be proved, and where it says that one is not."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip("sphinx", reason="the site's packages are not installed")

from small_site import build

from attnlab.sphinxext import audit, places, proof

MUST_BE_PROVED = {
    "It is 0.435.": ["0.435"],
    "-0.5, −0.5, +0.5 and .5": ["-0.5", "−0.5", "+0.5", ".5"],
    "147,456 numbers": ["147,456"],
    "18.5 % or 18.5%": ["18.5 %", "18.5%"],
    "from 3-4 to 5–6": ["3", "4", "5", "6"],
    "(3)": ["3"],
    "2.22e-16": ["2.22e-16"],
    "½ of it": ["½"],
    "the 3rd": ["3rd"],
    "2-D": ["2"],
    "2000 rows": ["2000"],
    "in 2000 rows": ["2000"],
    "a year like 2017 is": ["2017"],
    "3.5 is no version": ["3.5"],
    "Python 3.11 with 64 MB": ["64"],
    "1. The start": ["1"],
    "version 0.9621 of it": ["0.9621"],
    "Python 3.1100 of it": [".1100"],
    "water is about.9601": [".9601"],
    "⅝ or ⑨ of it": ["⅝", "⑨"],
}
MAY_STAND = [
    "",
    "no number, but one in words",
    "S1, S6.difference, W_Q2, x2 and float64",
    "GPT-2 on x86-64",
    "2017-06-12",
    "12 June 2017",
    "June 2017",
    "June 12, 2017",
    "(2017)",
    "(Vaswani and others, 2017)",
    "since 2017.",
    "in 2017; then",
    "© 2017",
    "NumPy 2.4",
    "Python 3.11, 3.12 and 3.13",
    "Python 3.11–3.13",
    "version 2",
    "Versions 1.2 to 1.4",
    "1.2.3",
    "attnlab 0.1",
    "version 0.12 and s1.py",
]


@pytest.mark.parametrize(("text", "found"), MUST_BE_PROVED.items(), ids=list(MUST_BE_PROVED))
def test_finds_bare_numbers(text, found):
    assert audit.bare_numbers(text) == found


@pytest.mark.parametrize("text", MAY_STAND)
def test_lets_other_digits_stand(text):
    assert audit.bare_numbers(text) == []


def test_a_heading_may_begin_with_a_number_and_no_more():
    assert audit.bare_numbers("3. Raw attention", heading=True) == []
    assert audit.bare_numbers("3.1. Raw attention of 3", heading=True) == ["3"]
    assert audit.bare_numbers("0.9 of the weight", heading=True) == ["0.9"]
    assert audit.bare_numbers("Raw attention 3", heading=True) == ["3"]


FORMULAS = {
    r"\sqrt{2} x^{10} d_0": [],
    r"N(0, 1)": [],
    r"\begin{array}{cc} a \end{array} \tag{12}": [],
    r"0.5 x": ["0.5"],
    r"768 \times 64": ["768", "64"],
    r"147{,}456": ["147{,}456"],
    r"11": ["11"],
    r"\frac{3}{4}": [],
    r".5 x": [".5"],
}


@pytest.mark.parametrize(("tex", "found"), FORMULAS.items(), ids=list(FORMULAS))
def test_small_whole_numbers_may_stand_in_a_formula(tex, found):
    assert audit.bare_numbers_in_formula(tex) == found


PAGE = """\
1. Heading of 21
================

.. A comment of 22.

Paragraph of
23, with ``24``, :math:`0.25`,
:claim:`less <S2.softmax.the < 0.26>` and :given:`27 <so it is>`.

- Item 31

#. First
#. Item *32*

Term 33
   Definition 34

=========  ======
Column     35
=========  ======
``36``     37
=========  ======

.. list-table:: Caption 38
   :header-rows: 1

   * - Name
   * - 39

.. note:: Note

   Second 41, again
   41.

.. math:: 42 x

.. code-block:: python

   x = 43

.. figure:: image.png

   Caption 44

A footnote [#]_, `a link of 51 <https://example.org/52>`_,
https://example.org/53, `<https://example.org/54>`_ and |x|.

.. [#] Note of 55.

.. |x| replace:: words of 56

.. by-hand:: dot bank river

::

   Code of 57

.. raw:: html

   <p title="59">58</p><style>p { margin: 60px }</style><!-- 62 --><p>3. Heading</p>

.. py:function:: f(x=59)

   Described by 61.
"""
EXPECTED = {
    1: ["21"], 7: ["23", "0.25"], 10: ["31"], 13: ["32"], 15: ["33"], 16: ["34"], 19: ["35"],
    21: ["37"], 24: ["38"], 28: ["39"], 32: ["41", "41"], 35: ["42"], 43: ["44"],
    45: ["51", "56"], 48: ["55"], 58: ["58"], 64: ["61"],
}  # fmt: skip


@pytest.fixture(autouse=True)
def one_run(monkeypatch, log):
    monkeypatch.setattr(proof.reproduce, "run", lambda **options: log)


@pytest.mark.torch
def test_a_page_is_read_as_a_reader_reads_it(tmp_path):
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    site = build(tmp_path, {"index": PAGE})
    found = {}
    for warning in site.warnings:
        place, _, message = warning.partition(": the number ")
        assert message, warning
        assert "[attnlab.audit]" in message
        found.setdefault(int(place.removeprefix("index.rst:")), []).append(message.split(" ")[0])
    assert found == EXPECTED


def test_pages_can_be_left_out(tmp_path):
    pages = {"index": "5", "news/2024": "Fixed 5 errors.", "news/2025": "Fixed 6."}
    site = build(tmp_path, pages, attnlab_audit_exclude=["news/*"])
    (warning,) = site.warnings
    assert warning.startswith("index.rst:4: the number 5 ")


def test_the_category_can_be_suppressed(tmp_path):
    settings = {"suppress_warnings": ["attnlab.audit"]}
    assert build(tmp_path, {"index": "5"}, **settings).warnings == []


def test_docstrings_are_left_out(tmp_path, monkeypatch):
    (tmp_path / "documented.py").write_text('"""Module of 61."""\n\ndef f():\n    """Of 62."""\n')
    monkeypatch.syspath_prepend(tmp_path)
    page = "Of 63.\n\n.. automodule:: documented\n   :members:\n   :undoc-members:"
    extensions = ["sphinx.ext.autodoc", "attnlab.sphinxext"]
    (warning,) = build(tmp_path, {"index": page}, extensions=extensions).warnings
    assert "the number 63" in warning


# Where: the line that the author would open

SCRIPT = '''\
"""
Title
=====

Intro of 5.
"""

# %%
# The start
# ---------
#
# Words of
# 6, and :measured:`7
# <S2.softmax.the>`.

x = "Words of"

# %%
# Words of
# 8.
'''
GENERATED = """\
Title
=====

.. GENERATED FROM PYTHON SOURCE LINES 2-5

Intro of 5.

.. GENERATED FROM PYTHON SOURCE LINES 9-15

The start
---------

Words of
6, and :measured:`7
<S2.softmax.the>`.

.. code-block:: python

   x = "Words of"

.. GENERATED FROM PYTHON SOURCE LINES 18-20

Words of
8.
"""


@pytest.mark.torch
@pytest.mark.parametrize("as_list", [False, True])
def test_a_lesson_is_named_by_its_script(tmp_path, monkeypatch, as_list):
    (tmp_path / "gallery").mkdir()
    (tmp_path / "gallery" / "lesson.py").write_text(SCRIPT)

    settings = ModuleType("gallery_settings")
    settings.setup = lambda app: app.add_config_value("sphinx_gallery_conf", {}, "html", dict)
    monkeypatch.setitem(sys.modules, "gallery_settings", settings)
    folders = {"examples_dirs": "../gallery", "gallery_dirs": "lessons"}
    if as_list:
        folders = {name: ["none", folder] for name, folder in folders.items()}
    docs = tmp_path / "docs"
    pages = {"index": "Words.", "lessons/lesson": GENERATED, "lessons/more": "Nine is 9."}
    parts = ["proof", "directives", "roles", "audit"]
    extensions = ["gallery_settings", *(f"attnlab.sphinxext.{part}" for part in parts)]
    site = build(docs, pages, extensions=extensions, sphinx_gallery_conf=folders)
    places = [warning.partition(": ")[0] for warning in site.warnings if ".py" in warning]
    script = tmp_path / "gallery" / "lesson.py"
    assert sorted(places) == [f"{script}:{line}" for line in (13, 13, 20, 5)]
    assert any(warning.startswith("lessons/more.rst:4: ") for warning in site.warnings)


def test_a_place_that_is_no_file_stays_as_it_is():
    assert places.locate(None, "module.py:docstring of f:3") == "module.py:docstring of f:3"
    assert places.locate(None, "nowhere") == "nowhere"


@pytest.mark.parametrize(
    ("page", "place"),
    [
        ("Title\n\nText of 5.\n", "page"),  # nothing says which lines of the script it is from
        (".. GENERATED FROM PYTHON SOURCE LINES 2-3\n\nOther words of 5.\n", "page"),
        (".. GENERATED FROM PYTHON SOURCE LINES 2-3\n\nText of 5.\n", "script"),
    ],
)
def test_a_line_that_is_not_in_the_script_is_named_by_the_page(tmp_path, page, place):
    folders = {"examples_dirs": ["elsewhere", "gallery"], "gallery_dirs": ["other", "lessons"]}
    env = SimpleNamespace(srcdir=tmp_path, config=SimpleNamespace(sphinx_gallery_conf=folders))
    for folder in ("gallery", "lessons"):
        (tmp_path / folder).mkdir()
    script, generated = tmp_path / "gallery" / "one.py", tmp_path / "lessons" / "one.rst"
    script.write_text("# %%\n# Text of 5.\n")
    generated.write_text(page)
    found = places.locate(env, f"{generated}:3", "5")
    assert found == (f"{script}:2" if place == "script" else f"{generated}:3")
    script.unlink()
    assert places.locate(env, f"{generated}:3", "5") == f"{generated}:3"
    outside = tmp_path / "page.rst"
    outside.write_text(page)
    assert places.locate(env, f"{outside}:2", "words that are not there") == f"{outside}:2"


SMUGGLED = """
Title
=====

.. table:: 0.9031 caption

   ===  ===
   a    b
   ===  ===

.. topic:: 0.9101 topic

   Text.

0.9011 of it goes to river
--------------------------

.. describe:: thing

   It weighs 0.9341.

.. image:: picture.png
   :alt: an alt of 0.9501

.. toctree::
   :caption: contents 0.9701

   0.9711 the other <other>
"""


def test_a_number_is_found_wherever_a_reader_meets_it(tmp_path):
    (tmp_path / "picture.png").write_bytes(b"")
    built = build(tmp_path, {"index": SMUGGLED, "other": "Text."})
    for number in ("0.9031", "0.9101", "0.9011", "0.9341", "0.9501", "0.9701", "0.9711"):
        assert any(f"the number {number} stands bare" in line for line in built.warnings), number
