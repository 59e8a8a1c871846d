"""The tables of matrices: right arithmetic in every cell, the log's exact text, in any browser."""

import itertools
import math
import re
from dataclasses import replace

import pytest

pytest.importorskip("sphinx", reason="the site's packages are not installed")

from bs4 import BeautifulSoup
from real_site import CHROMIUM, LESSONS, ONLY_HERE, SWITCHES, served
from small_site import build

from attnlab import TOY_WORLD
from attnlab.errors import AttnlabError
from attnlab.sphinxext import tables
from attnlab.sphinxext.directives import attention_tables
from attnlab.sphinxext.tables import explained, log_tables, pieces, with_indent

# Every build makes a whole run, and so compares with PyTorch.
pytestmark = pytest.mark.torch

WORDS = {w: TOY_WORLD.vector(w).tolist() for w in TOY_WORLD.words}
W_Q, W_K = TOY_WORLD.W_Q.tolist(), TOY_WORLD.W_K.tolist()
#: The matrices of the log by the block that shows them: the lesson, and what the numbers are.
MATRICES = {
    "S1.embeddings": (1, None),
    "S3.scores.river_bank": (3, "raw scores"),
    "S3.weights.river_bank": (3, "raw weights"),
    "S3.weights.money_bank": (3, "raw weights"),
    "S4.queries_and_keys": (4, "channels"),
    "S4.scores": (4, "wired scores"),
    "S4.weights": (4, "wired weights"),
    "S6.causal_weights": (6, "causal weights"),
}


@pytest.fixture(scope="module")
def found(log):
    """The tables of the log by block."""
    by_text = {
        tuple(lines): (lines, end, table) for lines, end, table in log_tables(log, TOY_WORLD)
    }
    return {name: by_text[tuple(block(log, name))] for name in MATRICES}


def block(log, name):
    return [log.lines[number - 1].text for number in log.blocks[name]]


def flat(rows):
    return [entry for row in rows for entry in row]


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def project(word, matrix):
    return [dot(WORDS[word], column) for column in zip(*matrix, strict=True)]


def score(kind, query, key):
    if kind == "raw":
        return dot(WORDS[query], WORDS[key])
    return dot(project(query, W_Q), project(key, W_K))


def shown(value, places=3):
    return "−∞" if value == -math.inf else f"{value:z.{places}f}".replace("-", "−")


NUMBER = re.compile(r"−?(?:\d+(?:\.\d+)?|∞)")


def assert_follows(line):
    """What stands after the last sign of a line follows from what stands before it.

    Numbers before ≈ may be rounded themselves, by half of their last place up or down.
    """
    expression, sign, right = re.search(r"(?:.*(?:: |[=≈] ))?(.+) ([=≈]) (\S+)$", line).groups()
    if re.search(r"[a-z]", expression.replace("e^", "")):
        return  # names, as in bank · river = 0.540
    expression = re.sub(r"e\^(\S+)", r"exp(\1)", expression).replace("√2", "root")
    numbers = NUMBER.findall(expression)
    python = NUMBER.sub("({})", expression).replace("×", "*").replace("−", "-")
    half = [0.5 * 10 ** -len(number.partition(".")[2]) * (sign == "≈") for number in numbers]
    results = [
        eval(python.format(*values), {"exp": math.exp, "root": math.sqrt(2), "inf": math.inf})
        for values in itertools.product(
            *([plain(x) - h, plain(x) + h] for x, h in zip(numbers, half, strict=True))
        )
    ]
    places = len(right.partition(".")[2])
    widest = 0.5000001 * 10**-places
    assert min(results) - widest <= plain(right) <= max(results) + widest, line


def plain(number):
    return float(number.replace("−", "-").replace("∞", "inf"))


