"""Exercises: what the page, the book of plain text and the download get, and what is refused."""

import re

import pytest

pytest.importorskip("sphinx", reason="the site's packages are not installed")

from small_site import RESULTS, build

from attnlab import TOY_WORLD, byhand
from attnlab.errors import AttnlabError, InvalidValueError
from attnlab.sphinxext import downloads, exercises, proof

pytestmark = pytest.mark.torch

ONE = """\
.. exercise:: sharp.river

   .. calculation:: sharp = softmax bank
      :sentence: the river bank
      :sharpness: 2

   Double the scores :measured:`0.54 <S2.scores.river>` and the others. What share does *river* get?

   .. mistake:: exp(2 *
      S2.scores.river)

      This is the exponential. Its share is :math:`p`.

      Divide it by the sum.

   .. mistake:: 2 * S2.softmax.river

      You doubled the share.

   .. solution::

      It is :measured:`0.26 <sharp.river>`:

      .. by-hand:: softmax bank
         :sharpness: 2
"""
TWO = """\
.. exercise:: S1.embedding.river.place + S1.embedding.bank.place
   :places: 1

   Add the places of *river* and *bank*.

   .. mistake:: S1.embedding.river.place

      Add *bank*.

   .. solution::

      Add the two.
"""
WHOLE = """\
.. exercise:: S6.heads * S6.parameters.head

   How many?

   .. solution:: \n
      Multiply.
"""
PLACES = {0: "a whole number", 1: "to one decimal", 3: "to three decimals", 9: "to nine decimals"}


@pytest.fixture(autouse=True)
def one_run(monkeypatch, log):
    """Let every build of these tests share one run."""
    monkeypatch.setattr(proof.reproduce, "run", lambda **options: log)


@pytest.fixture
def good(tmp_path):
    return build(tmp_path, {"index": f"{ONE}\n{TWO}\n{WHOLE}", "results": RESULTS})


def words(node):
    return " ".join(node.get_text(" ", strip=True).split()).replace(" .", ".").replace(" :", ":")


def test_the_good_page_has_no_warning_and_is_counted(good):
    assert good.warnings == []
    # Beside the two in the text: three answers and three mistakes.
    assert "8 numbers proved, 0 claims held" in good.said
    assert "3 exercises checked" in good.said


def test_the_script_gets_the_answer_and_what_mistakes_lead_to_from_the_run(good, log):
    sharp = byhand.calculate(TOY_WORLD, "softmax bank", {"sharpness": "2"}).result[1]
    first, second, third = good.page().select(".attnlab-exercise")
    assert float(first["data-answer"]) == pytest.approx(sharp, rel=1e-12)
    assert (first["data-places"], first["data-wanted"]) == ("3", "to three decimals")
    scores, shares = log.measurements["S2.scores.river"], log.measurements["S2.softmax.river"]
    assert [float(item["data-value"]) for item in first.select("li")] == pytest.approx(
        [2.718281828459045 ** (2 * scores.value), 2 * shares.value], rel=1e-12
    )
    assert (second["data-places"], second["data-wanted"]) == ("1", "to one decimal")
    assert (third["data-places"], third["data-wanted"]) == ("0", "a whole number")
    assert float(third["data-answer"]) == 12 * 147456
    assert {exercise["data-page"] for exercise in (first, second, third)} == {"index"}


def test_only_a_rounded_number_may_be_off_by_more_than_half_a_place(good):
    first, second, third = good.page().select(".attnlab-exercise")
    assert [e["data-near"] for e in (first, second, third)] == ["2.5", "0.5", "0.5"]
    assert [item["data-near"] for item in (*first.select("li"), second.li)] == ["2.5", "2.5", "0.5"]


def test_without_a_script_the_page_asks_and_folds_up_the_answer(good):
    exercise = good.page().select_one(".attnlab-exercise")
    fold = exercise.details.extract()
    assert words(exercise).startswith("Exercise 1 Double the scores 0.54 and the others.")
    assert words(exercise).endswith("What share does river get? Your answer, to three decimals:")
    assert exercise["role"] == "group"
    assert exercise.find(id=exercise["aria-labelledby"]).get_text() == "Exercise 1"
    assert not exercise.select("input, button")
    assert not fold.has_attr("open")
    assert fold.summary.get_text() == "Answer and solution"
    assert "The answer is 0.263" in words(fold)
    assert fold.select_one(".attnlab-by-hand math")
    items = [words(item) for item in fold.select("li")]
    assert items[0].startswith("If you have 2.945")
    assert "This is the exponential" in items[0]
    assert items[0].endswith("Divide it by the sum.")
    assert "You doubled the share." in items[1]


