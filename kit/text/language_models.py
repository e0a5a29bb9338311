"""Language models: prompts in, texts and token counts out; every answer is kept, so that nothing is asked twice."""

from __future__ import annotations

import os
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec
import pandas as pd
from tqdm.auto import tqdm

from kit.errors import InputError
from kit.paths import ROOT
from kit.store import Store, content_key
from kit.text.encoder import content_of_model
from kit.text.numbered_names import Names

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

#: The committed sequence-to-sequence model that writes evidence; where it lies in the project.
EVIDENCE_WRITER = "data/evidence_writer"
OPENAI = "https://api.openai.com/v1"
KIND = "answers"  # in the store
_SHOWN, _QUOTED = 60, 200  # characters of a prompt and of a server's own message in an error
_BATCH = 64
_EXPECTED = "t5:FOLDER-OR-NAME, server:MODEL, server:MODEL@URL, or one of these after replay:"


def language_model(text: str, *, longest_answer: int = 64, store: Store | None = None) -> LanguageModel:
    """The language model that a short text names, as one gives it to ``--set`` or as a notebook's parameter.

    ``t5:FOLDER-OR-NAME`` is a sequence-to-sequence model, ``server:MODEL`` one on an OpenAI-compatible server (its base
    URL in the environment's ``OPENAI_BASE_URL``, or after the name: ``server:MODEL@URL``; its key in
    ``OPENAI_API_KEY``). With ``replay:`` before it only stored answers count. Raises :class:`InputError` for others.
    """
    rest = str(text).removeprefix("replay:")
    shared = {"longest_answer": longest_answer, "replay": rest != str(text), "store": store}
    kind, _, rest = rest.partition(":")
    model, at, address = rest.partition("@http")
    if kind == "t5" and rest:
        return SequenceToSequence(rest, **shared)
    if kind == "server" and model:
        return ChatServer(model, url=f"http{address}" if at else None, **shared)
    raise InputError(f"expected a language model as {_EXPECTED}; not {text!r}", field="model")


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

    identity: str  # what the answers depend on beside prompt and ``longest_answer`` (a number of tokens)

    def __init__(
        self, name: str, *, longest_answer: int = 64, replay: bool = False, store: Store | None = None
    ) -> None:
        if type(longest_answer) is not int or longest_answer < 1:
            raise InputError(f"expected a whole number from 1, not {longest_answer!r}", field="longest_answer")
        self.name, self.longest_answer, self.replay = name, longest_answer, replay
        self.store = store or Store()
        self._counts = {source: [0, 0, 0, 0.0] for source in ("live", "replayed")}

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
        n_known = len(known)
        with tqdm(total=len(missing), desc=f"asking {self.name}", unit="prompt", disable=not progress) as bar:
            try:
                for part in self._ask([asked[key] for key in missing]) if missing else ():
                    new = {missing[place]: answer for place, answer in part.items()}
                    self.store.put_many(KIND, {key: msgspec.json.encode(answer) for key, answer in new.items()})
                    self._count("live", new.values())
                    known |= new
                    bar.update(len(new))
            except InputError as error:
                n_new = len(known) - n_known
                raise InputError(f"{error} ({n_new} of {len(missing)} prompts are answered and kept)") from None
        return [known[key] for key in keys]

    def error(self, what: str) -> InputError:
        """One line that names the model."""
        return InputError(f"{self.name}: {what}")

    def _count(self, source: str, answers: Iterable[Answer]) -> None:
        for answer in answers:
            new = (1, answer.prompt_tokens, answer.answer_tokens, answer.seconds)
            self._counts[source] = [count + more for count, more in zip(self._counts[source], new)]

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


# ---- on this machine