@pytest.mark.parametrize("name", [name for name, (_, what) in MATRICES.items() if what])
def test_every_cell_has_arithmetic_that_is_right(found, name):
    _, _, table = found[name]
    kind, _, what = MATRICES[name][1].partition(" ")
    cells = 0
    for row, values, explanations in zip(table.rows, table.values, table.arithmetic, strict=True):
        hidden = table.columns[table.rows.index(row) + 1 :] if kind == "causal" else []
        scores = {
            column: -math.inf if column in hidden else score(kind, row, column)
            for column in (table.columns if what else ())
        }
        root = math.sqrt(2) if kind in ("wired", "causal") else 1
        powers = {column: math.exp(s / root) for column, s in scores.items()}
        total = math.fsum(powers.values())
        for column, value, lines in zip(table.columns, values, explanations, strict=True):
            cells += 1
            for line in lines[1:]:
                if " = " in line or " ≈ " in line:
                    assert_follows(line)
            if what == "weights":
                share = powers[column] / total
                assert value == pytest.approx(share, abs=1e-12)
                numbers = [shown(scores[column])]
                if root != 1 and column not in hidden:
                    numbers.append(shown(scores[column] / root))
                numbers += [shown(powers[column]), shown(total), shown(share)]
                assert [NUMBER.findall(line)[-1] for line in lines[1:]] == numbers
                given, whole = map(float, NUMBER.findall(lines[-1])[:2])
                assert given / whole == pytest.approx(share, abs=0.001)
                assert lines[0] == f"{row} looks at {column}: {shown(share)}"
            elif what == "scores":
                assert value == pytest.approx(scores[column], abs=1e-12)
                assert lines[0] == f"{row} looks at {column}: {shown(value)}"
                assert lines[-1].endswith(f"= {shown(scores[column])}")
                products = [float(line.rpartition(" ")[2]) for line in lines[1:-1]]
                assert sum(products) == pytest.approx(value, abs=1e-12)
                assert len(products) == (4 if kind == "raw" else 2)
            else:
                letter, channel = column.split(", ")
                side = project(row, W_Q if letter == "query" else W_K)
                expected = side[TOY_WORLD.channels.index(channel)]
                assert value == pytest.approx(expected, abs=1e-12)
                assert lines[-1].endswith(f"= {shown(expected, 2)}")
                assert lines[-1].startswith(f"{letter[0]}_{channel} = ")
                assert len(lines) == 1 + 4 + 1
    assert cells == len(table.rows) * len(table.columns) >= 9


def test_the_log_has_these_matrices_and_no_others(found, log):
    assert len(log_tables(log, TOY_WORLD)) == len(MATRICES)
    for name, (lines, end, table) in found.items():
        assert table.caption == lines[0].strip(" :")
        assert table.shaded == ("weights" in name)
        printed = [line.split() for line in lines[:end] if line.split()[0] in table.rows]
        assert [line[0] for line in printed][-len(table.rows) :] == table.rows
        numbers = re.findall(r"\d\.\d+", " ".join(lines[1:end]))
        assert flat(table.cells()) == numbers
    assert found["S3.scores.river_bank"][1] == len(found["S3.scores.river_bank"][0]) - 1
    assert found["S1.embeddings"][2].arithmetic == ()
    assert found["S1.embeddings"][2].cells()[3] == ["0.3", "0.3", "0.9", "0.0"]


def test_arithmetic_that_ends_elsewhere_is_refused(found):
    _, _, table = found["S4.weights"]
    options = {"sentence": "the river bank", "head": "wired"}
    assert explained(table, TOY_WORLD, "weights", options).arithmetic == table.arithmetic
    with pytest.raises(AttnlabError, match=r"the looks at the is 0\.201, but its arithmetic ends"):
        explained(table, TOY_WORLD, "weights", options | {"unscaled": ""})


