"""The explorer, in a browser: against the package, through its knobs, its address and its files."""

import gzip
import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

for package in ("sphinx", "sphinx_gallery", "furo", "hatchling", "torch"):
    pytest.importorskip(package, reason="the site's packages are not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

from real_site import CHROMIUM  # noqa: E402
from test_browser import DESKTOP, PHONE, RULES  # noqa: E402

from attnlab import TOY_WORLD, attention, byhand, figures  # noqa: E402
from attnlab.sphinxext import explorer  # noqa: E402
from attnlab.world_file import BUILT_IN, parse_world, read_world  # noqa: E402

if not CHROMIUM.exists():
    pytest.skip(f"there is no {CHROMIUM}", allow_module_level=True)

MATRICES = ("X", "Q", "K", "scores", "weights", "output")
#: What the page shows, as numbers: each table by its caption's first word.
TABLES = """() => Object.fromEntries([...document.querySelectorAll('.explorer-app table')].map(
    table => [table.caption.textContent.match(/^\\w+/)[0].toLowerCase(),
    [...table.tBodies[0].rows].map(row => [...row.querySelectorAll('td')].map(td =>
        td.querySelector('input')?.valueAsNumber
            ?? (td.textContent === '−∞' ? -1e999 : Number(td.textContent.replace('−', '-'))))),
]))"""


@pytest.fixture
def open_page(browser, base):
    """Open the explorer; an error of its scripts, or a message on the console, fails the test."""
    contexts, problems = [], []

    def open_page(fragment="", address=f"{base}explorer.html", **options):
        context = browser.new_context(**{"viewport": DESKTOP, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console",
            lambda message: address.startswith(base) and problems.append(message.text),
        )
        page.goto(f"{address}#{fragment}" if fragment else address)
        if options.get("java_script_enabled", True):
            page.wait_for_selector(".explorer-status")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def page(open_page):
    return open_page()


def expected(sentence, **settings):
    """The package's matrices for the built-in world."""
    head = byhand.Head(tuple(sentence.split()), **settings)
    found = byhand.attend(TOY_WORLD, head)
    return {"scores": found.scores, "weights": found.weights, "output": found.output}


def assert_shows(page, matrices):
    shown = page.evaluate(TABLES)
    for name, matrix in matrices.items():
        np.testing.assert_allclose(shown[name], matrix, atol=0.000501, err_msg=name)


def status(page):
    return page.locator(".explorer-status").inner_text()


def message(page):
    return page.locator(".explorer-message").inner_text()


def field(page, name):
    return page.get_by_role("spinbutton", name=name, exact=True)


# Against the package


def random_case(rng):
    n, axes, channels = rng.integers(1, [9, 7, 5])
    size = rng.choice([0.3, 1, 3])

    def draw(*shape):
        return np.round(rng.normal(0, size, shape), rng.integers(0, 6)) + 0.0

    W_Q, W_K, W_V = draw(axes, channels), draw(axes, channels), draw(axes, axes)
    scaled, causal = map(bool, rng.integers(0, 2, 2))
    kind = rng.integers(3)
    if kind == 0:  # raw
        W_Q = W_K = np.eye(axes)
        scaled = False
    if kind == 1:
        W_V = np.eye(axes)
    arrays = {"X": draw(n, axes), "W_Q": W_Q, "W_K": W_K, "W_V": W_V}
    return arrays, scaled, causal, float(rng.choice([1.0, 0.5, 5, 2.25]))


def test_thousands_of_random_heads_agree_with_the_package(page, base, summary):
    rng = np.random.default_rng(0)
    cases = [random_case(rng) for _ in range(2500)]
    assert {case[0]["X"].shape[0] for case in cases} == set(range(1, 9))
    found = page.evaluate(
        """async ([address, cases]) => {
            const { attend } = await import(address);
            return cases.map(case_ => {
                const made = attend(case_);
                for (const row of made.scores)  // JSON has no infinity
                    row.forEach((x, j) => (row[j] = x === -Infinity ? 'hidden' : x));
                return made;
            });
        }""",
        [
            f"{base}_static/explorer/attention.mjs",
            [
                {name: array.tolist() for name, array in arrays.items()}
                | {"scaled": scaled, "causal": causal, "sharpness": sharpness}
                for arrays, scaled, causal, sharpness in cases
            ],
        ],
    )
    largest = dict.fromkeys(MATRICES, 0.0)
    for (arrays, scaled, causal, sharpness), made in zip(cases, found, strict=True):
        X, W_Q, W_K, W_V = (arrays[name] for name in ("X", "W_Q", "W_K", "W_V"))
        undo = 1.0 if scaled else np.sqrt(W_Q.shape[1])
        theirs = attention(X, W_Q * (undo * sharpness), W_K, W_V, causal)
        ours = {"X": X, "Q": X @ W_Q, "K": X @ W_K, **theirs._asdict()}
        for name in MATRICES:
            a = np.array(made[name], dtype=object)
            a = np.where(a == "hidden", -np.inf, a).astype(float)
            b = ours[name]
            assert a.shape == b.shape
            assert (np.isinf(a) == np.isinf(b)).all()
            a, b = a[np.isfinite(a)], b[np.isfinite(b)]
            # Weights to 1e-12 as they are; entries of other sizes by the size of the largest.
            scale = 1.0 if name == "weights" else max(1.0, np.abs(b).max())
            largest[name] = max(largest[name], (np.abs(a - b) / scale).max())
    summary(
        f"explorer: {len(cases)} random heads, largest differences from the package: "
        + ", ".join(f"{name} {x:.1e}" for name, x in largest.items())
    )
    assert max(largest.values()) <= 1e-12


# The page


def test_it_starts_with_the_world_of_the_package(page):
    assert_shows(page, {"x": TOY_WORLD.embed("the river bank"), **expected("the river bank")})
    assert status(page) == "bank looks most at itself: 0.498."
    picture = page.locator(".explorer-picture svg").get_attribute("aria-label")
    assert "bank from (0.300, 0.300) to (0.435, 0.149)" in picture
    assert picture.startswith("On water and money: ")


def test_words_come_go_and_move(page):
    page.get_by_role("button", name="Remove river").click()
    assert_shows(page, expected("the bank"))
    page.get_by_label("A word of the world").select_option("money")
    page.get_by_role("button", name="Add the word of the world").click()
    assert_shows(page, expected("the bank money"))
    page.get_by_role("button", name="Move left money").press("Enter")
    assert_shows(page, expected("the money bank"))
    assert page.evaluate("document.activeElement.dataset.key") == "Move left money"
    page.get_by_label("A new word").fill("boat")
    page.get_by_label("A new word").press("Enter")
    field(page, "X, boat, water").fill("0.7")
    assert page.evaluate(TABLES)["scores"][3] == [0, 0, 0.21, 0.49]
    page.get_by_label("A new word").fill("two words")
    page.get_by_role("button", name="Add a new word").click()
    assert "no spaces" in message(page)
    for word in ("river", "a", "b", "c"):
        page.get_by_label("A new word").fill(word)
        page.get_by_label("A new word").press("Enter")
    assert len(page.evaluate(TABLES)["x"]) == 8
    assert page.get_by_label("A new word").is_disabled()


def test_every_knob_of_the_head(page):
    page.get_by_label("with W_Q and W_K").check()
    wired = {"name": "wired"}
    assert_shows(page, expected("the river bank", **wired))
    page.get_by_label("divide by √d_k").uncheck()
    wired["scaled"] = False
    assert_shows(page, expected("the river bank", **wired))
    page.get_by_label("causal mask").check()
    wired["causal"] = True
    assert_shows(page, expected("the river bank", **wired))
    field(page, "Sharpness").fill("2.5")
    assert_shows(page, expected("the river bank", **wired, sharpness=2.5))
    page.get_by_label("values from W_V").check()
    field(page, "W_V, place, filler").fill("-2")
    field(page, "W_Q, place, topic").fill("1.25")
    field(page, "W_K, water, place").fill("0.5")
    W_Q, W_K, W_V = TOY_WORLD.W_Q.copy(), TOY_WORLD.W_K.copy(), np.eye(4)
    W_V[2, 3], W_Q[2, 0], W_K[0, 1] = -2, 1.25, 0.5
    X = TOY_WORLD.embed("the river bank")
    made = attention(X, W_Q * (np.sqrt(2) * 2.5), W_K, W_V, True)
    shown = made._asdict() | {"q": X @ W_Q, "k": X @ W_K, "v": X @ W_V}
    assert_shows(page, shown)


def test_a_field_takes_steps_by_keyboard_and_refuses_what_is_no_number(page):
    cell = field(page, "X, bank, water")
    cell.press("ArrowUp")
    cell.press("ArrowUp")
    assert page.evaluate(TABLES)["scores"][2][2] == pytest.approx(0.5**2 + 0.09 + 0.81)
    cell.fill("")
    assert cell.get_attribute("aria-invalid") == "true"
    cell.blur()
    assert cell.input_value() == "0.5"


def test_each_number_shows_where_it_comes_from(page):
    page.get_by_role("button", name="Hide the future").click()
    page.get_by_label("values from W_V").check()
    cells = page.locator(".explorer-app td[aria-describedby]")
    assert cells.count() == 3 * (2 + 2 + 4 + 3 + 3 + 4)
    for i in range(cells.count()):
        cell = cells.nth(i)
        cell.click()
        text = cell.inner_text()
        steps = page.locator("#explorer-lines p").all_inner_texts()
        assert steps[-1].endswith(f" {text}"), steps
        title = page.locator(".explorer-calculation strong").inner_text()
        assert title.endswith(f": {text}")
    page.locator('[data-key="scores 2 1"]').click()
    assert page.locator("#explorer-lines p").all_inner_texts() == [
        "topic: 1.8 × 0.9 = 1.620",
        "place: 0 × 0.3 = 0.000",
        "bank · river = 1.620 + 0.000 = 1.620",
        "divided: 1.620 / √2 ≈ 1.146",
    ]
    page.locator('[data-key="weights 2 1"]').click()
    assert page.locator("#explorer-lines p").all_inner_texts()[-2:] == [
        "sum = 1.000 + 3.144 + 2.146 ≈ 6.290",
        "share: 3.144 / 6.290 ≈ 0.500",
    ]


def test_arrow_keys_lead_from_number_to_number(page):
    page.locator('[data-key="weights 0 0"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.key") == "weights 1 1"
    assert page.locator(".explorer-calculation strong").inner_text().startswith("weights: river")
    stops = page.locator('.explorer-app td[tabindex="0"]').count()
    assert stops == 5  # one a table: Q, K, scores, weights, output


def test_situations_lead_to_their_lessons(page, site):
    presets = page.locator(".explorer-presets button")
    lessons = set()
    for i in range(presets.count()):
        presets.nth(i).click()
        link = page.locator(".explorer-look a")
        assert (site / link.get_attribute("href")).is_file()
        lessons.add(link.inner_text().split()[1])
    assert lessons == set("123456")
    page.get_by_role("button", name="Swap Q and K").click()
    swapped = page.evaluate(TABLES)["scores"]
    page.get_by_role("button", name="A wired head").click()
    assert np.transpose(swapped).tolist() == page.evaluate(TABLES)["scores"]
    before = page.evaluate(TABLES)["weights"][2][1]
    page.get_by_role("button", name="Winner takes all").click()
    assert page.evaluate(TABLES)["weights"][2][1] > 0.85 > before
    page.get_by_role("button", name="Order does not matter").click()
    forwards = expected("the river bank")["output"]
    assert_shows(page, {"output": forwards[::-1]})


def test_a_change_of_eight_words_shows_at_once(page, summary):
    for word in ("money", "a", "b", "c", "d"):
        page.get_by_label("A new word").fill(word)
        page.get_by_label("A new word").press("Enter")
    page.get_by_label("with W_Q and W_K").check()
    times = page.evaluate(
        """() => {
            const field = document.querySelector('[data-key="X 2 0"]');
            const times = [];
            for (let i = 0; i < 30; i++) {
                const start = performance.now();
                field.value = i / 10;
                field.dispatchEvent(new Event('input'));
                document.body.offsetHeight;  // until the layout is there
                times.push(performance.now() - start);
            }
            return times.sort((a, b) => a - b);
        }"""
    )
    shown = page.evaluate(TABLES)
    assert len(shown["x"]) == 8
    assert shown["x"][2][0] == 2.9
    assert shown["k"][2][0] == 3.2  # the results follow before the event is over
    summary(f"explorer: a change of eight words shows in {times[len(times) // 2]:.1f} ms (median)")


# The address


@pytest.mark.parametrize("name", ["Winner takes all", "Order does not matter", "Swap Q and K"])
def test_an_address_opens_what_it_was_copied_from(page, open_page, name):
    page.get_by_role("button", name=name).click()
    field(page, "X, bank, water").fill("-0.125")
    page.get_by_label("values from W_V").check()
    field(page, "W_V, water, money").fill("1e-7")
    fragment = page.evaluate("location.hash.slice(1)")  # page.url comes later
    assert open_page(fragment).evaluate(TABLES) == page.evaluate(TABLES)


def test_the_browsers_way_back_undoes_a_choice(page):
    start = page.evaluate(TABLES)
    page.get_by_role("button", name="The money bank").click()
    changed = page.evaluate(TABLES)
    assert changed != start
    page.go_back()
    playwright.expect(page.locator(".explorer-words")).to_contain_text("river")
    assert page.evaluate(TABLES) == start
    page.go_forward()
    playwright.expect(page.locator(".explorer-words")).to_contain_text("money")
    assert page.evaluate(TABLES) == changed


HOSTILE = {
    "s=the+river+bank": "another version",
    "v=2&s=the": "another version",
    "v=1&s=" + "a" * 9000: "too long",
    "v=1&s=the+the": "no word twice",
    "v=1&s=": "1 to 8 words",
    "v=1&s=nobody": "not known",
    "v=1&s=the+river+bank&x=0": "sharpness",
    "v=1&s=the&x=NaN": "no number",
    "v=1&s=the&x=1e999": "sharpness",
    "v=1&s=the&x=Infinity": "no number",
    "v=1&s=the&h=constructor": "raw or wired",
    "v=1&s=the&q=1+2_3": "W_Q needs",
    "v=1&s=the&m=1": "W_V needs",
    "v=1&s=the&p=0+9": "two of the axes",
    "v=1&s=the&p=0": "two of the axes",
    "v=1&s=the&d=yes": "neither 0 nor 1",
    "v=1&s=the&w=the+1": "a number for each axis",
    "v=1&s=the&w=the+1+2+3+1e300": "a number for each axis",
    "v=1&s=the&w=the+1+2+3+1e99": "a number for each axis",
    "v=1&s=the&w=": "cannot be a name",
    "v=1&s=the&__proto__=1": "unknown part",
    "v=1&s=the&s=bank": "twice",
    "v=1&s=the&f=__proto__": "not a word",
    "v=1&s=the&w=%3Cimg+src=x+onerror=alert(1)%3E": "no number",
    "v=1&s=%3Cscript%3Ealert(1)%3C/script%3E": "not known",
    "v=1&s=the&a=" + "+".join(f"a{i}" for i in range(17)): "axes: 1 to 16",
    "v=1&s=the&w=%E2%80%AEevil+1+2+3+4": "cannot be a name",
    "v=1&s=%": "not known",
}


def test_addresses_that_make_no_sense_are_refused(page):
    start = page.evaluate(TABLES)
    for fragment, why in HOSTILE.items():
        page.evaluate("fragment => { location.hash = fragment }", fragment)
        playwright.expect(page.locator(".explorer-message")).to_contain_text(why)
        assert "Here is the workshop’s world" in message(page).replace("'", "’")
        assert page.evaluate(TABLES) == start
        assert page.locator(".explorer-app :is(script, img)").count() == 0


def test_a_hostile_word_is_only_a_word(open_page):
    word = "<img/src=x>&amp;__proto__"
    fragment = f"v=1&s={word.replace('&', '%26')}+__proto__"
    fragment += f"&w={word.replace('&', '%26')}+1+2+3+4&w=__proto__+1+0+0+0"
    page = open_page(fragment)
    assert page.locator(".explorer-words bdi").all_inner_texts() == [word, "__proto__"]
    assert page.locator(".explorer-app img").count() == 0
    page.get_by_role("button", name="Move left __proto__").click()
    assert page.evaluate(TABLES)["scores"] == [[1, 1], [1, 30]]


def test_a_place_on_the_page_is_no_state(open_page):
    page = open_page("the-address")
    assert message(page) == ""


# World files


def download(page):
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as a world file").click()
    return Path(saving.value.path())


def test_a_saved_file_gives_the_package_the_same_matrices(page):
    page.get_by_role("button", name="Hide the future").click()
    page.get_by_role("button", name="Move left bank").click()
    page.get_by_label("A new word").fill("na'ï.ve")
    page.get_by_label("A new word").press("Enter")
    field(page, "X, na'ï.ve, money").fill("-0.75")
    field(page, "W_Q, place, topic").fill("1e-9")
    field(page, "Sharpness").fill("1.5")
    file = read_world(download(page))
    assert file.world.sentences[0] == "the bank river na'ï.ve"
    assert len(file.world.sentences) >= 2
    assert file.explorer == {"head": "wired", "scaled": True, "causal": True, "sharpness": 1.5}
    head = byhand.Head(tuple(file.world.sentences[0].split()), "wired", True, True, 1.5)
    made = byhand.attend(file.world, head)
    assert_shows(page, made._asdict())


def test_a_sentence_without_a_second_one_gets_one_or_says_what_it_needs(page):
    page.get_by_role("button", name="Remove bank").click()
    world = read_world(download(page)).world
    assert world.sentences[0] == "the river"
    assert world.focus == "river"
    page.get_by_role("button", name="Remove river").click()
    page.get_by_role("button", name="Save as a world file").click()
    assert "needs two sentences" in message(page)


def test_files_of_the_package_open(page, tmp_path):
    for name, text in {
        "own": BUILT_IN.toml.replace("0.9, 0.0, 0.3", "0.8, 0.0, 0.3"),
        "explored": BUILT_IN.toml + '\n[explorer]\nhead = "wired"\ncausal = true\nsharpness = 2\n',
        "raw": re.sub(r"(?s)\n\[head\].*", "\n", BUILT_IN.toml),
    }.items():
        path = tmp_path / f"{name}.toml"
        path.write_text(text, "utf-8")
        page.get_by_label("Open a world file").first.set_input_files(path)
        playwright.expect(page.get_by_label("Open a world file").first).to_have_value("")
        assert message(page) == ""
        file = parse_world(text)
        settings = file.explorer
        head = byhand.Head(
            tuple(file.world.sentences[0].split()),
            settings.get("head", "raw"),
            settings.get("causal", False),
            sharpness=float(settings.get("sharpness", 1)),
        )
        assert_shows(page, byhand.attend(file.world, head)._asdict())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("not toml", "world.toml cannot be opened"),
        ("axes = 1", "axes must be a list"),
        (
            BUILT_IN.toml.replace("0.9, 0.0, 0.3, 0.0", "0.9"),
            "“river” needs a number for each axis",
        ),
        (BUILT_IN.toml.replace("0.9, 0.0, 0.3", "nan, 0.0, 0.3"), "a number for each axis"),
        ("x = 1\n" + BUILT_IN.toml, "“x” is not known"),
        ("# " + "x" * 100_001, "more than 100000 bytes"),
        ("", "must be a list"),
    ],
)
def test_files_that_are_no_world_are_refused(page, tmp_path, text, why):
    start = page.evaluate(TABLES)
    path = tmp_path / "world.toml"
    path.write_text(text, "utf-8")
    page.get_by_label("Open a world file").first.set_input_files(path)
    playwright.expect(page.locator(".explorer-message")).to_contain_text(why)
    assert page.evaluate(TABLES) == start


# For everyone


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_axe_finds_nothing_in_any_state(open_page, viewport):
    page = open_page(viewport=viewport, reduced_motion="reduce")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    for preset in ("The river bank", "Hide the future", "Winner takes all"):
        page.get_by_role("button", name=preset).click()
        page.get_by_label("values from W_V").check()
        field(page, "X, bank, water").fill("")
        page.get_by_label("A new word").fill("a b")
        page.get_by_label("A new word").press("Enter")
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            violations = page.evaluate(
                "rules => axe.run('.explorer-app', {runOnly: rules, resultTypes: ['violations']})"
                ".then(({violations}) => violations.map(({id, nodes}) =>"
                " [id, nodes.map(({target}) => target.join(' '))]))",
                [rule for rule in RULES if rule != "best-practice"],
            )
            assert violations == []


@pytest.mark.parametrize("width", [390, 320])
def test_it_fits_a_phone(open_page, width):
    page = open_page(viewport={"width": width, "height": 844})
    for preset in page.locator(".explorer-presets button").all():
        preset.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = page.evaluate(
        """() => [...document.querySelectorAll('.explorer-app :is(button, select)')]
            .map(e => e.getBoundingClientRect()).filter(({width, height}) =>
                width && (width < 24 || height < 24)).length"""
    )
    assert small == 0


def test_without_scripts_the_page_shows_the_default_state(open_page):
    page = open_page(java_script_enabled=False)
    text = page.locator("#explorer-here").inner_text()
    assert "needs JavaScript" in text
    for number in ("0.498", "0.435", "0.540"):
        assert number in text
    assert page.locator("#explorer-here table").count() == 3


def test_it_works_from_a_folder(open_page, site):
    page = open_page("v=1&s=the+money+bank", address=(site / "explorer.html").as_uri())
    assert_shows(page, expected("the money bank"))
    page.get_by_role("button", name="A wired head").click()
    assert_shows(page, expected("the river bank", name="wired"))
    assert "h=wired" in page.evaluate("location.hash")


def test_it_weighs_little_and_only_on_its_page(site, summary):
    html = (site / "explorer.html").read_text("utf-8")
    files = set(re.findall(r"_static/explorer/[\w.]+", html)) - {"_static/explorer/attention.mjs"}
    assert {Path(name).name for name in files} == {"explorer.js", "explorer.css", "toml.js"}
    size = sum(len(gzip.compress((site / name).read_bytes(), mtime=0)) for name in files)
    summary(f"explorer: {size} bytes, compressed")
    assert size < 40_000
    assert "explorer/explorer" not in (site / "index.html").read_text("utf-8")


def test_the_classic_script_is_made_of_the_modules():
    made = explorer.classic(
        ["export const a = 1;\n", 'import { a } from "./a.mjs";\nexport function f() {\n  a;\n}\n']
    )
    assert made == '"use strict";\n{\nconst a = 1;\n\nfunction f() {\n  a;\n}\n}\n'


def test_words_have_the_figures_colours(site):
    style = (site / "_static" / "explorer" / "explorer.css").read_text("utf-8")
    for dark in (False, True):
        colours = figures._THEMES[dark].words
        for i, colour in enumerate(colours):
            assert style.count(f"--word-{i}: {colour};") == 1 + dark


def test_limits_are_the_packages(page):
    from attnlab import world_file as files

    limits = (
        files.MAX_WORDS, files.MAX_AXES, files.MAX_CHANNELS, files.MAX_SENTENCES,
        files.MAX_SENTENCE_WORDS, files.MAX_NAME, files.MAX_NUMBER, files.MAX_SHARPNESS,
        files.MAX_BYTES,
    )  # fmt: skip
    names = "words axes channels sentences sentenceWords name number sharpness bytes"
    assert page.evaluate(
        f"import('./_static/explorer/state.mjs').then(({{LIMITS}}) => "
        f"'{names}'.split(' ').map(name => LIMITS[name]))"
    ) == list(limits)


def test_the_world_on_the_page_is_the_packages(site):
    from html import unescape

    html = (site / "explorer.html").read_text("utf-8")
    data = json.loads(unescape(re.search(r'id="explorer-here" data-world="([^"]*)"', html)[1]))
    assert data == BUILT_IN.data
    assert data["words"] == tomllib.loads(BUILT_IN.toml)["words"]
