"""Worksheets: the answers, numbers to work with by hand, what is left out, the printed pages."""

import math
import re
import stat
import sys
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from attnlab import TOY_WORLD, ToyWorld, attention, trace_word, worksheet
from attnlab.byhand import Head
from attnlab.cli import main
from attnlab.errors import InvalidTypeError, InvalidValueError, OutputError, UnknownWordError
from attnlab.worksheet import Task, find_browser, print_pdf, worksheets

GOLDEN = Path(__file__).parent / "golden" / "worksheet.html"
RIVER, MONEY = ("the", "river", "bank"), ("the", "money", "bank")


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")  # main sets it, so have it put back
    monkeypatch.delenv(worksheet.BROWSER, raising=False)


class Reader(HTMLParser):
    """What a page holds: for each sheet its texts and tables; a table is rows of (class, text)."""

    def __init__(self, document):
        super().__init__()
        self.sheets, self.open, self.tags, self.attributes = [], [], set(), set()
        self.feed(document)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.add(tag)
        self.attributes |= set(attributes)
        if tag not in ("meta", "wbr"):
            self.open.append(tag)
        if tag == "article":
            self.sheets.append({"class": attributes["class"], "text": "", "tables": []})
        elif tag == "table":
            self.sheets[-1]["tables"].append({"class": attributes["class"], "rows": []})
        elif tag == "tr":
            self.sheets[-1]["tables"][-1]["rows"].append([])
        elif tag in ("td", "th"):
            self.sheets[-1]["tables"][-1]["rows"][-1].append([attributes.get("class", ""), ""])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.sheets and "article" in self.open:
            self.sheets[-1]["text"] += f"{data} "
            if {"td", "th"} & set(self.open):
                self.sheets[-1]["tables"][-1]["rows"][-1][-1][1] += data


def read(document):
    """The sheets of a page and their answers, in pairs."""
    sheets = Reader(document).sheets
    keys = [sheet for sheet in sheets if sheet["class"] == "sheet key"]
    return list(zip(sheets[: len(keys)], keys, strict=True))


def number(text):
    return float(text.replace("−", "-").replace("∞", "inf"))


def matrix(table):
    """A table's names and numbers, as they stand there."""
    head, *rows = [[text for _, text in row] for row in table["rows"]]
    return [row[0] for row in rows], head[1:], [row[1:] for row in rows]


def classes(sheet):
    cells = [kind for table in sheet["tables"] for row in table["rows"] for kind, _ in row]
    return {kind: cells.count(kind) for kind in ("blank", "worked", "answer")}


CASES = {
    "raw": [Task(Head(RIVER), "bank"), Task(Head(MONEY), "bank")],
    "causal": [Task(Head(RIVER, causal=True), "river")],
    "wired": [Task(Head(RIVER, "wired"), "bank")],
    "wired, causal": [Task(Head(("money", "the", "bank"), "wired", causal=True), "the")],
    "unscaled": [Task(Head(MONEY, "wired", scaled=False), "bank"), Task(Head(MONEY), "the")],
}


def given(sheet):
    """The numbers that a sheet gives, read from its tables."""
    words, _, embeddings = matrix(sheet["tables"][0])
    X = dict(zip(words, [[*map(number, row)] for row in embeddings], strict=True))
    if len(words) and "W_Q" in sheet["text"]:
        W_Q, W_K = (
            np.array([[*map(number, row)] for row in matrix(table)[2]])
            for table in sheet["tables"][1:3]
        )
    else:
        W_Q = W_K = np.eye(len(embeddings[0]))
    powers = next(table for table in sheet["tables"] if table["class"] == "given powers")
    cells = [text for row in powers["rows"][1:] for _, text in row if text]
    return X, W_Q, W_K, dict(zip(cells[::2], cells[1::2], strict=True))


def answers(key, tasks):
    """The tables of the answers, those of each task by their kind."""
    tables = iter(key["tables"])
    found = []
    for task in tasks:
        names = ["scores", "weights", "output"]
        names = ["query", "keys", *names] if task.head.name == "wired" else names
        found.append({name: next(tables) for name in names})
    assert next(tables, None) is None
    return found


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
@pytest.mark.parametrize("tasks", CASES.values(), ids=list(CASES))
def test_the_answers_are_right(tasks, seed):
    assert_answers_are_right(TOY_WORLD, tasks, seed, 0.005)


