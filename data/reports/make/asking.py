"""Questions about the pages and tables of the reports, and about what they say, with answers and asked structures.

A third of the wordings of each kind, and one name of each report, occur in the ``test`` questions alone: the rules that
read questions about structure were written with the ``dev`` questions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec

from kit.corpus.formats.pdf_folder import PdfQuestion, Quote
from kit.corpus.pdf import Structure

from .printing import Report, TableText

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six")
_ORDINALS = ("zeroth", "first", "second", "third", "fourth", "fifth", "sixth")
_ROMAN = ("", "I", "II", "III", "IV", "V", "VI")
#: Structures, what they hold in words (or the answer to what was asked of a table), and the words of a wording.
Task = tuple[list[Structure], str, dict[str, object]]


def ask_all(reports: Sequence[Report], rng: random.Random) -> dict[str, list[PdfQuestion]]:
    """The questions of ``dev`` and ``test``: every wording twice, of reports in turn, and the content questions."""
    wordings = msgspec.toml.decode((Path(__file__).parent / "wordings.toml").read_bytes(), type=dict[str, list[str]])
    asked: dict[str, list[PdfQuestion]] = {"dev": [], "test": []}

    def add(split: str, text: str, answer: str, **fields: object) -> None:
        asked[split].append(PdfQuestion(f"reports-{split}-{len(asked[split]) + 1:03}", text, answer, **fields))

    turn = 0
    for kind, texts in wordings.items():
        by_hash = sorted(texts, key=lambda text: blake2b(text.encode(), digest_size=8).digest())
        for text in texts:
            split = "dev" if by_hash.index(text) % 3 else "test"
            for _ in range(2):
                structures, answer, words = _TASKS[kind](reports, turn, text, rng)
                named = {key: _name(word, split, rng) for key, word in words.items() if isinstance(word, Report)}
                add(split, _fill(text, words | named), answer, structures=tuple(structures))
                turn += 1
    for number, (report, content) in enumerate((it, content) for it in reports for content in it.content):
        quotes = tuple(Quote(_holder(reports, text, report).file, text) for text in content.quotes)
        add("dev" if number % 3 else "test", content.text, content.answer, quotes=quotes)
    return asked


def _name(report: Report, split: str, rng: random.Random) -> str:
    return report.names[-1] if split == "test" else rng.choice(report.names[:-1])


def _fill(text: str, words: dict[str, object]) -> str:
    upper = {key.capitalize(): f"{word[:1].upper()}{word[1:]}" for key, word in words.items() if isinstance(word, str)}
    return text.format(**words, **upper)


def _holder(reports: Sequence[Report], text: str, first: Report) -> Report:
    """The report whose body has the words."""
    return next(report for report in (first, *reports) if text in report.body)


def _page(report: Report, number: int) -> tuple[Structure, str]:
    return Structure(report.file, "page", str(number)), f"page {number}: {'; '.join(report.pages[number - 1])}"


def _table(report: Report, table: TableText) -> tuple[Structure, str]:
    return Structure(
        report.file, "table", table.label
    ), f"table {table.label}: {table.caption or ', '.join(table.columns)}"


def _task(parts: Sequence[tuple[Structure, str]], **words: object) -> Task:
    return [structure for structure, _ in parts], " – ".join(text for _, text in parts), words


def _spelled(number: int) -> dict[str, object]:
    return {"n": number, "word": _NUMBERS[number], "ordinal": _ORDINALS[number], "roman": _ROMAN[number]}


def _one_page(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
    report = reports[turn % len(reports)]
    number = rng.randint(1, len(report.pages))
    return _task([_page(report, number)], doc=report, **_spelled(number))


def _pages_at(first: Callable[[Report], int], count: int) -> Callable[..., Task]:
    """Tasks about ``count`` pages from a place that the report's length gives."""

    def task(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
        report = reports[turn % len(reports)]
        return _task([_page(report, first(report) + step) for step in range(count)], doc=report)

    return task


def _two_pages(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
    """Neighbours, where the wording can also be read as a range."""
    report = reports[turn % len(reports)]
    a, b = sorted(rng.sample(range(1, len(report.pages) + 1), 2))
    if "from page" in text or "–" in text:
        b = a + 1
    return _task([_page(report, a), _page(report, b)], doc=report, a=a, b=b, oa=_ORDINALS[a], ob=_ORDINALS[b])


def _range(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
    report = reports[turn % len(reports)]
    a = rng.randint(1, len(report.pages) - 2)
    return _task([_page(report, a + step) for step in range(3)], doc=report, a=a, b=a + 1, c=a + 2)


def _one_table(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
    return _ask(reports[turn % len(reports)], rng.choice(reports[turn % len(reports)].tables), rng)


def _last_table(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
    return _ask(reports[turn % len(reports)], reports[turn % len(reports)].tables[-1], rng)


def _table_on_page(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
    report = reports[turn % len(reports)]
    places = [page for table in report.tables for page in table.pages]
    table = rng.choice([table for table in report.tables if all(places.count(page) == 1 for page in table.pages)])
    page = rng.choice(table.pages)
    structures, answer, words = _ask(report, table, rng)
    return structures, answer, words | {"page": page, "opage": _ORDINALS[page]}


def _ask(report: Report, table: TableText, rng: random.Random) -> Task:
    ask, answer = rng.choice(table.asks)
    return [_table(report, table)[0]], answer, {"doc": report, "ask": ask, **_spelled(int(table.label))}


def _two_tables(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
    report = reports[turn % len(reports)]
    parts = sorted(rng.sample(report.tables, 2), key=lambda table: table.label)
    a, b = (int(table.label) for table in parts)
    found = [_table(report, table) for table in parts]
    return _task(found, doc=report, a=a, b=b, oa=_ORDINALS[a], ob=_ORDINALS[b])


def _all_tables(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
    report = reports[turn % len(reports)]
    return _task([_table(report, table) for table in report.tables], doc=report)


def _page_and_table(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
    report = reports[turn % len(reports)]
    page, table = rng.randint(1, len(report.pages)), rng.choice(report.tables)
    return _task([_page(report, page), _table(report, table)], doc=report, a=page, b=table.label)


def _two_documents(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
    one, other = rng.sample(reports, 2)
    a, b = rng.randint(1, len(one.pages)), rng.randint(1, len(other.pages))
    return _task([_page(one, a), _page(other, b)], doc=one, other=other, a=a, b=b)


def _two_documents_tables(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
    one, other = rng.sample(reports, 2)
    a, b = rng.choice(one.tables), rng.choice(other.tables)
    return _task([_table(one, a), _table(other, b)], doc=one, other=other, a=a.label, b=b.label)


def _same_in_both(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
    one, other = rng.sample(reports, 2)
    n = rng.randint(1, min(len(one.pages), len(other.pages)))
    return _task([_page(one, n), _page(other, n)], doc=one, other=other, n=n)


def _unnamed_pages(count: int) -> Callable[..., Task]:
    """Tasks that name no report: they ask all that have the pages."""

    def task(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
        a = rng.randint(1, 5)
        found = [_page(it, n) for it in reports for n in range(a, a + count) if n <= len(it.pages)]
        b = a + count - 1
        return _task(found, **_spelled(a), a=a, b=b, oa=_ORDINALS[a], ob=_ORDINALS[b])

    return task


def _unnamed_table(reports: Sequence[Report], turn: int, text: str, rng: random.Random) -> Task:
    n = rng.randint(1, 3)
    found = [_table(report, table) for report in reports for table in report.tables if table.label == str(n)]
    return _task(found, **_spelled(n))


_TASKS: dict[str, Callable[[Sequence[Report], int, str, random.Random], Task]] = {
    "page": _one_page,
    "last_page": _pages_at(lambda report: len(report.pages), 1),
    "first_page": _pages_at(lambda report: 1, 1),
    "two_pages": _two_pages,
    "range": _range,
    "first_two": _pages_at(lambda report: 1, 2),
    "last_two": _pages_at(lambda report: len(report.pages) - 1, 2),
    "table": _one_table,
    "table_on_page": _table_on_page,
    "last_table": _last_table,
    "two_tables": _two_tables,
    "all_tables": _all_tables,
    "page_and_table": _page_and_table,
    "two_documents": _two_documents,
    "two_documents_tables": _two_documents_tables,
    "same_in_both": _same_in_both,
    "unnamed_page": _unnamed_pages(1),
    "unnamed_two_pages": _unnamed_pages(2),
    "unnamed_table": _unnamed_table,
}
