"""The site as its readers meet it: in a browser, on any screen, with and without a mouse."""

import re
from pathlib import Path
from urllib.request import urlopen

import pytest

for package in ("sphinx", "sphinx_gallery", "furo", "hatchling", "torch"):
    pytest.importorskip(package, reason="the site's packages are not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

from real_site import (  # noqa: E402
    CHROMIUM,
    LESSONS,
    POLICY,
    page_files,
)

if not CHROMIUM.exists():
    pytest.skip(f"there is no {CHROMIUM}", allow_module_level=True)

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
#: WCAG 2.2 to level AA, and what axe's makers think good besides.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
#: A lesson with all that it loads, compressed.
BUDGET = 250_000
LESSON = "lessons/s3_raw_attention.html"
INSTALL = "$ python -m venv .venv\n$ source .venv/bin/activate\n$ python -m pip install .\n"

#: How much of the page moved while it loaded, and the bytes of all that it loaded.
COST = """async () => {
    const shifts = [];
    new PerformanceObserver(list => shifts.push(...list.getEntries()))
        .observe({type: 'layout-shift', buffered: true});
    await document.fonts.ready;
    await new Promise(resolve => setTimeout(resolve, 50));
    const loaded = ['navigation', 'resource'].flatMap(type => performance.getEntriesByType(type));
    return [
        shifts.reduce((sum, shift) => sum + shift.value, 0),
        loaded.reduce((sum, entry) => sum + entry.encodedBodySize, 0),
    ];
}"""


@pytest.fixture(scope="module")
def addresses(site):
    """Every page's address within the site."""
    return sorted(file.relative_to(site).as_posix() for file in page_files(site))


@pytest.fixture
def open_page(browser):
    """Open a page in a fresh profile: no cache, no memory. Whatever goes wrong fails the test."""
    contexts, problems = [], []

    def complain(*what):
        # Browsers refuse to load a font ahead of time from a local folder. It loads all the same.
        if not (what[0].startswith("file:") and ".woff2" in " ".join(what)):
            problems.append(what)

    def open_page(address="about:blank", viewport=DESKTOP, **options):
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        page = context.new_page()
        page.on(
            "console",
            lambda message: (
                message.type in ("error", "warning")
                and complain(page.url, message.text, message.location["url"])
            ),
        )
        page.on("pageerror", lambda error: complain(page.url, str(error)))
        page.on(
            "requestfailed",
            lambda request: (
                request.failure == "net::ERR_ABORTED"  # the test went on
                or complain(page.url, request.url)
            ),
        )
        page.on(
            "request",
            lambda request: (
                re.match(r"file:|data:|http://127\.0\.0\.1:", request.url)
                or complain(page.url, request.url)
            ),
        )
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


@pytest.mark.parametrize("where", ["served", "from a folder"])
def test_no_page_fails(open_page, base, site, addresses, where):
    page = open_page()
    font = "attnlab math" if where == "served" else "attnlab math from a folder"
    for address in addresses:
        page.goto((base if where == "served" else f"{site.as_uri()}/") + address)
        shown = page.evaluate(
            """async () => {
                await document.fonts.ready;
                const math = document.querySelector('math');
                return math && [getComputedStyle(math).fontFamily.split(',')[0].slice(1, -1),
                    [...document.fonts].find(({status}) => status === 'loaded')?.family];
            }"""
        )
        assert shown in (None, [font, font])


def test_the_policy_is_strict_and_in_force(browser, base):
    assert "unsafe" not in POLICY
    page = browser.new_page()
    page.goto(base)
    assert page.evaluate(
        """() => {
            const script = document.createElement('script');
            script.textContent = 'document.body.dataset.ran = "yes"';
            document.body.append(script);
            document.body.setAttribute('style', 'display: none');
            return [document.body.dataset.ran, getComputedStyle(document.body).display];
        }"""
    ) == [None, "block"]
    page.close()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_moves_and_lessons_are_small(open_page, base, addresses, viewport):
    shifts, sizes = {}, {}
    for address in addresses:
        page = open_page(base + address, viewport)
        shifts[address], sizes[address] = page.evaluate(COST)
        page.context.close()
    assert {address: shift for address, shift in shifts.items() if shift} == {}
    lessons = {a: size for a, size in sizes.items() if re.match(r"lessons/s\d", a)}
    assert len(lessons) == len(LESSONS)
    assert {address: size for address, size in lessons.items() if size > BUDGET} == {}


def test_nothing_moves_when_the_font_comes_late(open_page, base):
    page = open_page(viewport={**PHONE, "height": 5000})  # what is out of sight does not count
    asked = []

    def late(route):
        asked.append(route.request.url)
        page.wait_for_timeout(1500)
        route.continue_()

    page.route(re.compile(r"\.woff2"), late)
    page.goto(base + LESSON, wait_until="commit")
    page.wait_for_timeout(2500)
    shift, _ = page.evaluate(COST)
    assert (len(asked), shift) == (1, 0)


def test_text_shows_before_the_pages_scripts(open_page, base):
    page = open_page()
    page.route(
        re.compile(r"\.js\b"), lambda route: "theme.js" in route.request.url and route.continue_()
    )
    page.goto(base + LESSON, wait_until="commit")
    page.locator("h1").wait_for()
    page.evaluate(
        """async () => {
            while (!performance.getEntriesByName('first-contentful-paint').length)
                await new Promise(requestAnimationFrame);
        }"""
    )
    assert page.locator("h1").is_visible()
    page.unroute_all(behavior="ignoreErrors")


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_no_page_scrolls_sideways(open_page, base, addresses, width):
    """320 is also what is left of 1280 for a reader who zooms to 400 %."""
    page = open_page(viewport={"width": width, "height": 800})
    for address in addresses:
        page.goto(base + address)
        wide = page.evaluate(
            """() => {
                const clips = element => getComputedStyle(element).overflowX !== 'visible';
                const inBox = element => element !== document.body
                    && (clips(element) || inBox(element.parentElement));
                return [...document.body.querySelectorAll('*')].filter(element =>
                    element.checkVisibility({visibilityProperty: true})
                    && element.getBoundingClientRect().right > innerWidth + 1
                    && !inBox(element)).map(element => element.outerHTML.slice(0, 100));
            }"""
        )
        assert wide == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address


def test_wide_things_scroll_inside_themselves_by_keyboard(open_page, base):
    page = open_page(base + LESSON, {"width": 320, "height": 800})
    page.locator("article").evaluate(
        """article => {
            article.innerHTML =
                `<div class="math"><math>${'<mn>0.123</mn><mo>+</mo>'.repeat(50)}</math></div>`
                + article.innerHTML;
            dispatchEvent(new Event('resize'));
        }"""
    )
    for kind in ("div.math", ".sphx-glr-script-out pre"):
        box = page.locator(kind).first
        if kind == "div.math":  # new, so the page's script does not know it
            box.evaluate("box => box.tabIndex = 0")
        box.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(200)
        assert box.evaluate("box => box.scrollLeft") > 0


def test_brackets_are_as_tall_as_the_matrix(open_page, base):
    page = open_page(base + LESSON)
    heights = page.evaluate(
        """async () => {
            const math = document.createElement('math');
            const row = '<mtr><mtd><mn>1</mn></mtd></mtr>';
            document.querySelector('article').innerHTML =
                `<math><mrow><mo>[</mo><mtable>${row.repeat(5)}</mtable><mo>]</mo></mrow></math>`;
            await document.fonts.load('16px "attnlab math"');
            const height = name =>
                document.querySelector(`article ${name}`).getBoundingClientRect().height;
            return [height('mo'), height('mtable')];
        }"""
    )
    assert heights[0] > 0.9 * heights[1]


# For everyone


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_axe_finds_nothing(open_page, base, addresses, viewport):
    script = (Path(axe.__file__).parent / "axe.min.js").read_text("utf-8")
    page = open_page(viewport=viewport, reduced_motion="reduce")
    found = {}
    for address in addresses:
        page.goto(base + address)
        page.evaluate(script)
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            violations = page.evaluate(
                "rules => axe.run(document, {runOnly: rules, resultTypes: ['violations']})"
                ".then(({violations}) => violations.map(({id, nodes}) =>"
                " [id, ...nodes.slice(0, 5).map(node => node.html.slice(0, 120))]))",
                RULES,
            )
            if violations:
                found[address, theme] = violations
    assert found == {}


def test_axe_would_find_a_figure_without_text(open_page, base):
    page = open_page(base + LESSON)
    page.locator("article img").first.evaluate("image => image.removeAttribute('alt')")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run().then(({violations}) => violations.map(({id}) => id))")
    assert "image-alt" in found


FOCUS = """() => {
    const all = 'a[href], button, input:not([type=hidden]), summary, [tabindex="0"]';
    const marked = [...document.querySelectorAll(all)].filter(
        element => element.checkVisibility({visibilityProperty: true})
            && element.getBoundingClientRect().width > 0);
    marked.forEach((element, i) => element.dataset.walk = i);
    return marked.map(element => element.outerHTML.slice(0, 100));
}"""
FOCUSED = """() => {
    const element = document.activeElement;
    if (element === document.body) return null;
    const shows = element.matches('.toctree-checkbox') ? element.nextElementSibling : element;
    const {left, top, right, bottom} = shows.getBoundingClientRect();
    const within = right > left && bottom > top && right > 0 && bottom > 0
        && left < innerWidth && top < innerHeight;
    return {
        walk: element.dataset.walk,
        seen: within && getComputedStyle(shows).outlineStyle !== 'none',
        html: element.outerHTML.slice(0, 100),
    };
}"""


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("address", ["index.html", LESSON, "lessons/index.html"])
def test_the_keyboard_reaches_everything_and_shows_where_it_is(open_page, base, address, viewport):
    page = open_page(base + address, viewport, reduced_motion="reduce")
    there = page.evaluate(FOCUS)
    reached = set()
    for _ in range(2 * len(there)):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused is None:
            break
        assert focused["seen"], focused["html"]
        reached.add(int(focused["walk"]))
    assert [html for i, html in enumerate(there) if i not in reached] == []


def test_the_keyboard_opens_and_closes_the_drawers_of_a_phone(open_page, base):
    page = open_page(base + LESSON, PHONE, reduced_motion="reduce")
    for name, drawer in (("Pages", ".sidebar-drawer"), ("On this page", ".toc-drawer")):
        link = page.locator(f"{drawer} a").last
        assert not link.is_visible()
        button = page.get_by_role("button", name=name)
        button.focus()
        page.keyboard.press("Enter")
        assert link.is_visible()
        assert button.get_attribute("aria-expanded") == "true"
        page.keyboard.press("Escape")
        assert not link.is_visible()
        assert button.get_attribute("aria-expanded") == "false"


def test_the_first_tab_offers_to_skip_to_the_text(open_page, base):
    page = open_page(base + LESSON)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/*#furo-main-content")


def test_nothing_moves_for_readers_who_prefer_that(open_page, base):
    moving = """() => [document.documentElement, ...document.querySelectorAll('body *')].filter(
        element => ['', '::before', '::after'].some(part => {
            const style = getComputedStyle(element, part || null);
            return !/^(0s(, )?)+$/.test(style.transitionDuration)
                || style.animationName !== 'none' || style.scrollBehavior !== 'auto';
        })).length"""
    assert open_page(base + LESSON).evaluate(moving) > 0
    assert open_page(base + LESSON, reduced_motion="reduce").evaluate(moving) == 0


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_reads_completely_without_javascript(open_page, base, lesson):
    text = "document.querySelector('article').innerText"
    script = open_page(f"{base}lessons/{lesson}.html")
    added = ".copy, .attnlab-answer button, .attnlab-progress"
    script.evaluate(f"document.querySelectorAll('{added}').forEach(part => part.remove())")
    plain = open_page(f"{base}lessons/{lesson}.html", java_script_enabled=False)
    assert plain.evaluate(text) == script.evaluate(text)
    assert not plain.locator(".theme-toggle:visible").count()
    for image in plain.locator("article img:visible").all():
        image.scroll_into_view_if_needed()  # it may load only now
        assert image.evaluate("image => image.decode().then(() => image.naturalWidth > 0)")


# What the pages do


@pytest.mark.parametrize("where", ["served", "from a folder"])
def test_search_finds_softmax(open_page, base, site, where):
    page = open_page((base if where == "served" else f"{site.as_uri()}/") + LESSON)
    page.get_by_role("textbox", name="Search").fill("softmax")
    page.keyboard.press("Enter")
    found = page.locator("#search-results li", has_text="Dot product and softmax").first
    found.wait_for()
    if where == "served":
        found.locator("p.context").wait_for()  # the excerpt
    page.wait_for_load_state("networkidle")
    found.get_by_role("link").first.click()
    assert page.locator("h1").inner_text().startswith("2. Dot product and softmax")


def test_the_reader_chooses_the_theme_and_it_stays(open_page, base):
    page = open_page(base + LESSON)
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.locator(".theme-toggle:visible").click()
    dark = page.evaluate(background)
    assert light != dark
    # Before anything is painted: no other script is needed.
    page.route(re.compile(r"(furo|attnlab|doctools|highlight|options)\.js"), lambda route: None)
    page.goto(base, wait_until="commit")
    page.locator("h1").wait_for()
    assert page.evaluate(background) == dark
    page.unroute_all(behavior="ignoreErrors")


def test_code_is_copied_without_prompts_answers_and_output(open_page, base):
    page = open_page(base + "install.html", permissions=["clipboard-read", "clipboard-write"])
    button = page.get_by_role("button", name="Copy").first
    button.click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == INSTALL.replace("$ ", "").rstrip()
    page.goto(base + LESSON)
    assert page.locator(".highlight-Python .copy, .highlight-python .copy").count()
    assert not page.locator(".sphx-glr-script-out .copy").count()


def test_every_download_downloads(open_page, base, addresses):
    page = open_page()
    links = set()
    for address in addresses:
        page.goto(base + address)
        links |= set(
            page.evaluate(
                "[...document.querySelectorAll('a[download], a[href*=downloads]')]"
                ".map(link => link.href.split('#')[0])"
            )
        )
    files = {link for link in links if not link.endswith(".html")}
    assert len(files) >= 2 * len(LESSONS)
    for link in files:
        with urlopen(link) as answer:
            assert answer.status == 200
            assert answer.read(), link
    page.goto(base + LESSON)
    with page.expect_download() as download:
        page.locator("a[href$='.py']").first.click()
    assert download.value.suggested_filename == "s3_raw_attention.py"


# On paper


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_prints_whole_and_alone(open_page, base, lesson):
    # A4 less its margins, at 96 dots an inch.
    page = open_page(f"{base}lessons/{lesson}.html", {"width": 718, "height": 1047})
    page.emulate_media(media="print")
    for other in (".sidebar-drawer", ".toc-drawer", "header", "footer", "nav", ".copy", "button"):
        assert not page.locator(f"{other}:visible").count(), other
    cut = page.evaluate(
        """() => [...document.querySelectorAll('article *')].filter(element => {
            const style = getComputedStyle(element), box = element.getBoundingClientRect();
            return style.display !== 'inline' && (box.right > innerWidth + 1
                || element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1
                || element.matches('img, svg, table, div.math')
                    && (box.height > innerHeight || style.breakInside !== 'avoid'));
        }).map(element => element.outerHTML.slice(0, 100))"""
    )
    assert cut == []
    printed = page.pdf(format="A4", margin=dict.fromkeys(("top", "right", "bottom", "left"), "1cm"))
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 10