def test_the_answers_are_right_for_numbers_of_many_digits():
    world = replace(TOY_WORLD, embeddings=TOY_WORLD.embeddings * 9.8772, W_Q=TOY_WORLD.W_Q / 7)
    assert_answers_are_right(world, CASES["wired"], None, 0.0005)


def assert_answers_are_right(world, tasks, seed, half):
    """Check that they are what the package makes of the numbers that the sheet itself gives."""
    document = worksheets(world, tasks, answers=True, seed=seed, level=3)
    ((sheet, key),) = read(document)
    X, W_Q, W_K, _ = given(sheet)
    for task, tables in zip(tasks, answers(key, tasks), strict=True):
        head = task.head
        rows = np.array([X[word] for word in head.sentence])
        wired = head.name == "wired"
        asks, tells = (W_Q, W_K) if wired else (np.eye(4), np.eye(4))
        undo = 1 if wired and head.scaled else math.sqrt(asks.shape[1])
        result = attention(rows, asks * undo, tells, np.eye(4), head.causal)
        row = head.sentence.index(task.word)
        seen = row + 1 if head.causal else len(rows)

        _, columns, table = matrix(tables["weights"])
        shown = {name: [line[i] for line in table] for i, name in enumerate(columns)}
        close = {"rtol": 0, "atol": half + 1e-9}
        weights = [*map(number, shown["weight"])]
        np.testing.assert_allclose(weights, [*result.weights[row], 1], **close)
        scores = [*map(number, shown["÷ √2" if undo == 1 else "score"][:-1])]
        np.testing.assert_allclose(scores, result.scores[row], **close)
        shift = result.scores[row].max() if "− largest" in columns else 0
        powers = np.exp(result.scores[row] - shift)
        powers = [*powers, powers.sum()]
        np.testing.assert_allclose([*map(number, shown["ex"])], powers, **close)

        names, columns, table = matrix(tables["output"])
        assert columns == ["weight", *TOY_WORLD.axes]
        assert names == [*head.sentence, "output"]
        mixed = result.weights[row][:, np.newaxis] * rows
        numbers = [[*map(number, line[1:])] for line in table]
        np.testing.assert_allclose(numbers, [*mixed, result.output[row]], **close)

        queries, keys = rows @ asks, rows @ tells
        _, _, table = matrix(tables["scores"])
        products = queries[row] * keys[:seen]
        expected = np.column_stack([products, products.sum(axis=1)])
        np.testing.assert_allclose([[*map(number, line)] for line in table], expected, **close)
        if wired:
            shown = [[*map(number, line)] for line in matrix(tables["keys"])[2]]
            np.testing.assert_allclose(shown, keys[:seen], **close)
            shown = [*map(number, matrix(tables["query"])[2][0])]
            np.testing.assert_allclose(shown, queries[row], **close)


@pytest.mark.parametrize("tasks", CASES.values(), ids=list(CASES))
def test_drawn_numbers_can_be_worked_with_by_hand(tasks):
    pairs = read(worksheets(TOY_WORLD, tasks, answers=True, seed=5, copies=12, level=2))
    assert len(pairs) == 12
    for sheet, key in pairs:
        X, W_Q, W_K, powers = given(sheet)
        for word, row in X.items():
            own = TOY_WORLD.vector(word)
            assert all((entry == 0) == (old == 0) for entry, old in zip(row, own, strict=True))
            assert all(entry in (0, *(n / 10 for n in range(1, 10))) for entry in row)
        for word in X:
            for other in X:
                assert_short(np.dot(X[word], X[other]))
                assert_short(np.dot(X[word] @ W_Q, X[other] @ W_K))
        scores = []
        for task, tables in zip(tasks, answers(key, tasks), strict=True):
            _, columns, table = matrix(tables["weights"])
            seen = [line for line in table[:-1] if "∞" not in line[0]]
            scores.append([number(line[0]) for line in seen])
            assert max(map(abs, scores[-1])) <= 3
            before = columns.index("ex") - 1
            assert task.word
            assert {line[before] for line in seen} <= set(powers)
        assert max(max(row) - min(row) for row in scores) >= 0.2
        for x, power in powers.items():
            assert f"{math.exp(number(x)):.2f}" == power