def test_the_answer_leads_to_its_line_and_the_line_back(good):
    second = good.page().select(".attnlab-exercise")[1]
    link = second.details.select_one("p .attnlab-measured a")
    assert link["title"].startswith("S1.embedding.river.place + S1.embedding.bank.place = 1.2")
    assert link["href"].startswith("results.html#L")
    cited = proof.citations(good.app.env)
    assert ("index", link.find_parent(id=True)["id"]) in cited["S1.embedding.bank.place"]


def test_the_browser_remembers_an_exercise_wherever_it_stands(tmp_path):
    def keys(text):
        page = build(tmp_path, {"index": text}).page()
        return [exercise["data-key"] for exercise in page.select(".attnlab-exercise")]

    before = keys(f"{ONE}\n{TWO}")
    assert len(set(before)) == 2
    assert keys(f"{TWO}\n{ONE}") == before[::-1]
    changed = keys(f"{ONE}\n{TWO}".replace("Add the places", "Add both places"))
    assert changed[0] == before[0]
    assert changed[1] != before[1]


def test_plain_text_has_the_answer_too(tmp_path):
    site = build(tmp_path, {"index": f"{ONE}\n{TWO}"}, builder="text")
    assert site.warnings == []
    text = " ".join((site.out / "index.txt").read_text("utf-8").split())
    assert "Your answer, to three decimals:" in text
    assert "The answer is 0.263" in text
    assert "If you have 0.635" in text


def test_questions_hints_and_solutions_are_audited(tmp_path):
    text = TWO.replace("Add the places", "Add 0.3 and the places").replace("Add *bank*", "Add 0.9")
    site = build(tmp_path, {"index": text.replace("Add the two", "Add 1.2")})
    assert [warning.partition(" stands")[0] for warning in site.warnings] == [
        "index.rst:7: the number 0.3",
        "index.rst:15: the number 1.2",
        "index.rst:11: the number 0.9",
    ]


Q, S = "\n\n   How much?\n", "\n   .. solution::\n\n      So.\n"
X = ".. exercise:: S2.softmax.river"
BAD = {
    # what stands on the page: what the warning says
    f".. exercise::{Q}{S}": "exercise: expected an expression whose value is the answer",
    f".. exercise:: S2.softmax.rivr{Q}{S}": "did you mean S2.softmax.river",
    f".. exercise:: S3.symmetric{Q}{S}": "'S3.symmetric' is no number, it is True",
    f".. exercise:: 0.5{Q}{S}": "measured: '0.5' names no measurement, so it proves nothing",
    f".. exercise:: S2.softmax.river * 0{Q}{S}": "is the same whatever S2.softmax.river is",
    f"{X}\n   :places: 10{Q}{S}": "places must be a whole number from 0 to 9, but it is '10'",
    f"{X}\n   :place: 1{Q}{S}": "exercise's option 'place' is not known; did you mean 'places'",
    f".. exercise:: S6.d_k\n   :places: 1{Q}{S}": "is the whole number 64, so places must be 0",
    f"{X}{Q}": "expected a solution, but it has none",
    f"{X}{Q}{S}{S}": "expected a solution, but it has 2",
    f"{X}\n{S}": "expected a question, but it has none",
    f"{X}{Q}\n   .. mistake:: S2.softmax.river + 0.004\n\n      No.\n{S}": (
        "the mistake 'S2.softmax.river + 0.004' leads to 0.321, which cannot be told from the "
        "answer, 0.317: ask for more places, or leave it out"
    ),
    f"{X}{Q}\n   .. mistake:: S2.scores.river\n\n      No.\n"
    f"\n   .. mistake:: S2.dot.bank_river\n\n      No.\n{S}": (
        "which cannot be told from the mistake 'S2.scores.river', 0.540"
    ),
    f"{X}{Q}\n   .. mistake:: S2.scores.river\n{S}": "mistake: expected an expression such as",
    f"{X}{Q}\n   .. mistake::\n\n      No.\n{S}": "mistake: expected an expression such as",
    f"{X}{Q}\n   .. mistake:: S2.scores.river\n\n      * No.\n{S}": "a hint must begin with a sent",
    f"{X}{Q}\n   .. mistake:: S2.scores.river\n      :x: 1\n\n      No.\n{S}": "option 'x' is not",
    f"{X}{Q}\n   .. mistake:: 5\n\n      No.\n{S}": "'5' names no measurement",
    f"{X}{Q}\n   .. solution:: here\n\n      So.\n": "expected nothing but the solution",
    f"{X}{Q}\n   .. solution::\n": "expected nothing but the solution",
    f"{X}{Q}\n   .. calculation:: softmax bank\n{S}": "expected a name in small letters and a calc",
    f"{X}{Q}\n   .. calculation:: a = softmax boat\n{S}": "'boat'",
    f"{X}{Q}\n   .. calculation:: a = dot bank river\n\n      Text.\n{S}": "no text may stand in",
    f"{X}{Q}\n   .. calculation:: a = softmax bank\n      :sentence: the the bank\n{S}": (
        "'a.the' would be two numbers"
    ),
    f"{X}{Q}\n   .. exercise:: S2.scores.river\n\n      More?\n{S}": "must not stand in another",
    ".. mistake:: S2.scores.river\n\n   No.\n": "a mistake must stand in an exercise, indented",
    ".. solution::\n\n   So.\n": "a solution must stand in an exercise, indented",
    ".. calculation:: a = dot bank river\n": "a calculation must stand in an exercise, indented",
    f"{ONE}\n.. exercise:: sharp.bank{Q}{S}": "unknown measurement 'sharp.bank'",
    f"{TWO}\nSharp is :measured:`0.26 <sharp.river>`.": "unknown measurement 'sharp.river'",
}


