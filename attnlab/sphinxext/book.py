"""The printed edition: pages of the built site as one PDF, printed by Chromium.

Run it on a built site, with the pages to print, in order, as file names or patterns::

    python -m attnlab.sphinxext.book build/html "lessons/s*.html" results.html glossary.html

- The pages become one HTML document, so links between them lead from page to page of the PDF.
- The answers to exercises stand in a chapter of their own at the end.
- It is printed until the page numbers in the contents list are right: the second print has those
  of the first.
- The PDF goes to the site's downloads, and the list of downloads is made again.
"""

from __future__ import annotations

import argparse
import html
import os
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from attnlab import __version__, worksheet
from attnlab.sphinxext import bundle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: No sandbox, because servers that build sites often have none; these pages are our own.
SWITCHES = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")

#: The chapter at the end.
ANSWERS = "Answers to the exercises"
#: What of a page is of no use on paper.
_NOT_PRINTED = (
    ".headerlink, .attnlab-take-away, .attnlab-unseen, .attnlab-cited, .sphx-glr-footer, "
    "script, button, source, .only-dark"
)

STYLE = """
@page {
  size: A4; margin: 20mm 16mm 22mm;
  @bottom-center { content: counter(page); font: 9pt sans-serif }
}
@page :first { @bottom-center { content: none } }
html { font-size: 10pt }
body { background: white }
article { break-before: page; max-width: none; padding: 0 }
.book-cover { height: 230mm; display: flex; flex-direction: column; justify-content: center }
.book-cover h1 { font-size: 2.6em; margin: 0 }
.book-contents { break-before: page }
.book-contents ul { padding: 0 }
.book-contents li { display: flex; list-style: none; margin: .4em 0 }
.book-contents a { color: inherit; flex: 1; text-decoration: none }
h1, h2, h3, h4 { break-after: avoid; break-inside: avoid }
p { orphans: 3; widows: 3 }
img, svg, table, tr, figure { break-inside: avoid }
.math, .admonition, .highlight, .sphx-glr-script-out { break-inside: avoid }
.highlighttable, .attnlab-log, .attnlab-log * { break-inside: auto }
img { break-after: auto; max-height: 220mm; object-fit: contain }
.highlight pre { white-space: pre-wrap; font-size: 8pt }
.highlighttable pre, .sphx-glr-script-out pre, .attnlab-log { font-size: 7pt !important }
.attnlab-by-hand p { break-after: avoid }
"""

#: All is there that will be printed. The document itself has no scripts.
READY = """async () => {
    await document.fonts.ready;
    await Promise.all([...document.images].map(image => image.decode()));
}"""


def page_id(page: str, anchor: str = "") -> str:
    """Return the id of a page, or of a place on it, in the book."""
    return f"{page.removesuffix('.html')}--{anchor}".replace("/", "-")


def link(address: str, page: str, printed: Sequence[str], ids: set[str]) -> str | None:
    """Return where a link of a page leads in the book.

    Parameters
    ----------
    address : str
        The link as it stands on the page.
    page : str
        The page, by its path in the site.
    printed : sequence of str
        The pages of the book.
    ids : set of str
        All ids in the book.

    Returns
    -------
    str or None
        An anchor of the book, another site's address, or None if the book has no such place.
    """
    parts = urlsplit(address)
    if parts.scheme:
        return address
    target = os.path.normpath(f"{page}/../{unquote(parts.path)}") if parts.path else page
    anchor = page_id(target, unquote(parts.fragment))
    return f"#{anchor}" if target in printed and anchor in ids else None


def assemble(site: Path, printed: Sequence[str], numbers: Mapping[str, int]) -> str:
    """Return pages of a site as one HTML document.

    Parameters
    ----------
    site : Path
        The folder of the built site.
    printed : sequence of str
        The pages by their paths in it, in order.
    numbers : mapping of str to int
        On which page of paper each id stands; empty before the first print.

    Returns
    -------
    str
        A cover, the contents, and the article of each page.
    """
    from bs4 import BeautifulSoup

    pages: dict[str, Any] = {
        page: BeautifulSoup(
            (site / page).read_text("utf-8"),
            "html.parser",
            preserve_whitespace_tags={"article"},  # in code, spaces are columns
        )
        for page in printed
    }
    articles = {page: _article(parsed, site, page) for page, parsed in pages.items()}
    ids = {tag["id"] for article in articles.values() for tag in article.parent.select("[id]")}
    contents = ""
    for page, article in articles.items():
        for tag in article.select("a[href]"):
            address = link(tag["href"], page, printed, ids)
            if address is None:
                tag.unwrap()
            else:
                tag["href"] = address
        here = page_id(page)
        title = html.escape(article.h1.get_text())
        contents += f'<li><a href="#{here}">{title}</a> {numbers.get(here, "")}</li>'
    answers = _move_answers(articles, numbers)
    if answers:
        contents += f'<li><a href="#answers">{ANSWERS}</a> {numbers.get("answers", "")}</li>'
    styles = "".join(
        map(str, next(iter(pages.values())).head.select("link[rel=stylesheet], style"))
    )
    title = "LLM Self-Attention by Hand"
    return (
        f'<!DOCTYPE html><html lang="en" class="from-a-folder"><meta charset="utf-8">'
        f"<title>{title}</title>"
        f"{styles}<style>{STYLE}</style><body>"
        f'<header class="book-cover"><h1>{title}</h1>'
        f"<p>Printed edition, version {__version__}</p></header>"
        f'<nav class="book-contents"><h1>Contents</h1><ul>{contents}</ul></nav>'
        f"{''.join(map(str, articles.values()))}{answers}</body></html>"
    )