def assert_short(product):
    assert product == pytest.approx(round(product, 2), abs=1e-12)


@pytest.mark.parametrize("tasks", CASES.values(), ids=list(CASES))
@pytest.mark.parametrize("seed", [None, 0])
def test_a_pupil_ends_as_near_to_the_answers_as_they_say(tasks, seed):
    """The pupil reads the sheet alone, takes exponentials from its table, and always rounds."""
    copies = 1 if seed is None else 12
    pairs = read(worksheets(TOY_WORLD, tasks, answers=True, seed=seed, copies=copies))
    exactly = set()
    for sheet, key in pairs:
        found = re.search(r"end up to (\S+) away", key["text"])
        stated = Decimal(found[1]) if found else Decimal(0)
        X, W_Q, W_K, powers = given(sheet)
        worst = Decimal(0)
        for task, tables in zip(tasks, answers(key, tasks), strict=True):
            for kind, hand in pupil(task, X, W_Q, W_K, powers).items():
                where, column = kind
                rows = matrix(tables[where])
                shown = [
                    Decimal(line[rows[1].index(column)].replace("−", "-"))
                    for name, line in zip(rows[0], rows[2], strict=True)
                    if name not in ("sum",) and "∞" not in line[rows[1].index(column)]
                ]
                shown = shown[-1:] if where == "output" else shown[: len(hand)]
                worst = max([worst, *(abs(a - b) for a, b in zip(hand, shown, strict=True))])
        assert worst <= stated
        exactly.add(worst == stated)
    assert True in exactly  # the bound is no larger than it must be


def pupil(task, X, W_Q, W_K, powers):
    """Calculate with two decimals; return what comes out by table and column."""
    cent = Decimal("0.01")

    def rounded(value):
        return value.quantize(cent, ROUND_HALF_UP)

    def decimals(row):
        return [Decimal(str(round(entry, 6))) for entry in row]

    def dot(a, b):
        return sum((rounded(x * y) for x, y in zip(a, b, strict=True)), Decimal(0))

    sentence = task.head.sentence
    row = sentence.index(task.word)
    seen = sentence[: row + 1] if task.head.causal else sentence
    rows = {word: decimals(X[word]) for word in seen}
    queries = keys = rows
    if task.head.name == "wired":
        queries = {w: [rounded(sum(map(Decimal.__mul__, rows[w], decimals(c)), Decimal(0)))
                       for c in W_Q.T] for w in seen}  # fmt: skip
        keys = {w: [rounded(sum(map(Decimal.__mul__, rows[w], decimals(c)), Decimal(0)))
                    for c in W_K.T] for w in seen}  # fmt: skip
    done = {}
    scores = done["weights", "score"] = [dot(queries[task.word], keys[word]) for word in seen]
    if task.head.name == "wired" and task.head.scaled:
        scores = done["weights", "÷ √2"] = [rounded(s / Decimal(2).sqrt()) for s in scores]
    raised = [Decimal(powers[f"{score:.2f}".replace("-", "−")]) for score in scores]
    done["weights", "ex"] = raised
    weights = done["weights", "weight"] = [rounded(power / sum(raised)) for power in raised]
    for i, axis in enumerate(TOY_WORLD.axes):
        parts = [rounded(w * rows[word][i]) for w, word in zip(weights, seen, strict=True)]
        done["output", axis] = [sum(parts)]
    return done


# Sheets of a class


def test_each_sheet_of_a_class_is_another_and_the_same_each_time():
    tasks = CASES["raw"]
    thirty = worksheets(TOY_WORLD, tasks, answers=True, seed=7, copies=30)
    assert worksheets(TOY_WORLD, tasks, answers=True, seed=7, copies=30) == thirty
    pairs = read(thirty)
    numbers = [str(given(sheet)[0]) for sheet, _ in pairs]
    assert len(set(numbers)) == 30
    some = read(worksheets(TOY_WORLD, tasks, answers=True, seed=7, copies=4))
    assert some == pairs[:4]
    others = read(worksheets(TOY_WORLD, tasks, answers=True, seed=8, copies=30))
    assert not {str(given(sheet)[0]) for sheet, _ in others} & set(numbers)
    for n, (sheet, key) in enumerate(pairs, start=1):
        assert f"Sheet {n}, seed 7" in sheet["text"]
        assert f"Answers: sheet {n}, seed 7" in key["text"]


