"""What every reader keeps to: questions and passages in, answers out."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from kit.corpus import Benchmark


class Reader:
    """Answers questions from passages. Subclasses are built from their settings alone, then ``fit`` and ``answer``."""

    name: str

    def fit(self, benchmark: Benchmark, more: Sequence[Benchmark] = ()) -> None:
        """Learn from ``benchmark.train``, and that of ``more``, and choose on ``benchmark.dev``.

        The default learns nothing.
        """

    def answer(self, questions: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[str]:
        """The answer to each question from its context: the texts of passages, best first; there may be none."""
        raise NotImplementedError

    def usage(self) -> pd.DataFrame | None:
        """What a language model was used for: see :meth:`kit.text.LanguageModel.usage`. None for other readers."""
        return None