def _move_answers(articles: Mapping[str, Any], numbers: Mapping[str, int]) -> str:
    """Take the answers to exercises out of the articles, and return them as one of their own.

    Each exercise says on which page of paper its answer is.
    """
    from bs4 import BeautifulSoup

    answers = ""
    for article in articles.values():
        solutions = article.select(".attnlab-exercise > .attnlab-solution")
        if solutions:
            answers += f"<h2>{html.escape(article.h1.get_text())}</h2>"
        for solution in solutions:
            exercise = solution.parent
            here = f"answers--{exercise['id']}"
            title = html.escape(exercise.select_one(".attnlab-exercise-title").get_text())
            where = f"page {numbers[here]}" if here in numbers else "at the end"
            solution.summary.decompose()
            answers += f'<h3 id="{here}">{title}</h3>{solution.decode_contents()}'
            link = f'<p>Answer: <a href="#{here}">{where}</a></p>'
            solution.replace_with(BeautifulSoup(link, "html.parser"))
    return answers and f'<article id="answers"><h1>{ANSWERS}</h1>{answers}</article>'


def _article(parsed: Any, site: Path, page: str) -> Any:
    """Return what to print of a page, with ids that no other page has and files that are found."""
    for tag in parsed.select("article img[srcset]"):
        tag["src"] = tag["srcset"].split(",")[-1].split()[0]  # the sharpest
        del tag["srcset"]
    for attribute in ("src", "href"):
        for tag in parsed.select(f"article [{attribute}], link[{attribute}]"):
            if tag.name != "a" and not re.match("[a-z]+:|#", tag[attribute]):
                path, mark, query = tag[attribute].partition("?")
                file = (site / page).parent / unquote(path)
                tag[attribute] = f"{file.resolve().as_uri()}{mark}{query}"
    article = parsed.article
    for tag in article.select(_NOT_PRINTED):
        tag.decompose()
    for tag in article.select("[id]"):
        tag["id"] = page_id(page, tag["id"])
    article["id"] = page_id(page)
    for tag in article.select("details"):
        tag["open"] = ""
    return article


def print_pdf(browser: Any, document: Path, pdf: Path) -> None:
    """Print an HTML file with Playwright's browser."""
    page = browser.new_page()
    page.emulate_media(media="print", color_scheme="light")
    page.goto(document.as_uri())
    page.evaluate(READY)
    page.pdf(path=pdf, prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
    page.close()


def page_numbers(pdf: Path) -> dict[str, int]:
    """Return on which page of a PDF each anchor stands that something leads to."""
    from pypdf import PdfReader

    reader = PdfReader(pdf)
    return {
        name.lstrip("/"): (reader.get_destination_page_number(place) or 0) + 1
        for name, place in reader.named_destinations.items()
    }


def make_book(site: Path, printed: Sequence[str], pdf: Path, browser_path: str | None) -> None:
    """Print pages of a site.

    Parameters
    ----------
    site, printed
        As for :func:`assemble`.
    pdf : Path
        The file to write.
    browser_path : str or None
        Chromium's program; Playwright's own if None.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver, TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=browser_path, args=SWITCHES)
        document, made = Path(folder, "book.html"), Path(folder, "book.pdf")
        numbers: dict[str, int] = {}
        earlier = None
        while numbers != earlier:  # then the contents list has the right numbers
            document.write_text(assemble(site, printed, numbers), "utf-8")
            print_pdf(browser, document, made)
            earlier, numbers = numbers, page_numbers(made)
        browser.close()
        # The day of printing would be the only difference between two prints.
        day = b"%04d%02d%02d%02d%02d%02d" % bundle.timestamp()
        content = re.sub(rb"(?<=Date \(D:)\d{14}", day, made.read_bytes())
        pdf.write_bytes(content)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print pages of a built site and offer them on its page of downloads."""
    parser = argparse.ArgumentParser(prog="python -m attnlab.sphinxext.book", description=__doc__)
    parser.add_argument("site", type=Path, help="the folder of the built site")
    parser.add_argument("pages", nargs="+", help="files in it, or patterns, in order")
    parser.add_argument("--list-on", default="download.html", help="the page that lists downloads")
    options = parser.parse_args(arguments)
    site = options.site.resolve()
    printed = []
    for pattern in options.pages:
        found = sorted(file.relative_to(site).as_posix() for file in site.glob(pattern))
        if not found:
            parser.error(f"there is no page {pattern} in {site}")
        printed += found
    browser_path = next(filter(None, map(shutil.which, worksheet.BROWSERS)), None)
    pdf = site / bundle.DOWNLOADS / bundle.BOOK
    make_book(site, printed, pdf, browser_path)
    bundle.finish(site, site / options.list_on)
    print(f"wrote {pdf}")


if __name__ == "__main__":
    main()