def test_no_sheet_comes_twice_even_where_few_are_possible():
    tiny = small_world([[0.4], [0.5], [0.6]])
    task = [Task(Head(("a", "b")), "a")]
    pairs = read(worksheets(tiny, task, answers=True, seed=1, copies=20))
    assert len({str(given(sheet)[0]) for sheet, _ in pairs}) == 20
    with pytest.raises(InvalidValueError, match="found for sheet 21 that are new"):
        worksheets(tiny, task, seed=1, copies=21)  # of 81 sheets, 61 have scores too much alike


def small_world(vectors, words="abcdefgh"):
    """A world of these words, the last of which makes up a second sentence."""
    words = tuple(words[: len(vectors)])
    return ToyWorld(
        axes=tuple("xyzuvw"[: len(vectors[0])]),
        words=words,
        embeddings=np.array(vectors),
        sentences=(" ".join(words[:-1]), f"{words[0]} {words[-1]}"),
        focus=words[0],
        channels=("ch",),
        W_Q=np.full((len(vectors[0]), 1), 0.333),
        W_K=np.full((len(vectors[0]), 1), -7.0),
    )


def test_any_world_gets_handy_numbers():
    dense = small_world([[0.123, -4, 5, 6, 7], [1, 2, 3, 4, -5.5], [9, 8, 0, 6, 5], [0] * 5])
    tasks = [Task(Head(("a", "b", "c"), "wired"), "b")]
    for sheet, key in read(worksheets(dense, tasks, answers=True, seed=3, copies=5)):
        X, W_Q, W_K, _ = given(sheet)
        assert all(np.count_nonzero(row) == 3 for row in X.values())
        assert X["b"][4] < 0 < X["b"][3]  # signs stay
        assert set(W_Q.ravel()) <= {1, 2}
        assert set(W_K.ravel()) == {-1}
        _, _, table = matrix(answers(key, tasks)[0]["weights"])
        assert max(abs(number(line[0])) for line in table[:-1]) <= 3


def test_a_world_without_handy_numbers_says_so():
    alike = small_world([[0.0, 0.0]] * 3)
    with pytest.raises(InvalidValueError, match="no numbers were found for sheet 1"):
        worksheets(alike, [Task(Head(("a", "b")), "a")], seed=0)


def test_a_world_s_own_numbers_are_shown_with_the_decimals_they_need():
    world = replace(TOY_WORLD, embeddings=TOY_WORLD.embeddings * 1.25)
    ((sheet, _),) = read(worksheets(world, CASES["raw"], answers=True))
    assert given(sheet)[0]["river"] == [1.125, 0, 0.375, 0]
    assert "Round to 3 decimals" in sheet["text"]
    large = replace(TOY_WORLD, embeddings=TOY_WORLD.embeddings * 5)
    ((sheet, key),) = read(worksheets(large, CASES["raw"], answers=True, level=2))
    _, columns, _ = matrix(answers(key, CASES["raw"])[0]["weights"])
    assert columns == ["score", "− largest", "ex", "weight"]


# What is left out, and how much help there is


def test_levels():
    task = CASES["wired"]
    one, two, three = (
        read(worksheets(TOY_WORLD, task, answers=True, level=level))[0] for level in (1, 2, 3)
    )
    assert one[1] == two[1] == three[1]
    total = classes(one[1])["answer"]
    assert classes(one[1]) == {"blank": 0, "worked": 0, "answer": total}
    assert classes(one[0])["blank"] + classes(one[0])["worked"] == total
    assert classes(one[0])["worked"] > 10
    assert classes(two[0]) == classes(three[0]) == {"blank": total, "worked": 0, "answer": 0}
    for text, levels in {
        "Divide each by the sum": [one],
        "weight = e": [one],
        "For example": [one],
        "Step 4: Weights": [one, two],
        "Fill in the empty cells": [one, two, three],
        "Weights": [one, two, three],
    }.items():
        assert [text in sheet["text"] for sheet, _ in (one, two, three)] == [
            pair in levels for pair in (one, two, three)
        ]
    # What a worked row shows is what the answers show.
    for table, key in zip(one[0]["tables"][-5:], one[1]["tables"], strict=True):
        for row, answer in zip(table["rows"], key["rows"], strict=True):
            for (kind, text), (_, right) in zip(row, answer, strict=True):
                assert text == right or (kind, text) == ("blank", "")


