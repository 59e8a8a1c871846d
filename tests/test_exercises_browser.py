"""The exercises of the real site, as a reader does them: typing, by keyboard, without a script."""

import re
from pathlib import Path

import pytest

for package in ("sphinx", "sphinx_gallery", "furo", "hatchling", "torch"):
    pytest.importorskip(package, reason="the site's packages are not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

from bs4 import BeautifulSoup  # noqa: E402
from real_site import CHROMIUM, LESSONS  # noqa: E402
from test_browser import DESKTOP, PHONE, RULES  # noqa: E402

if not CHROMIUM.exists():
    pytest.skip(f"there is no {CHROMIUM}", allow_module_level=True)

LESSON = "lessons/s2_dot_softmax.html"
#: What a reader may type, and what it is in a lesson's exercise to three decimals.
KINDS = {"right": "Right.", "close": "Close: ", "not-yet": "Not yet. ", "unread": ""}


@pytest.fixture
def open_page(browser):
    """Open a page in a fresh profile. An error on it fails the test."""
    contexts, problems = [], []

    def open_page(address, viewport=DESKTOP, **options):
        contexts.append(browser.new_context(viewport=viewport, **options))
        page = contexts[-1].new_page()
        page.on(
            "console",
            lambda m: (
                m.type in ("error", "warning") and problems.append(f"{m.text} {m.location['url']}")
            ),
        )
        page.on("pageerror", lambda error: problems.append(f"{error} {error.stack}"))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    # No font loads ahead of time from a folder; scripts of the theme and of Sphinx want storage.
    not_ours = re.compile(r"file:.*\.woff2|blocked(?!.*/attnlab)", re.DOTALL)
    assert [problem for problem in problems if not not_ours.search(problem)] == []


def read(file):
    return BeautifulSoup(file.read_text("utf-8"), "html.parser")


def told(exercise, text):
    """Type a text, press Enter, and return what kind it is and what is said."""
    exercise.locator("input").fill(text)
    exercise.locator("input").press("Enter")
    status = exercise.get_by_role("status")
    return status.get_attribute("data-kind"), " ".join(status.inner_text().split())


def seen(element):
    """What stands in an element, without what is for screen readers only."""
    text = element.evaluate(
        """element => {
            const copy = element.cloneNode(true);
            copy.querySelectorAll(".attnlab-unseen, annotation").forEach(part => part.remove());
            return copy.textContent;
        }"""
    )
    return " ".join(text.split())


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_of_a_lesson_knows_its_answer_and_its_mistakes(open_page, base, lesson):
    page = open_page(f"{base}lessons/{lesson}.html")
    exercises = page.locator(".attnlab-exercise")
    assert exercises.count() >= 3
    hints = 0
    for number in range(exercises.count()):
        exercise = exercises.nth(number)
        assert "The answer is" not in exercise.inner_text()
        exercise.locator("summary").click()
        assert "The answer is" in exercise.inner_text()
        answer = seen(exercise.locator("details .attnlab-measured").first)
        items = exercise.locator("details li")
        for item in range(items.count()):
            text = seen(items.nth(item))
            got, hint = re.match(r"If you have (\S+): (.*)", text).groups()
            assert told(exercise, got)[0] == "not-yet"
            assert seen(exercise.get_by_role("status")) == f"Not yet. {hint}"
            hints += 1
        assert told(exercise, "123456.5")[1].startswith("Not yet. Go through your steps again")
        assert told(exercise, "water")[0] == "unread"
        assert told(exercise, answer) == (
            "right",
            f"Right. {number + 1} of {exercises.count()} done.",
        )
        assert exercise.get_by_text("✓ done").is_visible()
    assert hints >= 2 * exercises.count()
    assert page.locator("nav.lessons a[aria-current]:has-text('exercises done')").count() == 1


TYPED = {
    # to three decimals, the answer is 0.3315564…
    "0.332": "right", "0,332": "right", ".332": "right", "+0.332": "right", " 0.332 ": "right",
    "≈ 0.332": "right", "33.2 %": "right", "33,2%": "right", "0.3316": "right", "0.331556": "right",
    "332/1000": "right", "1.716 / 5.176": "right", "83 ⁄ 250": "right", "00.332": "right",
    "0.33": "close", "33%": "close", "0.331": "close", "0.333": "close", "1/3": "close",
    "0.334": "close", "32.9 %": "not-yet", "8/25": "not-yet", "0.3": "not-yet", "0": "not-yet",
    "0.335": "not-yet", "-0.332": "not-yet", "−0.332": "not-yet", "1,332": "not-yet",
    "0.332.5": "unread", "1/0": "unread", "1/2/3": "unread",
    "5²": "unread", "0.3x": "unread", "": "unread", "  ": "unread", "-": "unread", ".": "unread",
    "NaN": "unread", "Infinity": "unread", "0x10": "unread", "1e-3": "unread", "1 1/3": "unread",
    "٣": "unread", "<b>1</b>": "unread",
}  # fmt: skip
WHOLE = {
    # the answer is 2,359,296
    "2359296": "right", "2,359,296": "right", "2.359.296": "right", "2 359 296": "right",
    "2\u202f359\u202f296": "right", "2'359'296": "right", "2359296.0": "right",
    "2,359,296.0": "right",
    "2.359.296,0": "right", "2359297": "not-yet", "2,359": "not-yet", "2,35,9296": "unread",
    "1,769,472": "not-yet", "2 35 9296": "unread",
}  # fmt: skip
SMALL = {"2.5": "right", "2,5": "right", "2.50": "right", "5/2": "right", "2.6": "not-yet",
         "3": "not-yet", "250 %": "right", "−2.5": "not-yet", "160": "not-yet"}  # fmt: skip


@pytest.mark.parametrize(
    ("lesson", "number", "typed"),
    [("s2_dot_softmax", 2, TYPED), ("s6_general_head", 3, WHOLE), ("s5_scaling", 2, SMALL)],
    ids=["a share", "a count", "an exact number"],
)
def test_numbers_are_read_as_people_write_them(open_page, base, lesson, number, typed):
    page = open_page(f"{base}lessons/{lesson}.html")
    exercise = page.locator(f"#exercise-{number}")
    found = {text: told(exercise, text) for text in typed}
    assert {text: kind for text, (kind, _) in found.items()} == typed
    for kind, words in found.values():
        assert words.startswith(KINDS[kind])


def test_close_says_why(open_page, base):
    page = open_page(base + LESSON)
    exercise = page.locator("#exercise-2")
    assert told(exercise, "0.33")[1] == "Close: right so far. Give it to three decimals."
    assert told(exercise, "0.333")[1].startswith("Close: right but for rounding.")
    assert told(exercise, "")[1].startswith("Type a number first.")
    words = told(exercise, "<b>1</b>")[1]
    assert words.startswith("“<b>1</b>” is no number here. Write it like 0.25, 0,25, -0.5, 1/4 or")


def test_halfway_both_ways_of_rounding_are_right(open_page, base):
    exercise = open_page(base + LESSON).locator("#exercise-2")
    exercise.evaluate("element => (element.dataset.answer = '0.4125')")
    assert [told(exercise, text)[0] for text in ("0.412", "0.413")] == ["right", "right"]
    assert told(exercise, "0.414")[0] == "close"


def test_a_mistake_in_too_few_places_gets_its_hint_too(open_page, base):
    exercise = open_page(base + LESSON).locator("#exercise-2")
    assert "This is the exponential." in told(exercise, "1.72")[1]
    assert "This is the exponential." in told(exercise, "1.717")[1]


def progress(page):
    return page.locator(".attnlab-progress span").inner_text()


@pytest.mark.parametrize("where", ["served", "from a folder"])
def test_progress_stays_and_can_be_cleared(open_page, base, site, where):
    address = (base if where == "served" else f"{site.as_uri()}/") + LESSON
    page = open_page(address)
    count = page.locator(".attnlab-exercise").count()
    assert progress(page) == f"0 of {count} done. Kept in this browser only."
    assert not page.get_by_role("button", name="Start over").is_visible()
    assert told(page.locator("#exercise-1"), "0.03")[0] == "right"
    page.reload()
    assert progress(page).startswith(f"1 of {count} done.")
    assert page.locator(".attnlab-tick:visible").all_inner_texts()[0].strip() == "✓ done"
    other = page.context.new_page()
    other.goto(address)
    assert told(other.locator("#exercise-3"), "0.317")[0] == "right"  # in another tab
    assert progress(other).startswith(f"2 of {count} done.")
    page.locator(f".attnlab-progress:has-text('2 of {count} done.')").wait_for()
    page.locator("#exercise-2 input").fill("0.4")
    page.get_by_role("button", name="Start over").press("Enter")
    assert progress(page).startswith(f"0 of {count} done.")
    assert page.locator("#exercise-2 input").input_value() == ""
    assert page.evaluate("document.activeElement.className") == "attnlab-progress"
    page.reload()
    assert progress(page).startswith(f"0 of {count} done.")


def test_nothing_leaves_the_browser(open_page, base):
    page = open_page(base + LESSON)
    page.wait_for_load_state("networkidle")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    told(page.locator("#exercise-1"), "0.03")
    told(page.locator("#exercise-1"), "0.04")
    assert asked == []
    assert page.url == base + LESSON
    assert page.context.cookies() == []


def test_progress_of_one_page_is_not_that_of_another(open_page, base):
    page = open_page(base + LESSON)
    told(page.locator("#exercise-1"), "0.03")
    page.goto(f"{base}lessons/s1_toy_world.html")
    assert progress(page).startswith("0 of ")
    told(page.locator("#exercise-1"), "0.1")
    page.get_by_role("button", name="Start over").click()
    page.goto(base + LESSON)
    assert progress(page).startswith("1 of ")


def finish(page):
    for exercise in page.locator(".attnlab-exercise").all():
        exercise.locator("summary").click()
        answer = seen(exercise.locator("details .attnlab-measured").first)
        assert told(exercise, answer)[0] == "right"


def test_the_strip_ticks_lessons_whose_exercises_are_done(open_page, base):
    page = open_page(base + LESSON)
    ticked = page.locator("nav.lessons a.attnlab-done")
    assert ticked.count() == 0
    finish(page)
    assert ticked.count() == 1
    assert "Dot product and softmax (exercises done)" in " ".join(ticked.text_content().split())
    page.goto(f"{base}lessons/s3_raw_attention.html")
    assert ticked.count() == 1
    assert "Dot product" in ticked.text_content()
    page.goto(base + LESSON)
    page.get_by_role("button", name="Start over").click()
    assert ticked.count() == 0


def test_exercises_work_where_storage_is_blocked(open_page, base):
    page = open_page("about:blank")
    page.add_init_script(
        """Object.defineProperty(window, 'localStorage', {
            get() { throw new Error('blocked'); }
        });"""
    )
    page.goto(base + LESSON)
    assert told(page.locator("#exercise-1"), "0.03")[0] == "right"
    assert told(page.locator("#exercise-3"), "0.317")[0] == "right"
    assert progress(page).startswith("2 of ")
    assert "keeps no progress" in progress(page)


@pytest.mark.parametrize(
    "stored", ["nonsense", "null", "[]", "7", '{"lessons/s2_dot_softmax": 5}',
               '{"lessons/s2_dot_softmax": {"of": 1, "done": {}}, "x": null}',
               '{"lessons/s2_dot_softmax": {"of": 2, "done": ["gone", "gone too"]}}']
)  # fmt: skip
def test_whatever_is_stored_the_page_works(open_page, base, stored):
    page = open_page(base + LESSON)
    page.evaluate("stored => localStorage.setItem('attnlab-exercises', stored)", stored)
    page.reload()
    assert progress(page).startswith("0 of ")
    assert page.locator("nav.lessons a.attnlab-done").count() == 0
    assert told(page.locator("#exercise-1"), "0.03")[0] == "right"
    assert progress(page).startswith("1 of ")


# For everyone


def test_an_exercise_is_done_by_keyboard_alone(open_page, base):
    page = open_page(base + LESSON, reduced_motion="reduce")
    page.locator("#exercise-1 input").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    focused = """() => {
        const {activeElement: here} = document;
        return [here.tagName, getComputedStyle(here).outlineStyle !== 'none'];
    }"""
    assert page.evaluate(focused) == ["INPUT", True]
    page.keyboard.type("0,36")
    page.keyboard.press("Enter")
    assert "This is bank with money." in page.locator("#exercise-1 [role=status]").inner_text()
    assert page.evaluate(focused) == ["INPUT", True]
    page.keyboard.press("Control+A")
    page.keyboard.type("0,03")
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == ["BUTTON", True]
    page.keyboard.press("Space")
    assert page.locator("#exercise-1 [role=status]").inner_text().startswith("Right.")
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == ["SUMMARY", True]
    page.keyboard.press("Enter")
    assert page.locator("#exercise-1 .attnlab-by-hand").is_visible()


def test_a_screen_reader_is_told_what_each_part_is(open_page, base):
    page = open_page(base + LESSON)
    group = page.get_by_role("group", name="Exercise 2", exact=True)
    field = group.get_by_role("textbox", name="Your answer, to three decimals:")
    assert field.get_attribute("inputmode") == "decimal"
    status = group.get_by_role("status")
    assert status.get_attribute("id") == field.get_attribute("aria-describedby")
    told(group, "1.716")
    assert field.get_attribute("aria-invalid") == "false"
    told(group, "one")
    assert field.get_attribute("aria-invalid") == "true"
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids))