@pytest.mark.parametrize(("text", "message"), BAD.items())
def test_refuses(tmp_path, text, message):
    site = build(tmp_path, {"index": text})
    found = [warning for warning in site.warnings if message in warning]
    assert found, site.warnings
    assert re.match(r"index\.rst:\d+: \w+: ", found[0])


def test_a_wrong_exercise_is_named_by_its_line(tmp_path):
    site = build(tmp_path, {"index": f"{TWO}\n{X}{Q}"})
    (warning,) = site.warnings
    assert warning.startswith("index.rst:17: exercise: expected a solution")


@pytest.mark.parametrize(("places", "said"), PLACES.items())
def test_says_in_words_how_many_places_it_wants(places, said):
    assert exercises.wanted(places) == said


CALCULATED = {
    "x = dot bank river": {"x.dot"},
    "x = score river bank": {"x.score"},
    "x=query bank": {"x.topic", "x.place"},
    "my_key1 = key bank": {"my_key1.topic", "my_key1.place"},
    "x = softmax bank": {"x.the", "x.river", "x.bank"},
    "x = output bank": {"x.water", "x.money", "x.place", "x.filler"},
}


@pytest.mark.parametrize(("text", "names"), CALCULATED.items())
def test_names_what_a_calculation_leads_to(text, names):
    found = exercises.calculated(TOY_WORLD, text, {})
    assert set(found) == names
    result = byhand.calculate(TOY_WORLD, text.partition("=")[2]).result
    assert [m.value for m in found.values()] == result.ravel().tolist()


def test_neighbours_that_just_can_be_told_apart_are_taken():
    def near(value, units):
        return exercises.Number("x", value, str(value), units)

    exercises.check_distinct([near(0.1, 0.5), near(0.2, 0.5)], 1)
    exercises.check_distinct([near(0.100, 2.5), near(0.105, 2.5)], 3)
    with pytest.raises(InvalidValueError):
        exercises.check_distinct([near(0.100, 2.5), near(0.1049, 2.5)], 3)


# Downloads


def say(role, content):
    return content.partition(" <")[0]


def test_a_script_asks_and_answers_at_its_end(good):
    commented = "\n".join(f"# {line}".rstrip() for line in f"{ONE}\n{TWO}".split("\n"))
    script = f'"""\nT\n=\n"""\n# %%\n{commented}\n\nx = 1\n'
    solved = proof.records(good.app.env)["index"].exercises[:2]
    plain = downloads.plain_script(script, say, solved)
    question, _, answers = plain.partition("\nx = 1\n")
    assert "# **Exercise 1**\n#\n# Double the scores 0.54" in question
    assert "# Your answer, to three decimals: ________\n" in question
    assert "0.263" not in question
    assert "# %%\n# Answers to the exercises\n# ---" in answers
    assert "# **Exercise 1:** The answer is 0.263.\n#\n# It is 0.26:\n" in answers
    assert r"\frac" in answers
    assert "# - If you have 2.945: This is the exponential. Its share is p.\n#\n#   Div" in answers
    assert "# - If you have 0.635: You doubled the share.\n" in answers
    assert "# **Exercise 2:** The answer is 1.2.\n" in answers
    assert not re.search(r"^# *\.\. |:\w+:", plain, re.MULTILINE)
    compile(plain, "script", "exec")


def test_an_exercise_that_the_page_does_not_show_is_refused():
    with pytest.raises(AttnlabError, match="none that the page shows"):
        downloads.plain_text(ONE, say)
    with pytest.raises(AttnlabError, match="none that the page shows"):
        downloads.plain_text(ONE, say, downloads.Sheet([proof.Exercise("to", "1", ("2",))]))
