"""What a page costs its reader, beside a plain furo page of the same words.

Each page is opened in a fresh browser, and asked for what it loaded and when it showed.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bs4 import BeautifulSoup
from playwright.sync_api import Browser, sync_playwright

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from real_site import CHROMIUM, LESSONS, ONLY_HERE, SWITCHES, build, copy_project, served

ROUNDS = 5
#: What a lesson with all that it loads may weigh, compressed.
AIM = 250_000
MEASURE = """async () => {
    const shifts = [];
    new PerformanceObserver(list => shifts.push(...list.getEntries()))
        .observe({type: 'layout-shift', buffered: true});
    await document.fonts.ready;
    await new Promise(resolve => setTimeout(resolve, 100));
    const loaded = ['navigation', 'resource'].flatMap(type => performance.getEntriesByType(type));
    return [
        loaded.reduce((sum, entry) => sum + entry.encodedBodySize, 0),
        loaded.length,
        performance.getEntriesByName('first-contentful-paint')[0].startTime,
        shifts.reduce((sum, shift) => sum + shift.value, 0),
    ];
}"""


def plain_site(site: Path, names: list[str], folder: Path) -> Path:
    """Build pages with the same words, by furo as it comes."""
    for name in names:
        page = BeautifulSoup((site / f"{name}.html").read_text("utf-8"), "html.parser")
        words = [
            " ".join(block.get_text().split())
            for block in page.select("article p, article li, article pre, article h2")
        ]
        text = "\n\n".join(f"``{block}``" if "`" not in block else "" for block in words if block)
        source = folder / f"{name}.rst"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(f"{name}\n{'=' * len(name)}\n\n{text}\n", "utf-8")
    (folder / "index.rst").write_text(
        "Plain\n=====\n\n.. toctree::\n\n" + "\n".join(f"   {name}" for name in names), "utf-8"
    )
    command = [sys.executable, "-m", "sphinx", "-q", "-C", "-D", "html_theme=furo"]
    subprocess.run([*command, str(folder), str(folder / "html")], check=True)
    return folder / "html"


def measure(browser: Browser, address: str) -> list[float]:
    """Return the medians of bytes, requests, first paint and layout shift."""
    found = []
    for _ in range(ROUNDS):
        context = browser.new_context(viewport={"width": 390, "height": 844})
        page = context.new_page()
        page.goto(address)
        found.append(page.evaluate(MEASURE))
        context.close()
    return [median(values) for values in zip(*found, strict=True)]


def pages() -> Iterator[bool]:
    """Measure the home page and the lessons, and their plain counterparts."""
    names = ["index", *(f"lessons/{lesson}" for lesson in LESSONS)]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        root = Path(folder)
        copy_project(root)
        build(root).check_returncode()
        site = root / "build" / "html"
        plain = plain_site(site, names[1:], root / "plain")
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=[*SWITCHES, ONLY_HERE])
        print("pages                          kB  requests  first paint, ms  layout shift")
        line = "  {:<24} {:6.1f} {:9.0f} {:16.0f} {:13.3f}"
        heaviest = 0.0
        with served(site) as ours, served(plain, policy="") as theirs:
            for name in names:
                kinds = {name: ours} if name == "index" else {name: ours, "  plain furo": theirs}
                for label, base in kinds.items():
                    size, requests, paint, shift = measure(browser, f"{base}{name}.html")
                    print(line.format(label, size / 1000, requests, paint, shift))
                    if base == ours:
                        heaviest = max(heaviest, size)
        browser.close()
    verdict = "within" if heaviest <= AIM else "MISSES"
    print(f"  {verdict} the aim of at most {AIM / 1000:.0f} kB: {heaviest / 1000:.1f} kB")
    yield heaviest <= AIM