def test_tables_of_any_sentence():
    def table(what, sentence, **options):
        return attention_tables(TOY_WORLD, sentence, {"show": what, **options})[2][0]

    hidden = table("scores", "bank river", head="wired", causal="")
    assert hidden.arithmetic[0][1] == [
        "bank looks at river: −∞",
        "river comes later and is hidden: −∞",
    ]
    assert hidden.arithmetic[1][0][-2:] == [
        "q_river · k_bank = 0.36 + 0 = 0.360",
        "score: 0.360 / √2 ≈ 0.255",
    ]
    output = table("output", "the river money bank")
    assert output.arithmetic[3][0] == [
        "bank, water: 0.344",
        "water ≈ 0.146 × 0.0 + 0.251 × 0.9 + 0.210 × 0.0 + 0.393 × 0.3 ≈ 0.344",
    ]
    for what in ("weights", "scores", "output"):
        bank, the, bank_again = table(what, "bank the bank").arithmetic
        assert not any(bank + bank_again)  # which of the two would be meant?
        assert [bool(lines) for lines in the][:3] == [what != "scores", True, what != "scores"]
    assert table("weights", "bank the bank", causal="").arithmetic[1][2][1] == "score: −∞"


def test_large_scores_are_less_the_largest():
    loud = replace(TOY_WORLD, embeddings=TOY_WORLD.embeddings * 5)
    _, _, (table,) = attention_tables(loud, "the river bank", {})
    assert table.arithmetic[2][1][2] == "less the largest: 13.500 − 24.750 = −11.250"
    assert table.arithmetic[2][2][3] == "exponential: e^0.000 = 1.000"


def test_lines_of_the_log_get_their_indent_back(log):
    for name in log.blocks:
        exact = "\n".join(block(log, name)).strip("\n")
        if exact:
            indent = min(len(line) - len(line.lstrip()) for line in exact.split("\n"))
            cut = "\n".join(line[indent:] for line in exact.split("\n"))
            assert with_indent(cut, log) == exact
    both = f"{block(log, 'S1.one_row')[0]}\n\n{block(log, 'S6.counts')[0]}"
    assert with_indent(both.replace("  note", "note").replace("  one", "one"), log) == both
    for other in ("note: 'bank' has two rows", "a line\n  symmetric? False", "[S1] the toy world"):
        assert with_indent(other, log) == other


def test_an_output_is_cut_where_tables_are(found):
    known = list(found.values())
    scores, end, table = found["S4.scores"]
    weights, _, other = found["S4.weights"]
    printed = ["Before", *scores, "Between", *weights]
    assert list(pieces(printed, known)) == [
        (["Before"], None),
        (scores[:end], table),
        ([scores[end], "Between"], None),
        (weights, other),
    ]
    assert list(pieces(scores[:-1], known)) == [(scores[:-1], None)]  # not the whole block


# On a page


def output(text):
    """A cell's output as sphinx-gallery writes it."""
    body = "\n".join(f"    {line}".rstrip() for line in text.split("\n"))
    return f".. rst-class:: sphx-glr-script-out\n\n .. code-block:: none\n\n{body}\n\n"


@pytest.fixture(scope="module")
def texts(log):
    texts = {name: "\n".join(block(log, name)) for name in MATRICES}
    texts["S1.embeddings"] = "\n".join([*block(log, "S1.heading"), texts["S1.embeddings"]])
    return texts | {"other": "  a line\n  of 0.5", "outputs": "\n".join(block(log, "S3.outputs"))}


@pytest.fixture(scope="module")
def pages(texts):
    wrong = texts["S4.weights"].replace("0.341", "0.342")
    return {
        "index": "".join(map(output, texts.values())),
        "wrong": output(wrong),
        "none": "Nothing printed.",
        "directive": ".. attention:: the river\n   :show: weights, output\n\n"
        ".. attention:: the river money bank the\n",
    }


@pytest.fixture(scope="module")
def small(tmp_path_factory, pages):
    return build(tmp_path_factory.mktemp("small"), pages)


def parsed(site, name="index"):
    text = (site.out / f"{name}.html").read_text("utf-8")
    return BeautifulSoup(text, "html.parser", preserve_whitespace_tags={"pre", "p", "td"})