class SequenceToSequence(LanguageModel):
    """A sequence-to-sequence model of transformers, such as T5, in a folder or by its name on the Hugging Face hub.

    It answers greedily. Weights are read from safetensors only, in float32, and run on a CUDA device where there is
    one. Of a prompt longer than ``longest_prompt`` tokens, the end is cut off.
    """

    def __init__(self, model: str, *, longest_prompt: int = 512, **settings: object) -> None:
        super().__init__(f"t5:{model}", **settings)
        self.model_name, self.longest_prompt = model, longest_prompt

    @cached_property
    def _folder(self) -> Path | None:
        """Where a model that is not on the hub lies; a folder of the project is found from anywhere."""
        folders = (Path(self.model_name), ROOT / self.model_name)
        return next((folder for folder in folders if folder.is_dir()), None)

    @cached_property
    def identity(self) -> str:
        """The content of a local model's files, or the name of one on the hub; and where prompts are cut."""
        content = self.model_name if self._folder is None else content_of_model(self._folder)
        return f"greedy {content}, {self.longest_prompt}"

    @cached_property
    def _loaded(self) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
        return self.load()

    def load(self) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
        """A tokenizer and a model of one's own. Raises :class:`InputError` where there is none."""
        # Imported here: torch takes seconds, and a replay never needs it.
        import torch
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()  # of loading weights, which takes no time
        source, local = str(self._folder or self.model_name), self._folder is not None
        if local:
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
        try:
            tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=local)
            model = AutoModelForSeq2SeqLM.from_pretrained(
                source, local_files_only=local, use_safetensors=True, dtype=torch.float32
            )
        except (OSError, ValueError, KeyError) as error:
            what = " ".join(str(error).split())
            raise self.error(f"no sequence-to-sequence model of this name or folder ({what})") from None
        return tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu").eval()

    def _ask(self, prompts: Sequence[str]) -> Iterator[Mapping[int, Answer]]:
        import torch

        tokenizer, model = self._loaded
        vocabulary = vocabulary_beside_names(tokenizer, model)
        cut = {"truncation": True, "max_length": self.longest_prompt, "padding": True, "return_tensors": "pt"}
        by_length = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))  # hardly any padding
        for start in range(0, len(prompts), _BATCH):
            places = by_length[start : start + _BATCH]
            begun = time.perf_counter()
            names = [Names(vocabulary) if vocabulary else None for _ in places]
            texts = [of.hide(prompts[place], learn=True) if of else prompts[place] for of, place in zip(names, places)]
            tokens = tokenizer(texts, **cut).to(model.device)
            read = {name: tokens[name] for name in ("input_ids", "attention_mask")}
            with torch.inference_mode():
                written = model.generate(**read, max_new_tokens=self.longest_answer, do_sample=False, num_beams=1)
            texts = tokenizer.batch_decode(written, skip_special_tokens=True)
            texts = [of.show(text) if of else text.strip() for of, text in zip(names, texts)]
            # The first place is where the decoder starts; after the end there is padding.
            lengths = (written[:, 1:] != model.config.pad_token_id).sum(1).tolist()
            seconds = round((time.perf_counter() - begun) / len(places), 4)
            n_read = tokens["attention_mask"].sum(1).tolist()
            yield {place: Answer(*each, seconds) for place, *each in zip(places, texts, n_read, lengths)}


