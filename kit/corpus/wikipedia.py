"""Whole pages of Wikipedia by their titles, as a folder of texts that is read as a corpus.

GNN-Ret's and KGP's corpora are such pages, cut into passages (GNN-Ret Appendix B, KGP
§8.1). MediaWiki's API gives the plain text of one whole page in an answer (``prop=extracts``,
https://www.mediawiki.org/wiki/Extension:TextExtracts): titles are asked for in batches, each of
which is continued until all its pages have come (https://www.mediawiki.org/wiki/API:Continue).
There is one request at a time, and a server that is busy is given the time that it asks for
(https://www.mediawiki.org/wiki/API:Etiquette).
"""

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

import kit
from kit.corpus.fetching import unreachable
from kit.corpus.records import BROKEN, in_words
from kit.corpus.types import Texts
from kit.errors import InputError, note
from kit.files import atomic_write
from kit.progress import progress_bar

if TYPE_CHECKING:
    from requests import Session

API = "https://en.wikipedia.org/w/api.php"
BATCH = 50  # titles, the most that the API takes
SECONDS = 60  # that an answer may take
RETRIES = 5  # of what a busy server does not answer …
WAIT = 1.0  # … after so many seconds, then twice as many, where it does not say how many
BUSY = (429, 500, 502, 503, 504)
LONGEST_NAME = 120  # of a file; what is beyond is cut
_HEADING = re.compile(r"(={2,6})\s*(.+?)\s*\1")


class Change(Struct):
    """A title in another spelling, or the one that it leads to."""

    to: str
    title: str = msgspec.field(name="from")


class Page(Struct):
    title: str
    extract: str = ""


class Pages(Struct):
    pages: list[Page] = []
    normalized: list[Change] = []
    redirects: list[Change] = []

    def title_of(self, title: str) -> str:
        """The title of the page that a title leads to."""
        for changes in (self.normalized, self.redirects):
            title = next((change.to for change in changes if change.title == title), title)
        return title


class Reply(Struct):
    query: Pages = msgspec.field(default_factory=Pages)
    more: dict[str, Any] = msgspec.field(name="continue", default_factory=dict)
    error: dict[str, Any] = {}


def fetch_pages(titles: Texts, folder: Path) -> Path:
    """Write a text file for each title that has a page, and return the folder.

    Those that are there are not asked for again, so that an interrupted call goes on. A note tells
    the titles that have no page. Wikimedia asks for an address of whoever makes many requests:
    ``KIT_CONTACT`` is sent with each.

    Raises InputError: the API can't be reached, or says something else than was expected.
    """
    import requests  # here and below, as it takes long to load and is rarely needed

    files = {title: folder / _file_name(title) for title in titles}
    waiting = [title for title, file in files.items() if not file.exists()]
    missing = set(waiting)
    bar = progress_bar(total=len(waiting), desc="fetching pages", unit="page")
    try:
        with _session() as session:
            for start in range(0, len(waiting), BATCH):
                batch = waiting[start : start + BATCH]
                for title, extract in _extracts(session, batch):
                    atomic_write(files[title], as_text(title, extract).encode())
                    missing.discard(title)
                    bar.update()
    except requests.RequestException as error:
        raise unreachable(error, API) from None
    finally:
        bar.close()

    if missing:
        first = ", ".join(islice(sorted(missing), 3))
        note(f"{len(missing):,} of {len(files):,} titles have no page: {first} …")
    return folder


def _session() -> "Session":
    """What asks, says who asks, and asks again later where the server is busy."""
    import requests
    from requests.adapters import HTTPAdapter, Retry

    contact = os.environ.get("KIT_CONTACT", "no contact given")
    again = Retry(RETRIES, status_forcelist=BUSY, backoff_factor=WAIT)
    session = requests.Session()
    session.headers["User-Agent"] = f"graph-retrieval-kit/{kit.__version__} ({contact})"
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(max_retries=again))
    return session


def _extracts(session: "Session", titles: Texts) -> Iterator[tuple[str, str]]:
    """Each title with the text of its page, as they come."""
    parameters = {
        "action": "query",
        "prop": "extracts",
        "explaintext": "1",
        "redirects": "1",
        "format": "json",
        "formatversion": "2",
        "titles": "|".join(titles),
    }
    more = {}
    while True:
        answer = session.get(
            API,
            params=parameters | more,
            timeout=SECONDS,
        )
        answer.raise_for_status()
        reply = _read(answer.content)
        extracts = {page.title: page.extract for page in reply.query.pages if page.extract}
        for title in titles:
            extract = extracts.get(reply.query.title_of(title))
            if extract:
                yield title, extract
        if not reply.more or reply.more == more:
            return
        more = reply.more


def _read(content: bytes) -> Reply:
    try:
        reply = msgspec.json.decode(content, type=Reply)
    except BROKEN as error:
        expected, field = in_words(error)
        raise InputError(
            f"not what MediaWiki's API says: {expected}",
            file=API,
            field=field,
        ) from None
    if reply.error:
        raise InputError(f"the API refused: {reply.error.get('info', reply.error)}", file=API)
    return reply


def _file_name(title: str) -> str:
    """The title where it can be a file's name; other characters are percent-encoded."""
    name = quote(title, safe=" ,()'!&")[:LONGEST_NAME]
    if name.startswith((".", "~")):
        name = f"%{ord(name[0]):X}{name[1:]}"
    return f"{name}.txt"


def as_text(title: str, extract: str) -> str:
    """A page as plain text whose headings have a rule below, as the folder's reader takes them.

    Headings at the end, below which there is no text, are left out.
    """
    paragraphs = [f"{title}\n===="]
    end = 1
    for line in filter(None, map(str.strip, extract.splitlines())):
        heading = _HEADING.fullmatch(line)
        paragraphs.append(f"{heading[2]}\n----" if heading else line)
        if not heading:
            end = len(paragraphs)
    return "\n\n".join(paragraphs[:end]) + "\n"
