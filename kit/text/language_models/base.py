"""What all language models share: every answer is kept, so that nothing is asked twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from tqdm.auto import tqdm

from kit.corpus.types import Texts
from kit.errors import InputError
from kit.store import Store, content_key

if TYPE_CHECKING:
    import pandas as pd

KIND = "answers"  # in the store
_SHOWN = 60  # characters of a prompt in an error


class Answer(Struct, frozen=True):
    """What a model wrote to a prompt.

    Tokens are counted by its tokenizer, 0 where a server does not tell. ``seconds`` are those of
    the call; on this machine they are a prompt's share of its batch.
    """

    text: str
    prompt_tokens: int
    answer_tokens: int
    seconds: float


AnswersByKey = dict[bytes, Answer]
AnswersByIndex = Iterator[Mapping[int, Answer]]


class LanguageModel:
    """A language model whose answers are kept in the store.

    Its ``identity``, its ``longest_answer`` (in tokens) and the prompt are the key. ``replay``
    forbids to ask it: what is not in the store is an error. A subclass says how it is asked
    (:meth:`_ask`).
    """

    identity: str

    def __init__(
        self,
        name: str,
        *,
        longest_answer: int = 64,
        replay: bool = False,
        store: Store | None = None,
    ) -> None:
        self.name = name
        self.longest_answer = longest_answer
        self.replay = replay
        self.store = store or Store()
        self.log = []  # each prompt with its answer, in order
        self._answers = {"live": [], "replayed": []}

    def _ask(self, prompts: Texts) -> AnswersByIndex:
        """The answers as they come, by the index of their prompts, which are all different."""
        raise NotImplementedError

    def generate(self, prompts: Texts, *, progress: bool = True) -> list[Answer]:
        """An answer to each prompt, in their order. A prompt that occurs twice is asked once.

        Raises :class:`InputError` where the model can't be asked, or not to the end; what it
        answered before is kept.
        """
        keys = [self.key_of(prompt) for prompt in prompts]
        by_key = dict(zip(keys, prompts))
        answers = self._stored(list(by_key))
        missing = {key: prompt for key, prompt in by_key.items() if key not in answers}
        if missing and self.replay:
            first = shorten(next(iter(missing.values())), _SHOWN, placeholder="…")
            raise self.error(
                f"no stored answer to {len(missing)} of {len(by_key)} prompts, "
                f"the first being “{first}”"
            )

        self._answers["replayed"] += answers.values()
        if missing:
            answers |= self._ask_and_keep(missing, progress)
        self.log += [(prompt, answers[key].text) for prompt, key in zip(prompts, keys)]
        return [answers[key] for key in keys]

    def key_of(self, prompt: str) -> bytes:
        """Under what the answer to a prompt is stored."""
        return content_key(self.identity, str(self.longest_answer), prompt)

    def _stored(self, keys: Sequence[bytes]) -> AnswersByKey:
        """The stored answers that count."""
        stored = self.store.get_many(KIND, keys)
        return {key: msgspec.json.decode(value, type=Answer) for key, value in stored.items()}

    def _ask_and_keep(
        self,
        prompts: Mapping[bytes, str],
        progress: bool,
    ) -> AnswersByKey:
        """The answers to prompts, both by key, as far as possible stored before anything fails."""
        keys = list(prompts)
        answers = {}
        with tqdm(
            total=len(prompts),
            desc=f"asking {self.name}",
            unit="prompt",
            disable=not progress,
        ) as bar:
            try:
                for part in self._ask(list(prompts.values())):
                    encoded = {}
                    for index, answer in part.items():
                        answers[keys[index]] = answer
                        encoded[keys[index]] = msgspec.json.encode(answer)
                    self.store.put_many(KIND, encoded)
                    self._answers["live"] += part.values()
                    bar.update(len(part))
            except InputError as error:
                raise InputError(
                    f"{error} ({len(answers)} of {len(prompts)} prompts are answered and kept)"
                ) from None
        return answers

    def error(self, message: str) -> InputError:
        """One line that names the model."""
        return InputError(f"{self.name}: {message}")

    def usage(self) -> pd.DataFrame:
        """What the model was used for, with the rows live and replayed.

        Columns: model, source, calls (prompts answered), prompt_tokens, answer_tokens, seconds.
        """
        import pandas as pd

        rows = []
        for source, answers in self._answers.items():
            row = {"model": self.name, "source": source, "calls": len(answers)}
            for name in ("prompt_tokens", "answer_tokens", "seconds"):
                row[name] = sum(getattr(answer, name) for answer in answers)
            rows.append(row)
        return pd.DataFrame(rows)
