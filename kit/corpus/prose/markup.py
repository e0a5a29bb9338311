"""Plain text, Markdown and HTML to headings and paragraphs, without their markup."""

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import NamedTuple

TITLE = "title"  # of a web page: what its window is called
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
HEADING_WORDS = 20  # at most: what is longer is a paragraph


class Part(NamedTuple):
    """A heading, which has its ``level`` (:data:`HEADINGS` or :data:`TITLE`), or a paragraph."""

    text: str
    level: str = ""


Parts = Iterator[Part]


def _part(text: str, level: str = "") -> Part:
    return Part(text, level if len(text.split()) <= HEADING_WORDS else "")


# ---- plain text

#: A line of one repeated sign: below a line of text it makes that a heading.
_RULE = re.compile(r"([=~*#^_+-])(?:\s?\1){2,}$")
_TABLE_RULE = re.compile(r"[\s|+:=-]*[=-]{2}[\s|+:=-]*$")
#: A bullet, "2." or "(a)" and a space; a row of a table.
_ITEM = re.compile(r"(?:[•▪◦‣*+–-]|\(?(?:\d{1,2}|[a-z])[.)])\s|\|")


def parse_text(text: str) -> Parts:
    """Paragraphs are parted by blank lines.

    A heading is a line with a rule below, or in capitals; or, if it is short, what the text begins
    with.
    """
    for index, part in enumerate(_parse_lines(text)):
        if index == 0 and not part.text.endswith((".", ",", ";", ":")):
            yield _part(part.text, "h1")
        elif part.text.isupper() and len(part.text) > 2:
            yield _part(part.text, "h2")
        else:
            yield part


def _parse_lines(text: str) -> Parts:
    paragraph = []
    for line in [*map(str.strip, text.splitlines()), ""]:
        is_rule = _RULE.match(line)
        is_text = line and not is_rule and not _TABLE_RULE.match(line)

        if is_rule and len(paragraph) == 1:
            yield _part(paragraph.pop(), "h2")
        if paragraph and (not is_text or _ITEM.match(line)):
            yield Part(" ".join(paragraph))
            paragraph = []
        if is_text:
            paragraph.append(" ".join(line.split()))


# ---- Markdown

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def parse_markdown(text: str) -> Parts:
    """What the text has as a web page (:func:`parse_html`); fields before it are no part of it."""
    import mistune  # here, as few texts are Markdown

    to_html = mistune.create_markdown(escape=False, plugins=["table", "strikethrough"])
    return parse_html(to_html(_FRONT_MATTER.sub("", text)))


# ---- web pages

_HIDDEN = frozenset("script style noscript template svg nav select button".split())
_INLINE = frozenset(
    "a abbr b bdi bdo cite code data del dfn em font i img ins kbd label mark q s samp small "
    "span strike strong sub sup time tt u var wbr".split()
)
_BETWEEN = {"br": " ", "td": " | ", "th": " | "}  # what begins there goes on in the same part


class _Page(HTMLParser):
    """Gathers what a reader of a web page sees; where it has a ``main`` part, what is in that."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = []
        self.text = ""
        self.n_hidden = 0  # open elements that are not shown
        self.is_past_main = False

    def handle_starttag(self, tag: str, attrs: list) -> None:
        if tag in _HIDDEN:
            self.n_hidden += 1
        elif tag in _BETWEEN:
            self.text += _BETWEEN[tag] if self.text.strip() else ""
        elif tag not in _INLINE:
            self.end_part()
        if tag == "main":
            self.parts = [part for part in self.parts if part.level == TITLE]

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self.n_hidden = max(self.n_hidden - 1, 0)
        elif tag not in _INLINE and tag not in _BETWEEN:
            self.end_part(tag if tag in (TITLE, *HEADINGS) else "")
        self.is_past_main |= tag == "main"

    def handle_data(self, data: str) -> None:
        if not self.n_hidden and not self.is_past_main:
            self.text += data

    def end_part(self, level: str = "") -> None:
        text = " ".join(self.text.split())
        if level:
            text = text.rstrip("¶#§ ")  # a link to the heading
        if text:
            self.parts.append(_part(text, level))
        self.text = ""


def parse_html(text: str) -> Parts:
    """What a reader of the page sees, menus aside; a row of a table is a paragraph."""
    page = _Page()
    page.feed(text.replace("<![", "<!"))  # sections in brackets, which Python's parser refuses
    page.close()
    page.end_part()
    return iter(page.parts)


#: Endings of files to what reads them.
PARSERS: dict[str, Callable[[str], Parts]] = {
    ".txt": parse_text,
    ".md": parse_markdown,
    ".markdown": parse_markdown,
    ".html": parse_html,
    ".htm": parse_html,
}
