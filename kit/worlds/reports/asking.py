"""Questions about the pages and tables of the reports, and about what they say, with answers and asked structures.

A third of the wordings of each kind, and one name of each report, occur in the ``test`` questions alone: the rules that
read questions about structure were written with the ``dev`` questions.
"""

import random
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec

from kit.corpus.formats.pdf_folder import PdfQuestion, Quote
from kit.corpus.structures import Structure
from kit.worlds.reports.printing import Report, TableText

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six")
_ORDINALS = ("zeroth", "first", "second", "third", "fourth", "fifth", "sixth")
_ROMAN = ("", "I", "II", "III", "IV", "V", "VI")
#: Structures, what they hold in words (or the answer to what was asked of a table), and the words of a wording.
Task = tuple[list[Structure], str, dict[str, object]]


def ask_all(reports: Sequence[Report], rng: random.Random) -> dict[str, list[PdfQuestion]]:
    """The questions of ``dev`` and ``test``: every wording twice, of reports in turn, and the content questions."""
    wordings = msgspec.toml.decode(
        (Path(__file__).parent / "wordings.toml").read_bytes(), type=dict[str, list[str]]
    )
    asked: dict[str, list[PdfQuestion]] = {"dev": [], "test": []}

    def add(split: str, text: str, answer: str, **fields: object) -> None:
        asked[split].append(
            PdfQuestion(f"reports-{split}-{len(asked[split]) + 1:03}", text, answer, **fields)
        )

    turn = 0
    for kind, texts in wordings.items():
        by_hash = sorted(texts, key=lambda text: blake2b(text.encode(), digest_size=8).digest())
        for text in texts:
            split = "dev" if by_hash.index(text) % 3 else "test"
            for _ in range(2):
                structures, answer, words = _task(
                    kind, reports[turn % len(reports)], reports, text, rng
                )
                for key, word in words.items():
                    if isinstance(word, Report):
                        words[key] = (
                            word.names[-1] if split == "test" else rng.choice(word.names[:-1])
                        )
                spoken = {key: word for key, word in words.items() if isinstance(word, str)}
                upper = {
                    key.capitalize(): f"{word[:1].upper()}{word[1:]}"
                    for key, word in spoken.items()
                }
                add(split, text.format(**words, **upper), answer, structures=tuple(structures))
                turn += 1
    for number, (report, content) in enumerate(
        (it, content) for it in reports for content in it.content
    ):
        held = [
            (next(it for it in (report, *reports) if text in it.body).file, text)
            for text in content.quotes
        ]
        add(
            "dev" if number % 3 else "test",
            content.text,
            content.answer,
            quotes=tuple(Quote(*it) for it in held),
        )
    return asked


def _page(report: Report, number: int) -> tuple[Structure, str]:
    return Structure(
        report.file, "page", str(number)
    ), f"page {number}: {'; '.join(report.pages[number - 1])}"


def _table(report: Report, table: TableText) -> tuple[Structure, str]:
    shown = f"table {table.label}: {table.caption or ', '.join(table.columns)}"
    return Structure(report.file, "table", table.label), shown


def _task(
    kind: str, report: Report, reports: Sequence[Report], text: str, rng: random.Random
) -> Task:
    """A task for a wording of the kind, about the report whose turn it is, or about others where it asks for them."""
    n_pages, tables = len(report.pages), report.tables
    match kind:
        case "page":
            n = rng.randint(1, n_pages)
            return _about([_page(report, n)], doc=report, **_spelled(n))
        case "first_page" | "first_two" | "last_page" | "last_two":
            first, two = kind.startswith("first"), kind.endswith("two")
            numbers = range(1, 2 + two) if first else range(n_pages - two, n_pages + 1)
            return _about([_page(report, n) for n in numbers], doc=report)
        case "two_pages":  # neighbours, where the wording can also be read as a range
            a, b = sorted(rng.sample(range(1, n_pages + 1), 2))
            b = a + 1 if "from page" in text or "–" in text else b
            return _about([_page(report, a), _page(report, b)], doc=report, **_numbers(a, b))
        case "range":
            a = rng.randint(1, n_pages - 2)
            return _about(
                [_page(report, a + step) for step in range(3)], doc=report, a=a, b=a + 1, c=a + 2
            )
        case "table" | "last_table":
            return _ask(report, rng.choice(tables) if kind == "table" else tables[-1], rng)
        case "table_on_page":
            places = [page for table in tables for page in table.pages]
            table = rng.choice(
                [table for table in tables if all(places.count(page) == 1 for page in table.pages)]
            )
            page = rng.choice(table.pages)
            structures, answer, words = _ask(report, table, rng)
            return structures, answer, words | {"page": page, "opage": _ORDINALS[page]}
        case "two_tables":
            parts = sorted(rng.sample(tables, 2), key=lambda table: table.label)
            numbers = _numbers(*(int(table.label) for table in parts))
            return _about([_table(report, table) for table in parts], doc=report, **numbers)
        case "all_tables":
            return _about([_table(report, table) for table in tables], doc=report)
        case "page_and_table":
            page, table = rng.randint(1, n_pages), rng.choice(tables)
            return _about(
                [_page(report, page), _table(report, table)], doc=report, a=page, b=table.label
            )
        case "two_documents_tables":
            one, other = rng.sample(reports, 2)
            a, b = rng.choice(one.tables), rng.choice(other.tables)
            return _about(
                [_table(one, a), _table(other, b)], doc=one, other=other, a=a.label, b=b.label
            )
        case "two_documents" | "same_in_both":
            one, other = rng.sample(reports, 2)
            pages = len(one.pages), len(other.pages)
            a = b = rng.randint(1, min(pages) if kind == "same_in_both" else pages[0])
            b = rng.randint(1, pages[1]) if kind == "two_documents" else b
            return _about([_page(one, a), _page(other, b)], doc=one, other=other, a=a, b=b, n=a)
        case (
            "unnamed_page" | "unnamed_two_pages"
        ):  # no report is named: all that have the pages are asked
            a = rng.randint(1, 5)
            b = a + (kind == "unnamed_two_pages")
            found = [_page(it, n) for it in reports for n in range(a, b + 1) if n <= len(it.pages)]
            return _about(found, **_spelled(a), **_numbers(a, b))
        case "unnamed_table":
            n = rng.randint(1, 3)
            found = [
                _table(it, table) for it in reports for table in it.tables if table.label == str(n)
            ]
            return _about(found, **_spelled(n))
    raise ValueError(f"no such kind of wording: {kind}")


def _about(parts: Sequence[tuple[Structure, str]], **words: object) -> Task:
    return [structure for structure, _ in parts], " – ".join(text for _, text in parts), words


def _ask(report: Report, table: TableText, rng: random.Random) -> Task:
    ask, answer = rng.choice(table.asks)
    return (
        [_table(report, table)[0]],
        answer,
        {"doc": report, "ask": ask, **_spelled(int(table.label))},
    )


def _numbers(a: int, b: int) -> dict[str, object]:
    return {"a": a, "b": b, "oa": _ORDINALS[a], "ob": _ORDINALS[b]}


def _spelled(number: int) -> dict[str, object]:
    return {
        "n": number,
        "word": _NUMBERS[number],
        "ordinal": _ORDINALS[number],
        "roman": _ROMAN[number],
    }