def test_a_page_shows_every_line_as_printed_and_each_once(small, texts):
    assert small.warnings == []
    outputs = parsed(small).select(".sphx-glr-script-out")
    assert len(outputs) == len(texts)
    for node, (name, text) in zip(outputs, texts.items(), strict=True):
        printed = "".join(pre.get_text() for pre in node.select("pre"))
        assert printed == (text if name != "other" else "a line\nof 0.5") + "\n"


def test_tables_have_captions_scopes_shades_and_arithmetic(small, found):
    drawn = parsed(small).select(".attnlab-output table")
    for node, (name, (lines, _, table)) in zip(drawn, found.items(), strict=True):
        assert node.select_one(".caption-text").get_text() == lines[0].strip(" :")
        assert [th.get_text() for th in node.select("thead th[scope=col]")] == table.columns
        assert [th.get_text() for th in node.select("tbody th[scope=row]")] == table.rows
        assert node.find_parent(class_="attnlab-scroll")["aria-label"] == table.caption
        cells = node.select("tbody td")
        assert [td.p.get_text() for td in cells] == flat(table.cells())
        for td, value in zip(cells, flat(table.values), strict=True):
            shades = [c for c in td.get("class", []) if c.startswith("w")]
            assert shades == ([f"w{int(10 * value + 0.5)}"] if "weights" in name else [])
        for td, lines in zip(cells, flat(table.arithmetic), strict=False):
            assert td["tabindex"] == "0"
            (told,) = td.select(f"#{td['aria-describedby']}")
            assert told.get_text("") == "\n".join(lines)
        assert bool(node.select("[tabindex]")) == (name != "S1.embeddings")
        (first,) = node.select(".attnlab-shown") or [None]
        assert first is None if name == "S1.embeddings" else first in cells[-4:]
        fold = node.find_parent(class_="attnlab-output").find("details")
        assert not fold.has_attr("open")
        assert fold.summary.get_text() == "As printed"
    ids = [tag["id"] for tag in parsed(small).select("[id]")]
    assert len(ids) == len(set(ids))
    assert not parsed(small).select("[role=main] [style]")
    scripts = [s["src"].split("?")[0] for s in parsed(small).select("script[defer]")]
    assert "_static/attnlab-tables.js" in scripts
    assert (small.out / "_static" / "attnlab-tables.js").is_file()


def test_powers_stand_above_and_names_below_and_both_are_read_out(small):
    page = str(parsed(small))
    assert 'q<span class="attnlab-aloud">_</span><sub>bank</sub> · k<span' in page
    assert 'e<span class="attnlab-aloud">^</span><sup>1.146</sup> ≈ 3.144' in page


def test_room_is_kept_and_a_wide_table_has_it_below(small):
    boxes = parsed(small, "directive").select(".attnlab-explained")
    assert [box["class"][1:] for box in boxes] == [
        ["attnlab-beside", "attnlab-room-5"],
        ["attnlab-beside", "attnlab-room-4"],
        ["attnlab-below", "attnlab-room-6"],
    ]
    rounded = [tables.ROUNDED in box.select_one(".attnlab-hint").get_text() for box in boxes]
    assert rounded == [True] * 3
    exact = parsed(small).select(".attnlab-matrix")[1].find_parent(class_="attnlab-explained")
    assert exact.select_one(".attnlab-hint").get_text() == tables.HINT
    sheet = (small.out / "_static" / "attnlab-proof.css").read_text("utf-8")
    assert all(f".attnlab-room-{n} {{ --lines: {n}; }}" in sheet for n in tables.ROOM)


def test_what_differs_from_the_run_is_left_alone(small):
    page = parsed(small, "wrong")
    assert not page.select("table, details, .attnlab-output")
    assert page.select_one(".sphx-glr-script-out pre").get_text().startswith("weights after")


