"""What all language models share: every answer is kept, so that nothing is asked twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from kit import cost
from kit.corpus.records import writable
from kit.errors import InputError, note
from kit.progress import progress_bar
from kit.store import Store, content_key
from kit.text.language_models.answers import Answer, Prompt, as_request
from kit.text.language_models.recorded import KIND, record_if_wanted

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 60  # characters of a prompt in an error

AnswersByKey = dict[bytes, Answer]
AnswersByIndex = Iterator[Mapping[int, Answer]]


class LanguageModel:
    """A language model whose answers are kept in the store.

    Its ``identity``, its ``longest_answer`` (in tokens) and the prompt are the key. ``replay``
    forbids to ask it: what is not in the store is an error. A subclass says how it is asked
    (:meth:`_ask`).
    """

    identity: str
    takes_instructions = True  # and examples: it was not trained for one task and format
    reads_placeholders = False  # in place of names, as the kit's own small models do
    is_recorded = True  # by `kit record`: its answers can't be had again on any machine

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

    def _ask(self, prompts: Sequence[Prompt]) -> AnswersByIndex:
        """The answers as they come, by the index of their prompts, which are all different."""
        raise NotImplementedError

    def expect_ready(self) -> None:
        """Raise :class:`InputError` where it is known beforehand that it can't be asked."""

    def generate(self, prompts: Sequence[Prompt], *, progress: bool = True) -> list[Answer]:
        """An answer to each prompt, in their order. A prompt that occurs twice is asked once.

        A prompt is a text, or a :class:`Request` that has a system message or examples, too. Raises
        :class:`InputError` where the model can't be asked, or not to the end; what it answered
        before is kept.
        """
        keys = [self.key_of(prompt) for prompt in prompts]
        by_key = dict(zip(keys, prompts))
        answers = self._stored(list(by_key))
        missing = {key: prompt for key, prompt in by_key.items() if key not in answers}
        if missing and self.replay:
            first_prompt = as_request(next(iter(missing.values()))).prompt
            raise self.error(
                f"no stored answer to {len(missing)} of {len(by_key)} prompts, "
                f"the first being “{shorten(first_prompt, _SHOWN, placeholder='…')}”"
            )

        self._answers["replayed"] += answers.values()
        cost.count(stored=len(answers))
        if missing:
            answers |= self._ask_and_keep(missing, progress)
        if self.is_recorded:
            record_if_wanted(self.name, answers)
        self.log += [(prompt, answers[key]) for prompt, key in zip(prompts, keys)]
        return [answers[key] for key in keys]

    def key_of(self, prompt: Prompt) -> bytes:
        """Under what the answer to a prompt is stored."""
        parts = as_request(prompt).key_parts
        return content_key(self.identity, str(self.longest_answer), *parts)

    def _stored(self, keys: Sequence[bytes]) -> AnswersByKey:
        """The stored answers that count."""
        stored = self.store.get_many(KIND, keys)
        return {key: msgspec.json.decode(value, type=Answer) for key, value in stored.items()}

    def _ask_and_keep(
        self,
        prompts: Mapping[bytes, Prompt],
        progress: bool,
    ) -> AnswersByKey:
        """The answers to prompts, both by key, as far as possible stored before anything fails."""
        self.store.expect_writable()
        keys = list(prompts)
        answers = {}
        with progress_bar(
            total=len(prompts),
            desc=f"asking {self.name}",
            unit="prompt",
            shown=progress,
        ) as bar:
            try:
                for part in self._ask(list(prompts.values())):
                    answers |= self._keep({keys[index]: part[index] for index in part})
                    bar.update(len(part))
            except InputError as error:
                raise InputError(
                    f"{error} ({len(answers)} of {len(prompts)} prompts are answered and kept)"
                ) from None
        return answers

    def _keep(self, answers: AnswersByKey) -> AnswersByKey:
        """Store and count what came; what is no character in it is replaced."""
        sound = {}
        for key, answer in answers.items():
            text = writable(answer.text)
            if text != answer.text:
                note(f"{self.name}: halves of characters in a reply are replaced by “\ufffd”")
            sound[key] = replace(answer, text=text, thought=writable(answer.thought))
            self._answers["live"].append(sound[key])
            cost.count(
                answers=1,
                read=answer.prompt_tokens,
                written=answer.answer_tokens,
                cut=int(answer.is_cut),
            )

        encoded = {key: msgspec.json.encode(answer) for key, answer in sound.items()}
        self.store.put_many(KIND, encoded)
        return sound

    def error(self, message: str) -> InputError:
        """One line that names the model."""
        return InputError(f"{self.name}: {message}")

    def usage(self) -> pd.DataFrame:
        """What the model was used for, with the rows live and replayed.

        Columns: model, source, calls (prompts answered), prompt_tokens, answer_tokens, seconds,
        cut (answers that end where the longest answer ends).
        """
        import pandas as pd

        rows = []
        for source, answers in self._answers.items():
            row = {"model": self.name, "source": source, "calls": len(answers)}
            for name in ("prompt_tokens", "answer_tokens", "seconds"):
                row[name] = sum(getattr(answer, name) for answer in answers)
            row["cut"] = sum(answer.is_cut for answer in answers)
            rows.append(row)
        return pd.DataFrame(rows)
