"""The roles: what they show, and what they refuse at which line."""

import pytest

pytest.importorskip("sphinx", reason="the site's packages are not installed")

from small_site import RESULTS, build

from attnlab.sphinxext import proof, roles

pytestmark = pytest.mark.torch

WATER = "S3.output.river_bank.water"

GOOD = f"""\
Only :measured:`0.435 <{WATER}>`
{"=" * 60}

Water :measured:`0.435
<{WATER}>`, a scale of :measured:`1.716 <exp(S2.scores.river)>`, and e
:measured:`2.718 <exp(1)>`.

Strength :measured:`2.0 <world.W_Q.place.topic>`, key :measured:`1.0 <world.W_K.water.topic>`,
:measured:`four <world.size.words>` words, :measured:`4 <world.size.axes>` axes,
:measured:`two <world.size.channels>` channels, :measured:`two <world.size.sentences>` sentences.

:measured:`147,456 <3 * S6.d_model * S6.d_k>` and
:measured:`0.13 % <4 * S6.layers * S6.d_model / S6.parameters.attention>`;
symmetric: :measured:`yes <S3.symmetric>`.

See :logline:`{WATER}`, :logline:`the note <S1.one_row>`.

:claim:`more & more <S4.weights.bank.river > S4.weights.bank.bank>`,
:claim:`half <0.49 < S4.weights.bank.river < 0.51>`, :claim:`under 0.51 <S4.weights.bank.river <
0.51 and S3.symmetric == True>`, :claim:`tiny <S6.difference.plain <= 1e-14>`.

About :given:`124 million <GPT-2's published size>`.
"""

BAD = {
    # what stands on the line: what the warning says
    f":measured:`0.436 <{WATER}>`": "measured: '0.436' is shown, but the value is 0.43493093",
    ":measured:`0.5 <S3.output.river_bank.watr>`": f"did you mean {WATER} or",
    ":measured:`2.22e-16 <S6.difference.plain>`": "S6.difference.plain <= 1e-14 [attnlab.measured]",
    ":measured:`64.0 <S6.d_k>`": "shows decimals",
    ":measured:`0.435`": "expected text and a target, such as '0.435 <S3.",
    ":measured:`0.5 <0.5>`": "'0.5' names no measurement, so it proves nothing",
    ":measured:`0.5 <S3.symmetric or 1>`": "is not allowed",
    ":logline:`S3.symetric`": "logline: unknown measurement 'S3.symetric': did you mean S3.symm",
    ":claim:`wrong <S2.softmax.the > S2.softmax.bank>`": (
        "'wrong' does not hold: S2.softmax.the > S2.softmax.bank; S2.softmax.the is 0.1849"
    ),
    ":claim:`noisy <S6.difference.plain <= 1e-15>`": "if rounding errors reach their bound",
    ":claim:`noisy <S6.difference.plain > 0>`": "if rounding errors cancel out",
    ":claim:`none <S2.softmax.the>`": "is no comparison, it is 0.1849",
    ":claim:`empty <1 < 2>`": "names no measurement",
    ":claim:`under 0.4 <S2.softmax.the < 0.5>`": "'0.4' stands in the text, but not in 'S2.",
    ":logline:`line 5 <S3.symmetric>`": "'5' stands in the text, but the line is",
    ":logline:`line twelve <S3.symmetric>`": "'twelve' stands in the text, but the line is",
    ":logline:`line ½ <S3.symmetric>`": "stands in the text, but the line is",
    ":measured:`2.7 <exp(1) + 0>`": "names no measurement",
    ":measured:`13 <S6.layers + True>`": "'True' is no number",
    ":measured:`1e99999999999999999999 <S6.layers>`": "beyond 400",
    f":measured:`12 <{'-' * 2500}S6.layers>`": "has over 500 characters",
    ":measured:`12 <_0_ * S6.layers>`": "'_' is not allowed",
    ":claim:`under -0.5 <S2.softmax.the < 0.5>`": "'-0.5' stands in the text, but not in 'S2.",
    ":claim:`under 5² <S2.softmax.the < 5>`": "cannot be read",
    ":claim:`same <S2.softmax.the == S2.softmax.the>`": "compared with itself",
    ":claim:`both <S2.softmax.the > 0 and 7 > 6>`": "but 7 is compared with 6",
    ":claim:`chained <0 < 0.1 < S2.softmax.the>`": "but 0 is compared with 0.1",
    ":claim:`anything <S2.softmax.the * 0 + 5 > 3>`": (
        "'S2.softmax.the * 0 + 5' is the same whatever S2.softmax.the is, so it proves nothing"
    ),
    ":measured:`0 <S2.softmax.the - S2.softmax.the>`": "whatever S2.softmax.the is",
    ":claim:`text`": "expected text and a target",
    ":given:`5 <>`": "given: expected text and a target",
    ":given:`5`": "given: expected text and a target",
}