def vocabulary_beside_names(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> Container[str] | None:
    """The words that are no names, if this model (its configuration says so) reads and writes names as numbers."""
    return tokenizer.get_vocab() if getattr(model.config, "numbered_names", False) else None


# ---- on a server


class ChatServer(LanguageModel):
    """A model on a server that speaks OpenAI's chat completions: a company's, or one's own (vLLM, Ollama …).

    It is asked at temperature 0, a prompt being one message of the user. ``url`` is the base URL, that which ends in
    ``/v1`` as a rule, and ``key`` the key; where they are None, the environment's ``OPENAI_BASE_URL`` and
    ``OPENAI_API_KEY`` count. A request that takes longer than ``timeout`` seconds, meets a server in trouble or is one
    too many is tried again, ``retries`` times, after pauses of half a second to eight (or as the server says).
    ``at_once`` requests run at the same time. After ``KIT_MOST_CALLS`` requests or ``KIT_MOST_TOKENS`` tokens (of the
    environment, or 10,000 and 10 million), of prompts and answers together, this object asks no more. Tokens are known
    when the answer is there, so the requests under way can exceed them.

    Answers are kept by the name of the model, not by the server's address: they can be replayed anywhere.
    """

    def __init__(
        self,
        model: str,
        *,
        url: str | None = None,
        key: str | None = None,
        timeout: float = 60.0,
        retries: int = 4,
        at_once: int = 4,
        **settings: object,
    ) -> None:
        super().__init__(f"server:{model}", **settings)
        self.model, self.timeout, self.retries, self.at_once = model, timeout, retries, at_once
        self.identity = f"chat completion of {model}, temperature 0"
        self.most = {"calls": _cap("KIT_MOST_CALLS", 10_000), "tokens": _cap("KIT_MOST_TOKENS", 10_000_000)}
        self._given, self._key, self._calls = url, key, 0

    @cached_property
    def url(self) -> str:
        """The base URL. Raises :class:`InputError` where it is none, or holds a key."""
        url = (self._given or os.environ.get("OPENAI_BASE_URL") or "").strip()
        if not url and not self.key:
            raise self.error("expected the server's address in OPENAI_BASE_URL, or a key in OPENAI_API_KEY")
        try:
            parts = urlsplit(url or OPENAI)
            sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            sound = False
        if not sound:
            raise self.error("expected the base URL of a server, such as http://127.0.0.1:8000/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise self.error("expected a base URL without a name, key or query in it; a key goes into OPENAI_API_KEY")
        return parts.geturl()

    @cached_property
    def key(self) -> str:
        """The key, or ``""``: a server of one's own may need none."""
        key = (self._key or os.environ.get("OPENAI_API_KEY") or "").strip()
        if not (key.isascii() and key.isprintable()):
            raise self.error("the key in OPENAI_API_KEY holds characters that no key has")
        return key

    def _ask(self, prompts: Sequence[str]) -> Iterator[Mapping[int, Answer]]:
        from openai import OpenAI  # imported here: it takes a second, and a replay never needs it

        client = OpenAI(base_url=self.url, api_key=self.key or "none", timeout=self.timeout, max_retries=self.retries)
        waiting = iter(enumerate(prompts))
        running: dict[Future[Answer], int] = {}
        failure: InputError | None = None
        with ThreadPoolExecutor(self.at_once) as pool:
            while True:
                while not failure and len(running) < self.at_once and (following := next(waiting, None)):
                    if failure := self._spent():
                        break
                    self._calls += 1
                    running[pool.submit(self._call, client, following[1])] = following[0]
                if not running:
                    break
                answers = {}
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    place = running.pop(future)
                    try:
                        answers[place] = future.result()
                    except InputError as error:  # what is under way comes to its end, and is kept
                        failure = failure or error
                yield answers
        if failure:
            raise failure

    def _spent(self) -> InputError | None:
        """Why no more may be asked, if so."""
        _, *tokens, _ = self._counts["live"]
        for what, spent in (("calls", self._calls), ("tokens", sum(tokens))):
            if spent >= self.most[what]:
                return self.error(f"the cap of {self.most[what]:,} {what} is reached (KIT_MOST_{what.upper()})")
        return None

    def _call(self, client: OpenAI, prompt: str) -> Answer:
        import openai

        # OpenAI's own newer models know the longest answer by another name than everybody else.
        limit = "max_completion_tokens" if self.url == OPENAI else "max_tokens"
        message = {"role": "user", "content": prompt}
        begun = time.perf_counter()
        try:
            reply = client.chat.completions.create(
                model=self.model, messages=[message], temperature=0, **{limit: self.longest_answer}
            )
            text, usage = reply.choices[0].message.content or "", reply.usage
        except openai.APITimeoutError:
            raise self._failed(f"no answer within {self.timeout:g} seconds, tried {self.retries + 1} times") from None
        except openai.APIStatusError as error:
            raise self._failed(self._refusal(error)) from None
        except openai.APIConnectionError as error:
            raise self._failed(f"can't be reached ({type(error.__cause__ or error).__name__})") from None
        except (openai.OpenAIError, AttributeError, TypeError, IndexError, ValueError):
            raise self._failed("the reply is no chat completion; is the base URL right?") from None
        seconds = round(time.perf_counter() - begun, 4)
        return Answer(text, usage.prompt_tokens if usage else 0, usage.completion_tokens if usage else 0, seconds)

    def _refusal(self, error: APIStatusError) -> str:
        """What a status other than success means. A server that refuses a key may repeat it, so it is not quoted."""
        status = error.status_code
        if status in (401, 403):
            return f"the key was refused (status {status}); it is read from OPENAI_API_KEY"
        said = " ".join(str(error.body if error.body else error.message).split())
        if self.key:
            said = said.replace(self.key, "…")
        tried = f", tried {self.retries + 1} times" if status in (408, 409, 429) or status >= 500 else ""
        return f"status {status}{tried}: {said[:_QUOTED]}"

    def _failed(self, what: str) -> InputError:
        return self.error(f"the server at {self.url}: {what}")


def _cap(variable: str, otherwise: int) -> int:
    text = os.environ.get(variable) or str(otherwise)
    if not (text.isascii() and text.isdecimal()):
        raise InputError(f"expected a whole number from 0, not {text!r}", field=variable)
    return int(text)