def test_arithmetic_that_is_wrong_is_a_warning_and_no_table(tmp_path, monkeypatch, texts):
    monkeypatch.setitem(tables._ARITHMETIC, "weights", lambda *_: ["share: 1 / 2 = 0.500"])
    site = build(tmp_path, {"index": output(texts["S4.weights"])})
    (warning,) = site.warnings
    assert "is 0.576, but its arithmetic ends in 'share: 1 / 2 = 0.500'" in warning
    assert not parsed(site).select("table")


def test_other_builders_show_table_and_text(tmp_path, pages, texts):
    site = build(tmp_path, pages, builder="text")
    text = (site.out / "index.txt").read_text("utf-8")
    assert re.search(r"^\| the +\| 0\.201 +\| 0\.276 +\| 0\.522 +\|$", text, re.MULTILINE)
    assert texts["S4.weights"].split("\n")[2] in text
    assert "exponential" not in text
    assert site.warnings == []


def test_serial_and_parallel_builds_are_the_same(tmp_path, pages, small):
    many = pages | {f"more{i}": pages["index"] for i in range(6)}
    serial, parallel = (
        build(tmp_path / str(jobs), many, parallel=jobs, html_last_updated_fmt=None)
        for jobs in (1, 2)
    )
    for name in many:
        one, two = ((site.out / f"{name}.html").read_bytes() for site in (serial, parallel))
        assert one == two
    assert (small.out / "wrong.html").read_bytes() == (serial.out / "wrong.html").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 7))
def test_a_lesson_shows_its_section_letter_for_letter_and_all_its_matrices(site, log, number):
    page = (site / "lessons" / f"{LESSONS[number - 1]}.html").read_text("utf-8")
    page = BeautifulSoup(page, "html.parser", preserve_whitespace_tags={"pre"})
    printed = iter("".join(pre.get_text() for pre in page.select("pre")).split("\n"))
    for name in log.blocks:
        for line in block(log, name) if name.startswith(f"S{number}.") else ():
            if "[plot saved" not in line and "max |difference|" not in line:
                assert line in printed  # and after those before it
    tables = [name for name, (lesson, _) in MATRICES.items() if lesson == number]
    assert len(page.select(".attnlab-output table")) == len(tables)
    ids = [tag["id"] for tag in page.select("[id]")]
    assert len(ids) == len(set(ids))


# In a browser


@pytest.fixture(scope="module")
def open_lesson(site):
    """Open a lesson of the real site."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}")
    with driver.sync_playwright() as run, served(site) as address:
        browser = run.chromium.launch(executable_path=CHROMIUM, args=[*SWITCHES, ONLY_HERE])

        def open_lesson(number, width=1280, **options):
            page = browser.new_page(viewport={"width": width, "height": 844}, **options)
            page.goto(f"{address}lessons/{LESSONS[number - 1]}.html")
            return page

        yield open_lesson
        browser.close()


CORNER = {"position": {"x": 9, "y": 9}}
VISIBLE = """box => [...box.querySelectorAll('.attnlab-arithmetic')].filter(
    told => getComputedStyle(told).visibility === 'visible').map(told => told.innerText)"""
#: Whether the box with the arithmetic is whole: outside the table, on the page, and nothing cuts
#: or covers it.
WHOLE = """told => {
    told.scrollIntoView({block: 'center', behavior: 'instant'});
    const {left, right, top, bottom} = told.getBoundingClientRect();
    const table = told.closest('.attnlab-scroll').getBoundingClientRect();
    const at = (x, y) => told.contains(document.elementFromPoint(x, y));
    return (top >= table.bottom || left >= table.right) && left >= 0 && right <= innerWidth
        && told.scrollWidth <= told.clientWidth
        && at(left + 2, top + 2) && at(right - 2, top + 2)
        && at(left + 2, bottom - 2) && at(right - 2, bottom - 2);
}"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["hover", "focus", "tap", "hover without a script"])
@pytest.mark.parametrize("lesson", [3, 4, 6])
def test_every_cell_of_every_matrix_shows_its_arithmetic(open_lesson, found, lesson, way):
    matrices = [found[name][2] for name, (number, _) in MATRICES.items() if number == lesson]
    page = open_lesson(
        lesson,
        390 if way in ("tap", "focus") else 1280,
        has_touch=way == "tap",
        java_script_enabled="without" not in way,
        reduced_motion="reduce",
    )
    boxes = page.locator(".attnlab-explained")
    assert boxes.count() == len(matrices)
    told = 0
    for box, table in zip(boxes.all(), matrices, strict=True):
        assert box.evaluate(VISIBLE)[0].startswith(table.rows[-1])  # something at first
        cells = box.locator("tbody td").all()
        for td, lines in zip(cells, flat(table.arithmetic), strict=True):
            getattr(td, way.split()[0])(
                **({} if way == "focus" else {"position": {"x": 9, "y": 9}})
            )
            (shown,) = box.evaluate(VISIBLE)
            assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", "".join(lines))
            told += 1
            if way != "hover":
                assert td.locator(".attnlab-arithmetic").evaluate(WHOLE) or "without" in way
    assert told == sum(len(table.rows) * len(table.columns) for table in matrices)
    page.close()