def test_signs_tell_the_kinds_apart_without_colour(open_page, base):
    exercise = open_page(base + LESSON).locator("#exercise-2")
    signs = set()
    for text in ("0.332", "0.33", "1.716", "one"):
        told(exercise, text)
        signs.add(
            exercise.get_by_role("status").evaluate("e => getComputedStyle(e, '::before').content")
        )
    assert len(signs) == 4
    assert "none" not in signs


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_axe_finds_nothing_in_any_state(open_page, base, viewport):
    page = open_page(base + LESSON, viewport, reduced_motion="reduce")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    for number, text in enumerate(("0.03", "0.33", "0.4", "one"), start=1):
        told(page.locator(f"#exercise-{number}"), text)
        page.locator(f"#exercise-{number} summary").click()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        violations = page.evaluate(
            "rules => axe.run(document, {runOnly: rules, resultTypes: ['violations']})"
            ".then(({violations}) => violations.map(({id, nodes}) => [id, nodes[0].html]))",
            RULES,
        )
        assert violations == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_exercises_fit_a_phone(open_page, base, lesson):
    page = open_page(f"{base}lessons/{lesson}.html", PHONE)
    page.evaluate("document.querySelectorAll('details').forEach(fold => (fold.open = true))")
    for exercise in page.locator(".attnlab-exercise").all():
        told(exercise, "1")
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for field in page.locator(".attnlab-exercise input").all():
            box = field.bounding_box()
            assert box["height"] >= 24
            assert 100 <= box["width"] <= width
    size = page.locator("#exercise-1 input").evaluate("e => getComputedStyle(e).fontSize")
    assert float(size.removesuffix("px")) >= 16  # or a phone zooms into the field