@pytest.mark.parametrize(
    ("blank", "steps", "given_tables"),
    [
        (["rows"], ["Rows"], ["The words"]),
        (["scores"], ["Query", "Keys", "Scores"], ["The words", "W_Q", "W_K"]),
        (["weights"], ["Weights"], ["Exponentials"]),
        (["output"], ["Output"], ["The words"]),
        (["output", "weights"], ["Weights", "Output"], ["The words", "Exponentials"]),
    ],
)
def test_what_is_left_out(blank, steps, given_tables):
    document = worksheets(TOY_WORLD, CASES["wired"], blank=blank, answers=True, level=2)
    ((sheet, key),) = read(document)
    for i, step in enumerate(steps, start=1):
        assert f"Step {i}: {step}" in sheet["text"]
    assert f"Step {len(steps) + 1}" not in sheet["text"]
    for name in ("The words", "W_Q", "W_K", "Exponentials"):
        assert (name in sheet["text"]) == (name in given_tables)
    if "scores" not in blank and "weights" in blank:
        _, _, table = matrix(sheet["tables"][-len(steps)])
        assert [line[0] for line in table] == ["0.00", "1.62", "1.08", ""]
    if blank == ["output"]:
        _, _, table = matrix(sheet["tables"][-1])
        assert [line[0] for line in table] == ["0.16", "0.50", "0.34", ""]
    assert len(key["tables"]) == len(steps)


def test_without_answers_none_are_there():
    document = worksheets(TOY_WORLD, CASES["raw"], level=3)
    (sheet,) = Reader(document).sheets
    assert sheet["class"] == "sheet"
    assert "0.43" not in document
    assert "answer" not in document.split("</style>")[1]


def test_the_page_is_whole_and_asks_for_nothing():
    document = worksheets(TOY_WORLD, CASES["wired"], answers=True)
    parsed = Reader(document)
    assert document.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert not {"script", "link", "img", "iframe"} & parsed.tags
    assert not {"src", "href", "style", "onclick"} & parsed.attributes
    assert "url(" not in document


def test_a_sheet_is_the_same_everywhere(capsys):
    arguments = ["the river bank", "--seed", "1", "--level", "2", "--answers", "--head", "wired"]
    assert main(["worksheet", *arguments, "-o", "sheet.html"]) == 0
    assert capsys.readouterr() == ("wrote sheet.html\n", "")
    assert Path("sheet.html").read_bytes() == GOLDEN.read_bytes()


def test_words_that_html_could_mistake():
    words = ("a", "<b>", "&amp;", "שלום", "a_very_long_word_that_runs_on_and_on_so_")
    world = small_world([[0.1 * i, 0.5] for i in range(6)], (*words, "z"))
    tasks = [Task(Head(words, "wired"), "<b>")]
    parsed = Reader(worksheets(world, tasks, answers=True, title="1 < 2"))
    assert {"b"} & parsed.tags == {"b"}  # those of the exponentials
    text = "".join(sheet["text"] for sheet in parsed.sheets)
    for word in (*words, "1 < 2"):
        assert word in text


# What is refused


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tasks": []}, InvalidValueError, "at least one task"),
        (
            {"tasks": [Task(Head(RIVER, sharpness=2), "bank")]},
            InvalidValueError,
            "the sharpness of a task's head must be 1, but it is 2",
        ),
        ({"blank": []}, InvalidValueError, "some of rows, scores, weights, output, but it"),
        ({"blank": ["wieghts"]}, InvalidValueError, "did you mean 'weights'"),
        ({"level": 4}, InvalidValueError, "level must be 1, 2 or 3, but it is 4"),
        ({"level": True}, InvalidTypeError, "level must be a whole number, but it is True"),
        ({"copies": 0}, InvalidValueError, "copies must be from 1 to 200, but it is 0"),
        ({"copies": 201, "seed": 1}, InvalidValueError, "from 1 to 200, but it is 201"),
        ({"copies": 2}, InvalidValueError, "2 copies would all have the same numbers; give a seed"),
        ({"seed": 1.5}, InvalidTypeError, "seed must be a whole number, but it is 1.5"),
        ({"paper": "a5"}, InvalidValueError, "paper 'a5' is not known"),
        ({"tasks": [Task(Head(RIVER), "money")]}, InvalidValueError, "stands there nowhere"),
        ({"tasks": [Task(Head(("the", "rivr")), "the")]}, UnknownWordError, "did you mean 'river'"),
    ],
)  # fmt: skip
def test_what_is_refused(options, error, message):
    tasks = options.pop("tasks", CASES["raw"])
    with pytest.raises(error, match=re.escape(message)):
        worksheets(TOY_WORLD, tasks, **options)