@pytest.mark.slow
def test_the_arithmetic_stays_while_the_pointer_is_on_it(open_lesson):
    page = open_lesson(3)
    box = page.locator(".attnlab-explained").nth(1)
    cell = box.locator("tbody td").first
    told = cell.locator(".attnlab-arithmetic")
    cell.hover(**CORNER)
    page.wait_for_timeout(400)
    told.hover()
    page.wait_for_timeout(400)
    assert box.evaluate(VISIBLE) == [told.inner_text()]
    # A pressed cell keeps its arithmetic, however long the pointer rests on others on its way.
    cell.click(**CORNER)
    box.locator("tbody td").nth(5).hover(**CORNER)
    page.wait_for_timeout(400)
    assert box.evaluate(VISIBLE) == [told.inner_text()]
    page.keyboard.press("Escape")
    page.wait_for_timeout(400)
    assert box.evaluate(VISIBLE) == [
        box.locator("tbody td").nth(5).locator(".attnlab-arithmetic").inner_text()
    ]
    page.close()


@pytest.mark.slow
def test_a_table_is_one_stop_of_the_tab_key_with_arrow_keys_inside(open_lesson):
    page = open_lesson(4)
    box = page.locator(".attnlab-explained").nth(2)
    focused = "document.activeElement.querySelector('p')?.innerText"
    box.locator(".attnlab-scroll").focus()
    page.keyboard.press("Tab")
    walk = [page.evaluate(focused)]
    for key in ("Left", "Left", "Up", "Up", "Up", "Right", "Right", "Down"):
        page.keyboard.press(f"Arrow{key}")
        walk.append(page.evaluate(focused))
    assert walk == ["0.500", "0.159", "0.159", "0.266", "0.201", "0.201", "0.276", "0.522", "0.344"]
    assert box.evaluate(VISIBLE)[0].startswith("river looks at bank: 0.344")
    page.keyboard.press("x")  # no arrow
    page.keyboard.press("Tab")
    assert not box.evaluate("box => box.querySelector('table').contains(document.activeElement)")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(focused) == "0.344"
    page.close()


@pytest.mark.slow
def test_the_printed_lines_are_one_press_away(open_lesson, log):
    page = open_lesson(3, 390)
    fold = page.locator(".attnlab-printed").first
    assert not fold.locator("pre").is_visible()
    fold.locator("summary").click()
    exact = "\n".join(block(log, "S3.scores.river_bank")[:-1])
    assert fold.locator("pre").evaluate("pre => pre.textContent") == exact + "\n"
    page.close()


@pytest.mark.slow
def test_on_paper_the_table_stands_alone(open_lesson):
    page = open_lesson(3)
    page.emulate_media(media="print")
    assert page.locator(".attnlab-output table").first.is_visible()
    assert page.locator(".attnlab-arithmetic:visible, .attnlab-hint:visible").count() == 0
    page.close()
