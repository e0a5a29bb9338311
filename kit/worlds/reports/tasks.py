"""What the wordings ask for."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from kit.corpus.structures import Structure
from kit.worlds.reports.printing import Report, TableText

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six")
_ORDINALS = ("zeroth", "first", "second", "third", "fourth", "fifth", "sixth")
_ROMAN = ("", "I", "II", "III", "IV", "V", "VI")

Part = tuple[Report, int | TableText]  # a page, by its number, or a table
Words = dict[str, object]  # for the slots of a wording


class Task(NamedTuple):
    """What is asked for."""

    structures: tuple[Structure, ...]
    answer: str  # what the structures hold in words, or what was asked of a table
    words: Words


class Turn(NamedTuple):
    """A wording to be filled, about a report or, where it asks for them, about others.

    It has a method for each kind of ``wordings.toml``, which makes the task.
    """

    report: Report
    reports: Sequence[Report]
    text: str
    rng: Random

    def page(self) -> Task:
        return self._parts(self._any_page())

    def first_page(self) -> Task:
        return self._parts(1)

    def first_two(self) -> Task:
        return self._parts(1, 2)

    def last_page(self) -> Task:
        return self._parts(self._n_pages)

    def last_two(self) -> Task:
        return self._parts(self._n_pages - 1, self._n_pages)

    def two_pages(self) -> Task:
        """Neighbours, where the wording can also be read as a range."""
        pages = range(1, self._n_pages + 1)
        first, second = sorted(self.rng.sample(pages, 2))
        if "from page" in self.text or "–" in self.text:
            second = first + 1
        return self._parts(first, second)

    def range(self) -> Task:
        first = self.rng.randint(1, self._n_pages - 2)
        return self._parts(first, first + 1, first + 2)

    def table(self) -> Task:
        return self._ask(self.rng.choice(self.report.tables))

    def last_table(self) -> Task:
        return self._ask(self.report.tables[-1])

    def table_on_page(self) -> Task:
        """A table that shares its pages with no other."""
        tables = self.report.tables
        pages = [page for table in tables for page in table.pages]
        shared = {page for page in pages if pages.count(page) > 1}
        alone = [table for table in tables if shared.isdisjoint(table.pages)]
        table = self.rng.choice(alone)
        page = self.rng.choice(table.pages)
        return self._ask(table, page=page, opage=_ORDINALS[page])

    def two_tables(self) -> Task:
        tables = self.rng.sample(self.report.tables, 2)
        tables.sort(key=lambda table: table.label)
        return self._parts(*tables)

    def all_tables(self) -> Task:
        return self._parts(*self.report.tables)

    def page_and_table(self) -> Task:
        page = self._any_page()
        return self._parts(page, self.rng.choice(self.report.tables))

    def two_documents_tables(self) -> Task:
        first, second = self.rng.sample(self.reports, 2)
        table = self.rng.choice(first.tables)
        other = self.rng.choice(second.tables)
        return _about([(first, table), (second, other)], doc=first, other=second)

    def two_documents(self) -> Task:
        first, second = self.rng.sample(self.reports, 2)
        page = self.rng.randint(1, len(first.pages))
        other = self.rng.randint(1, len(second.pages))
        return _about([(first, page), (second, other)], doc=first, other=second)

    def same_in_both(self) -> Task:
        first, second = self.rng.sample(self.reports, 2)
        n_pages = min(len(first.pages), len(second.pages))
        page = self.rng.randint(1, n_pages)
        return _about([(first, page), (second, page)], doc=first, other=second)

    def unnamed_page(self) -> Task:
        return self._unnamed_pages(1)

    def unnamed_two_pages(self) -> Task:
        return self._unnamed_pages(2)

    def unnamed_table(self) -> Task:
        label = str(self.rng.randint(1, 3))
        parts = []
        for report in self.reports:
            parts += [(report, table) for table in report.tables if table.label == label]
        return _about(parts)

    @property
    def _n_pages(self) -> int:
        return len(self.report.pages)

    def _any_page(self) -> int:
        return self.rng.randint(1, self._n_pages)

    def _parts(self, *items: int | TableText) -> Task:
        """About pages and tables of the report."""
        return _about([(self.report, item) for item in items], doc=self.report)

    def _unnamed_pages(self, n_pages: int) -> Task:
        """No report is named: all that have the pages are meant."""
        first = self.rng.randint(1, 5)
        pages = range(first, first + n_pages)
        parts = []
        for report in self.reports:
            parts += [(report, page) for page in pages if page <= len(report.pages)]
        return _about(parts)

    def _ask(self, table: TableText, **words: object) -> Task:
        """Ask a table for something."""
        ask, answer = self.rng.choice(table.asks)
        task = self._parts(table)
        return task._replace(answer=answer, words=task.words | words | {"ask": ask})


def _about(parts: Sequence[Part], **reports: Report) -> Task:
    """Sum up or compare pages and tables; the wording may say their numbers and the reports."""
    structures = []
    texts = []
    numbers = []
    for report, item in parts:
        if isinstance(item, int):
            kind = "page"
            label = str(item)
            content = "; ".join(report.pages[item - 1])
        else:
            kind = "table"
            label = item.label
            content = item.caption or ", ".join(item.columns)
        structures.append(Structure(report.file, kind, label))
        texts.append(f"{kind} {label}: {content}")
        numbers.append(int(label))
    return Task(tuple(structures), " – ".join(texts), _spelled(numbers) | reports)


def _spelled(numbers: Sequence[int]) -> Words:
    """The words for the first number, and for up to three that a wording calls a, b and c."""
    first = numbers[0]
    words = {
        "n": first,
        "word": _NUMBERS[first],
        "ordinal": _ORDINALS[first],
        "roman": _ROMAN[first],
    }
    for slot, value in zip("abc", numbers):
        words[slot] = value
        words[f"o{slot}"] = _ORDINALS[value]
    return words
