"""A language model as the reader: the prompts of kgp.txt §8.9."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from kit.text.language_models import LanguageModel
from kit.text.prompts import answer_prompt
from kit.text.readers.base import Reader


class LanguageModelReader(Reader):
    """Asks a language model for an answer of less than six words: Listings 3 and 4, and 2 where there is no passage.

    The answer is the model's text, without the space around it. An empty one is an answer too, and a wrong one.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.model, self.name = model, model.name

    def answer(self, questions: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[str]:
        prompts = [answer_prompt(question, context) for question, context in zip(questions, contexts, strict=True)]
        return [answer.text.strip() for answer in self.model.generate(prompts)]

    def usage(self) -> pd.DataFrame:
        return self.model.usage()
