"""What every reader keeps to, and the reader that is a language model."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING

from kit.corpus.types import Texts
from kit.readers.scoring import nearest_option
from kit.text.language_models import Request
from kit.text.prompts import answer_prompt, choice_prompt
from kit.text.replies import chosen_option, counted, whole_answer

if TYPE_CHECKING:
    import pandas as pd

    from kit.corpus import Benchmark
    from kit.text.language_models import LanguageModel

Contexts = Sequence[Texts]  # for each question the texts of passages, best first


class Reader:
    """Answers questions from passages, after ``fit``."""

    name: str
    model: LanguageModel | None = None

    def fit(self, benchmark: Benchmark) -> None:
        """Learn from ``benchmark.train``, choose on ``benchmark.dev``; by default nothing."""

    def answer(self, questions: Texts, contexts: Contexts) -> list[str]:
        """The answer to each question from its context.

        A context is the texts of passages, best first; there may be none. Raises
        :class:`InputError` before ``fit`` where the reader learns.
        """
        raise NotImplementedError

    def choose(
        self,
        questions: Texts,
        contexts: Contexts,
        options: Sequence[Texts],
    ) -> list[str]:
        """Which of its options answers each question; by default what is nearest to the answer."""
        return list(map(nearest_option, self.answer(questions, contexts), options))

    def usage(self) -> pd.DataFrame | None:
        """As of :meth:`kit.text.LanguageModel.usage`; None for other readers."""
        return self.model.usage() if self.model else None


class LanguageModelReader(Reader):
    """Asks a language model for an answer of less than six words.

    The prompts are Listings 3 and 4 of KGP, and Listing 2 where there is no passage.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.name = model.name

    def answer(self, questions: Texts, contexts: Contexts) -> list[str]:
        """The model's answers, without what stands around them."""
        pairs = zip(questions, contexts, strict=True)
        prompts = [answer_prompt(question, context) for question, context in pairs]
        answers = [whole_answer(reply.text) for reply in self.model.generate(prompts)]
        return counted(answers)

    def choose(
        self,
        questions: Texts,
        contexts: Contexts,
        options: Sequence[Texts],
    ) -> list[str]:
        """The options whose letters the model replies or, where it has none, what is nearest."""
        prompts = []
        for question, texts, context in zip(questions, options, contexts, strict=True):
            letters = tuple(ascii_uppercase[: len(texts)])
            prompts.append(Request(choice_prompt(question, texts, context), choices=letters))
        answers = counted([whole_answer(reply.text) for reply in self.model.generate(prompts)])
        return [
            chosen_option(answer, texts) or nearest_option(answer, texts)
            for answer, texts in zip(answers, options, strict=True)
        ]