MISTAKES = {
    "ending": (["the bank", "-o", "sheet.txt"], "written to a .html or a .pdf file, but -o is"),
    "unknown word": (["the rivr bank", "-o", "s.html"], "did you mean 'river'"),
    "empty": (["", "-o", "s.html"], "must hold at least one word"),
    "no focus": (["the river", "-o", "s.html"], "'bank' must stand once in the sentence"),
    "blank": (["the bank", "-o", "s.html", "--blank", "score"], "did you mean 'scores'"),
    "no blank": (["the bank", "-o", "s.html", "--blank", ","], "blank must be some of"),
    "copies": (["the bank", "-o", "s.html", "--copies", "3"], "give a seed to have them differ"),
    "unscaled": (["the bank", "-o", "s.html", "--unscaled"], "goes with head: wired only"),
    "world": (["the bank", "-o", "s.html", "--world", "none"], "there is no such file"),
    "browser": (["the bank", "-o", "s.pdf", "--browser", "nix"], "--browser must name the program"),
    "folder": (["the bank", "-o", "folder.html"], "it is a folder, and a file is wanted"),
}


@pytest.mark.parametrize(("arguments", "shown"), MISTAKES.values(), ids=list(MISTAKES))
def test_mistakes_are_answered_in_one_line(tmp_path, capsys, contents, arguments, shown):
    (tmp_path / "folder.html").mkdir()
    before = contents(tmp_path)
    assert main(["worksheet", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("attnlab: ")
    assert err.count("\n") == 1
    assert shown in err
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [(["x"], "-o/--output"), (["x", "-o", "s.html", "--level", "4"], "invalid choice: 4"),
     (["x", "-o", "s.html", "--seed", "one"], "invalid int value")],
)  # fmt: skip
def test_usage(capsys, arguments, shown):
    with pytest.raises(SystemExit) as caught:
        main(["worksheet", *arguments])
    assert caught.value.code == 2
    assert shown in capsys.readouterr().err


def test_without_a_browser(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(worksheet, "BROWSERS", ("no-such-browser",))
    assert main(["worksheet", "the bank", "-o", "s.pdf"]) == 2
    assert "write a .html file and print that from any browser" in capsys.readouterr().err
    monkeypatch.setenv(worksheet.BROWSER, "nowhere")
    with pytest.raises(OutputError, match="ATTNLAB_BROWSER must name the program of a browser"):
        find_browser()
    monkeypatch.setenv(worksheet.BROWSER, sys.executable)
    assert find_browser() == sys.executable
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
@pytest.mark.parametrize(
    ("script", "message"),
    [("echo no display >&2; exit 3", r"did not print a PDF \(exit code 3\): no display"),
     ("exit 0", r"did not print a PDF \(exit code 0\): it said nothing")],
)  # fmt: skip
def test_a_browser_that_does_not_print(tmp_path, capsys, script, message):
    program = tmp_path / "browser"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "s.pdf").write_bytes(b"earlier")
    assert main(["worksheet", "the bank", "-o", "s.pdf", "--browser", str(program)]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert (tmp_path / "s.pdf").read_bytes() == b"earlier"
    program.write_text("no program")
    with pytest.raises(OutputError, match="cannot print"):
        print_pdf("", str(program))


# On paper


@pytest.fixture(scope="session")
def chromium():
    try:
        return find_browser()
    except OutputError:
        pytest.skip("no browser is installed")


SIZES = {"a4": (595, 842), "letter": (612, 792)}


@pytest.mark.parametrize("paper", SIZES)
@pytest.mark.parametrize(
    ("arguments", "pages"),
    [
        (["the river bank", "the money bank", "--level", "1"], 3 + 1),
        (["the river bank", "--level", "3"], 1 + 1),
        (["the river bank", "--head", "wired", "--level", "2"], 2 + 1),
        (["the river bank", "--seed", "2", "--copies", "3", "--blank", "weights"], 3 + 3),
    ],
)
def test_a_sheet_on_paper(chromium, capsys, paper, arguments, pages):
    pypdf = pytest.importorskip("pypdf", reason="pypdf is not installed")
    options = ["--answers", "--paper", paper, "-o", "s.pdf"]
    assert main(["worksheet", *arguments, *options]) == 0
    assert main(["worksheet", *arguments, *options[:-1], "s.html"]) == 0
    assert capsys.readouterr().err == ""
    reader = pypdf.PdfReader("s.pdf")
    assert len(reader.pages) == pages
    printed = ""
    for page in reader.pages:
        width, height = map(float, page.mediabox[2:])
        assert (width, height) == pytest.approx(SIZES[paper], abs=1)
        assert_within(page, width, height)
        printed += page.extract_text()
    sheets = Reader(Path("s.html").read_text("utf-8")).sheets
    for sheet in sheets:
        for word in re.findall(r"[a-z]{3,}|\d\.\d\d", sheet["text"]):
            assert word in printed
    # A sheet begins on a page of its own, and so do the answers.
    starts = [page.extract_text().lstrip("\n 0123456789") for page in reader.pages]
    begun = [text for text in starts if text.startswith(("Self-attention by hand", "Answers"))]
    assert len(begun) == len(sheets)


def assert_within(page, width, height):
    """Check that all text of a page stands within its margins."""
    seen = []

    def visit(text, cm, tm, font, size):
        if text.strip():
            x = tm[4] * cm[0] + cm[4]
            y = tm[5] * cm[3] + cm[5]
            seen.append((x, y))

    page.extract_text(visitor_text=visit)
    assert len(seen) > 5
    for x, y in seen:
        assert 30 < x < width - 40
        assert 10 < y < height - 20


#: WCAG 2.2 to level AA, and what axe's makers think good besides.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (320, "dark")])
def test_pages_are_accessible_and_ask_for_nothing(chromium, width, scheme):
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    axe = pytest.importorskip("axe_playwright_python", reason="axe is not installed")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text("utf-8")
    Path("sheet.html").write_text(worksheets(TOY_WORLD, CASES["unscaled"], answers=True), "utf-8")
    traced = trace_word(TOY_WORLD, "the river bank", head="wired", causal=True)
    Path("trace.html").write_text(traced.write("html"), "utf-8")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in ("sheet.html", "trace.html"):
            page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            asked = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto(Path(name).resolve().as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.evaluate(script)
            found = page.evaluate(
                "rules => axe.run(document, {runOnly: rules, resultTypes: ['violations']})"
                ".then(({violations}) => violations.map(({id, nodes}) => [id, nodes[0].html]))",
                RULES,
            )
            assert found == []
            assert len(asked) == 1
        browser.close()


def test_a_large_world_is_not_cut(chromium):
    """All tables are as wide as the page, at most."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    words = (*(f"word{i:02}" for i in range(11)), "x" * 40, "w")
    world = ToyWorld(
        axes=(*(f"axis{i:02}" for i in range(15)), "y" * 40),
        words=words,
        embeddings=np.arange(13 * 16).reshape(13, 16) % 10 / 10,
        sentences=(" ".join(words[:-1]), "word00 w"),
        focus=words[0],
        channels=(*(f"channel{i:02}" for i in range(15)), "z" * 40),
        W_Q=np.eye(16),
        W_K=np.eye(16),
    )
    tasks = [Task(Head(words[:-1], "wired"), words[-2])]
    document = worksheets(world, tasks, answers=True, level=1)
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 680, "height": 900})  # 180 mm
        page.emulate_media(media="print")
        page.set_content(document)
        assert page.evaluate("document.documentElement.scrollWidth") <= 680
        cut = page.evaluate(
            "[...document.querySelectorAll('th, td')]"
            ".filter(cell => cell.scrollWidth > cell.clientWidth + 1).map(cell => cell.innerText)"
        )
        assert cut == []
        browser.close()
