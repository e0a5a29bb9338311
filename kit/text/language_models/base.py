"""Prompts in, texts and token counts out; every answer is kept, so that nothing is asked twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import pandas as pd
from tqdm.auto import tqdm

from kit.errors import InputError
from kit.store import Store, content_key

KIND = "answers"  # in the store
_SHOWN = 60  # characters of a prompt in an error


class Answer(msgspec.Struct, frozen=True):
    """What a model wrote to a prompt.

    Tokens are those of the model's own tokenizer, as it or its server counts them (0 where a server does not tell).
    ``seconds`` is what it took when it was made: of a call to a server, or a prompt's share of its batch.
    """

    text: str
    prompt_tokens: int
    answer_tokens: int
    seconds: float


class LanguageModel:
    """A language model whose answers are kept in the store by the model's identity, the settings and the prompt.

    ``replay`` forbids to ask the model: what is not in the store is an error. A subclass says how the model is asked
    (``_ask``), and what its answers depend on (``identity``).
    """

    def __init__(
        self, name: str, *, longest_answer: int = 64, replay: bool = False, store: Store | None = None
    ) -> None:
        if type(longest_answer) is not int or longest_answer < 1:
            raise InputError(f"expected a whole number from 1, not {longest_answer!r}", field="longest_answer")
        self.name, self.longest_answer, self.replay = name, longest_answer, replay
        self.store = store or Store()
        self._counts = {source: [0, 0, 0, 0.0] for source in ("live", "replayed")}

    @property
    def identity(self) -> str:
        """What the answers depend on beside prompt and ``longest_answer`` (a number of tokens)."""
        raise NotImplementedError

    def _ask(self, prompts: Sequence[str]) -> Iterator[Mapping[int, Answer]]:
        """The model's answers as they come, by the place of their prompts, which are all different."""
        raise NotImplementedError

    def generate(self, prompts: Sequence[str], *, progress: bool = True) -> list[Answer]:
        """An answer to each prompt, in their order. A prompt that occurs twice is asked once.

        Raises :class:`InputError` where the model can't be asked, or not to the end; what it answered before is kept.
        """
        keys = [content_key(self.identity, str(self.longest_answer), prompt) for prompt in prompts]
        asked = dict(zip(keys, prompts))
        stored = self.store.get_many(KIND, list(asked))
        known = {key: msgspec.json.decode(value, type=Answer) for key, value in stored.items()}
        missing = [key for key in asked if key not in known]
        if missing and self.replay:
            first = " ".join(asked[missing[0]].split())
            shown = first if len(first) <= _SHOWN else f"{first[: _SHOWN - 1]}…"
            raise self.error(f"no stored answer to {len(missing)} of {len(asked)} prompts, the first being “{shown}”")
        self._count("replayed", known.values())
        if missing:
            known |= self._live(missing, [asked[key] for key in missing], progress)
        return [known[key] for key in keys]

    def _live(self, keys: Sequence[bytes], prompts: Sequence[str], progress: bool) -> dict[bytes, Answer]:
        new: dict[bytes, Answer] = {}
        with tqdm(total=len(keys), desc=f"asking {self.name}", unit="prompt", disable=not progress) as bar:
            try:
                for part in self._ask(prompts):
                    answers = {keys[place]: answer for place, answer in part.items()}
                    self.store.put_many(KIND, {key: msgspec.json.encode(answer) for key, answer in answers.items()})
                    self._count("live", answers.values())
                    new |= answers
                    bar.update(len(answers))
            except InputError as error:
                raise InputError(f"{error} ({len(new)} of {len(keys)} prompts are answered and kept)") from None
        return new

    def error(self, what: str) -> InputError:
        """One line that names the model."""
        return InputError(f"{self.name}: {what}")

    def _count(self, source: str, answers: Iterator[Answer] | Sequence[Answer]) -> None:
        counts = self._counts[source]
        for answer in answers:
            for place, more in enumerate((1, answer.prompt_tokens, answer.answer_tokens, answer.seconds)):
                counts[place] += more

    def usage(self) -> pd.DataFrame:
        """What this object was used for, a row live and a row replayed.

        Columns: model, source, calls (prompts answered, a repeated one once a call of ``generate``), prompt_tokens,
        answer_tokens, seconds (summed over the answers as recorded; calls at once overlap).
        """
        rows = [(self.name, source, *counts) for source, counts in self._counts.items()]
        return pd.DataFrame(rows, columns=["model", "source", "calls", "prompt_tokens", "answer_tokens", "seconds"])


def usage_lines(usages: Mapping[str, pd.DataFrame]) -> list[str]:
    """:meth:`LanguageModel.usage` of models in several roles, a line a row."""
    return [
        f"{role} {row.model}, {row.source}: {row.calls} calls, {row.prompt_tokens} + {row.answer_tokens} tokens, "
        f"{row.seconds:.1f} s"
        for role, usage in usages.items()
        for row in usage.itertuples()
    ]