@pytest.mark.parametrize("lesson", LESSONS)
def test_without_javascript_an_exercise_is_a_question_and_a_fold(open_page, base, lesson):
    page = open_page(f"{base}lessons/{lesson}.html", java_script_enabled=False)
    exercises = page.locator(".attnlab-exercise")
    assert exercises.count() >= 3
    for exercise in exercises.all():
        assert exercise.locator("input, button").count() == 0
        assert "Your answer, " in exercise.inner_text()
        assert exercise.locator(".attnlab-blank").is_visible()
        assert "The answer is" not in exercise.inner_text()
        exercise.locator("summary").click()
        assert "The answer is" in exercise.inner_text()


def test_paper_shows_the_question_with_a_blank_and_only_answers_that_were_opened(open_page, base):
    page = open_page(base + LESSON)
    page.locator("#exercise-2 summary").click()
    told(page.locator("#exercise-2"), "0.5")
    page.emulate_media(media="print")
    for hidden in ("button", "[role=status]", ".attnlab-progress", "#exercise-1 details"):
        assert not page.locator(f"article {hidden}:visible").count(), hidden
    assert page.locator("#exercise-1 input").is_visible()
    assert page.locator("#exercise-2 details").is_visible()
    assert page.locator(".attnlab-exercise").count() == 4
    borders = "e => ['Top', 'Left', 'Bottom'].map(s => getComputedStyle(e)[`border${s}Width`])"
    assert page.locator("#exercise-1 input").evaluate(borders) == ["0px", "0px", "1px"]


# What readers take away


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_download_asks_in_words_and_answers_at_its_end(site, lesson):
    page = read(site / "lessons" / f"{lesson}.html")
    (script,) = (site / "_downloads").glob(f"*/{lesson}.py")
    (notebook,) = (site / "_downloads").glob(f"*/{lesson}.ipynb")
    asked, _, answers = script.read_text("utf-8").partition("# Answers to the exercises\n")
    exercises = page.select(".attnlab-exercise")
    for number, exercise in enumerate(exercises, start=1):
        assert f"# **Exercise {number}**\n" in asked
        answer = exercise.details.select_one(".attnlab-measured").find(string=True)
        assert f"# **Exercise {number}:** The answer is {answer}.\n" in answers
        assert f"**Exercise {number}:** The answer is {answer}." in notebook.read_text("utf-8")
    assert asked.count("Your answer, ") == len(exercises)
    assert answers.count("If you have ") == len(page.select(".attnlab-exercise details li"))
