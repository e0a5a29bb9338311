"""What goes around other methods: it is named with them, as ``fuse(bm25, gnn-ret)``."""

from __future__ import annotations

from typing import Self

import pandas as pd

from kit.corpus import Benchmark, Corpus
from kit.corpus.types import Texts
from kit.methods.base import Retriever


class Wrapper(Retriever):
    """A method made of others, its ``parts``, which learn and search as they do alone."""

    def __init__(self, *parts: Retriever, **values: object) -> None:
        super().__init__(**values)
        self.parts = parts
        self.sees_gold = any(part.sees_gold for part in parts)
        self.name = f"{self.name}({', '.join(part.name for part in parts)})"

    @classmethod
    def of(cls, arguments: Texts, **settings: object) -> Self:
        """Made of the ``arguments`` of its name; a setting goes to it, or to its parts."""
        raise NotImplementedError

    @classmethod
    def divide(cls, settings: dict[str, object]) -> tuple[dict[str, object], dict[str, object]]:
        """Its own settings and those of its parts."""
        names = cls.defaults()
        of_itself = {name: value for name, value in settings.items() if name in names}
        of_parts = {name: value for name, value in settings.items() if name not in names}
        return of_itself, of_parts

    def fit(self, benchmark: Benchmark) -> None:
        for part in self.parts:
            part.fit(benchmark)

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self.parts = tuple(part.variant(corpus=corpus) for part in self.parts)

    def usage(self) -> pd.DataFrame | None:
        usages = [part.usage() for part in self.parts]
        usages = [usage for usage in usages if usage is not None]
        return pd.concat(usages, ignore_index=True) if usages else None