@pytest.fixture(autouse=True)
def one_run(monkeypatch, log):
    """Let every build of these tests share one run."""
    monkeypatch.setattr(proof.reproduce, "run", lambda **options: log)


@pytest.fixture
def good(tmp_path):
    return build(tmp_path, {"index": GOOD, "results": RESULTS})


def test_good_roles_pass_without_a_warning(good):
    assert good.warnings == []
    assert "13 numbers proved, 4 claims held" in good.said
    assert "1 number given, 0 exercises checked" in good.said


def test_a_number_leads_to_its_line_with_its_name_and_full_value(good, log):
    link = good.page().select_one("p .attnlab-measured a")
    line = log.line_numbers[WATER]
    assert link.text == "0.435"
    assert link["href"] == f"results.html#L{line}"
    assert link["title"] == f"{WATER} = {log.measurements[WATER].value!r}"
    assert good.page("results").find(id=f"L{line}")


def test_a_number_without_a_line_tells_its_name_to_a_screen_reader(good):
    number = good.page().find(class_="attnlab-measured", title="world.W_Q.place.topic = 2.0")
    assert number.find("a") is None
    assert number.text == "2.0 (world.W_Q.place.topic = 2.0)"
    assert number.select_one(".attnlab-unseen")


def test_a_line_is_cited_by_its_number(good, log):
    first, second = (node.a for node in good.page().select(".attnlab-logline"))
    line = log.line_numbers[WATER]
    assert (first.text, first["href"]) == (f"line {line} of results.log", f"results.html#L{line}")
    note = log.blocks["S1.one_row"].start
    assert (second.text, second["href"]) == ("the note", f"results.html#L{note}")


def test_a_claim_and_a_given_show_their_grounds_on_hover(good):
    claims = good.page().select(".attnlab-claim")
    assert [claim.text for claim in claims] == ["more & more", "half", "under 0.51", "tiny"]
    assert claims[1]["title"].startswith("0.49 < S4.weights.bank.river < 0.51; S4.weights.bank.r")
    assert claims[1]["title"].endswith(" is 0.49983341237606277")
    assert claims[3]["title"].endswith("S6.difference.plain is rounding noise")
    given = good.page().select_one(".attnlab-given")
    assert (given.text, given["title"]) == ("124 million", "GPT-2's published size")


def test_ids_are_unique_although_a_heading_is_repeated(good):
    ids = [node["id"] for node in good.page().find_all(id=True)]
    assert len(ids) == len(set(ids))
    assert good.page().title.text.startswith("Only 0.435")
    assert good.page().select_one("h1 .attnlab-measured a")


def test_citations_lead_back_to_the_page(good):
    cited = proof.citations(good.app.env)
    assert ("index", "cites-0") in cited[WATER]
    for docname, anchor in cited[WATER]:
        assert good.page(docname).find(id=anchor)
    assert {"S1.one_row", "S3.symmetric", "S6.difference.plain"} < set(cited)


@pytest.mark.parametrize("settings", [{}, {"attnlab_log_page": "elsewhere"}])
def test_without_a_page_of_the_log_nothing_links(tmp_path, settings):
    pages = {"index": f":measured:`0.435 <{WATER}>` :logline:`{WATER}`"}
    site = build(tmp_path, pages, nitpicky=True, **settings)
    assert site.warnings == []
    number, line = site.page().select(".attnlab-measured, .attnlab-logline")
    assert number.find("a") is None is line.find("a")
    assert number["title"].startswith(f"{WATER} = 0.43")


def test_an_unknown_reference_is_still_one(tmp_path):
    site = build(tmp_path, {"index": ":any:`nothing` :ref:`nothing`"}, nitpicky=True)
    assert len(site.warnings) == 2


@pytest.mark.parametrize("builder", ["text", "latex"])
def test_other_formats_show_the_plain_text(tmp_path, builder):
    site = build(tmp_path, {"index": GOOD, "results": RESULTS}, builder=builder)
    assert site.warnings == []
    text = next(site.out.glob("*.tex" if builder == "latex" else "index.txt")).read_text("utf-8")
    assert "0.435" in text
    assert "124 million" in text
    assert "exp(" not in text


@pytest.mark.parametrize(("role", "message"), BAD.items(), ids=list(BAD))
def test_a_role_that_proves_nothing_warns_at_its_line(tmp_path, role, message):
    site = build(tmp_path, {"index": f"Some text.\n\nMore text,\non lines: {role}\nand more."})
    (warning,) = site.warnings
    assert warning.startswith("index.rst:7: ")
    assert message in warning
    assert "[attnlab." in warning
    assert proof.records(site.app.env)["index"].failed


TWELVE = ":measured:`12 <S6.layers>`"


@pytest.mark.parametrize(
    "text",
    [
        f"a -{TWELVE}", f"a \\ −\\ {TWELVE}", f"a –{TWELVE}", f"a —{TWELVE}", f"a +\\ {TWELVE}",
        f"±\\ {TWELVE}", f"√\\ {TWELVE}", f"minus {TWELVE}", f"a *negative* {TWELVE}",
        f":math:`-`\\ {TWELVE}", f"5\\ {TWELVE}", f"{TWELVE}\\ ²", f"{TWELVE}\\ :sup:`2`",
        f"{TWELVE} %", f"{TWELVE}\\ ‰", f"{TWELVE}\\ ^2", f"{TWELVE}\\ e5", f"{TWELVE}\\ .5",
        f"{TWELVE} hundred", f"{TWELVE} **million**", f"{TWELVE} × 10⁻¹⁶",
    ],
)  # fmt: skip
def test_what_changes_a_number_must_stand_inside_the_role(tmp_path, text):
    site = build(tmp_path, {"index": f"Some text.\n\n{text} and more."})
    assert (
        "index.rst:6: measured: put the sign or unit beside '12' inside the role [attnlab.measured]"
    ) in site.warnings


def test_other_neighbours_of_a_number_are_fine(tmp_path):
    text = f"({TWELVE}), {TWELVE} × {TWELVE}: {TWELVE} layers. {TWELVE} each, - {TWELVE}."
    assert build(tmp_path, {"index": text}).warnings == []


def test_a_line_in_own_words_may_tell_its_number(tmp_path, log):
    line = log.line_numbers[WATER]
    text = f":logline:`results.log, line {line}. <{WATER}>`"
    assert build(tmp_path, {"index": text}).warnings == []


@pytest.mark.parametrize("error", [ArithmeticError, RecursionError])
def test_no_text_stops_the_build(tmp_path, monkeypatch, error):
    def fail(*arguments):
        raise error("too much")

    monkeypatch.setattr(roles.numbers, "check", fail)
    (warning,) = build(tmp_path, {"index": TWELVE}).warnings
    assert "measured: too much" in warning


def test_a_refused_role_still_shows_its_text(tmp_path):
    site = build(tmp_path, {"index": f":measured:`0.436 <{WATER}>`"})
    (number,) = site.page().select(".attnlab-measured")
    assert str(number) == '<span class="attnlab-measured">0.436</span>'


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a b", ("a b", None)),
        ("a\n  b <c\nd>", ("a b", "c d")),
        ("half <0.4 < S < 0.5>", ("half", "0.4 < S < 0.5")),
        ("<S>", ("", "S")),
        ("a <b> c", ("a <b> c", None)),
    ],
)
def test_splits_text_and_target(content, expected):
    assert roles.split(content) == expected
