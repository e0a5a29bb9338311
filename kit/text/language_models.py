"""Language models: prompts in, texts and token counts out; every answer is kept, so that nothing is asked twice."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import groupby
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

import msgspec
import pandas as pd
from tqdm.auto import tqdm

from kit.errors import InputError
from kit.paths import ROOT
from kit.store import Store, content_key
from kit.text.encoder import content_of_model

if TYPE_CHECKING:
    from openai import OpenAI
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

OPENAI = "https://api.openai.com/v1"
KIND = "answers"  # in the store
_SHOWN, _QUOTED = 60, 200  # characters of a prompt and of a server's own message in an error
_BATCH, _LONGEST_PROMPT = (
    64,
    512,
)  # of a sequence-to-sequence model: prompts at once, tokens at which one is cut
BEGUN = "<answer>"  # in a prompt of a sequence-to-sequence model: the answer begins with what stands behind it
_BASE_URL = re.compile(r"https?://([\w.-]+|\[[\da-fA-F:.]+\])(:[1-9]\d*)?(/[^\s@?#]*)?")


def language_model(
    text: str, *, longest_answer: int = 64, store: Store | None = None
) -> LanguageModel:
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
        return ChatServer(model, url=f"http{address}" if at else "", **shared)
    expected = "t5:FOLDER-OR-NAME, server:MODEL, server:MODEL@URL, or one of these after replay:"
    raise InputError(f"expected a language model as {expected}; not {text!r}", field="model")


class Answer(msgspec.Struct, frozen=True):
    """What a model wrote to a prompt; tokens by its tokenizer (0 where a server does not tell); seconds of a call.

    On this machine the seconds are a prompt's share of its batch.
    """

    text: str
    prompt_tokens: int
    answer_tokens: int
    seconds: float


class LanguageModel:
    """A language model whose answers are kept in the store by its ``identity``, ``longest_answer`` and the prompt.

    ``replay`` forbids to ask it: what is not in the store is an error. ``longest_answer`` is in tokens.
    """

    identity: str
    cold = False  # whether stored answers don't count, as where time is taken

    def __init__(
        self,
        name: str,
        *,
        longest_answer: int = 64,
        replay: bool = False,
        store: Store | None = None,
    ) -> None:
        self.name, self.longest_answer, self.replay, self.store = (
            name,
            longest_answer,
            replay,
            store or Store(),
        )
        self._answers: dict[str, list[Answer]] = {"live": [], "replayed": []}
        self.log: list[tuple[str, str]] = []  # each prompt with its answer, as they were asked for

    def _ask(self, prompts: Sequence[str]) -> Iterator[Mapping[int, Answer]]:
        """The model's answers as they come, by the place of their prompts, which are all different."""
        raise NotImplementedError

    def generate(self, prompts: Sequence[str], *, progress: bool = True) -> list[Answer]:
        """An answer to each prompt, in their order. A prompt that occurs twice is asked once.

        Raises :class:`InputError` where the model can't be asked, or not to the end; what it answered before is kept.
        """
        keys = [content_key(self.identity, str(self.longest_answer), prompt) for prompt in prompts]
        asked = dict(zip(keys, prompts))
        stored = {} if self.cold and not self.replay else self.store.get_many(KIND, list(asked))
        known = {key: msgspec.json.decode(value, type=Answer) for key, value in stored.items()}
        missing = [key for key in asked if key not in known]
        if missing and self.replay:
            first = shorten(asked[missing[0]], _SHOWN, placeholder="…")
            raise self.error(
                f"no stored answer to {len(missing)} of {len(asked)} prompts, the first being “{first}”"
            )
        self._answers["replayed"] += known.values()
        hidden = not (progress and missing)
        with tqdm(
            total=len(missing), desc=f"asking {self.name}", unit="prompt", disable=hidden
        ) as bar:
            try:
                for part in self._ask([asked[key] for key in missing]) if missing else ():
                    new = {missing[place]: answer for place, answer in part.items()}
                    self.store.put_many(
                        KIND, {key: msgspec.json.encode(answer) for key, answer in new.items()}
                    )
                    self._answers["live"] += new.values()
                    known |= new
                    bar.update(len(new))
            except InputError as error:
                kept = (
                    f"({len(known) - len(stored)} of {len(missing)} prompts are answered and kept)"
                )
                raise InputError(f"{error} {kept}") from None
        self.log += [(prompt, known[key].text) for prompt, key in zip(prompts, keys)]
        return [known[key] for key in keys]

    def error(self, what: str) -> InputError:
        """One line that names the model."""
        return InputError(f"{self.name}: {what}")

    def usage(self) -> pd.DataFrame:
        """Rows live and replayed: model, source, calls (prompts answered), prompt_tokens, answer_tokens, seconds."""
        summed = ("prompt_tokens", "answer_tokens", "seconds")
        return pd.DataFrame(
            {"model": self.name, "source": source, "calls": len(answers)}
            | {name: sum(getattr(answer, name) for answer in answers) for name in summed}
            for source, answers in self._answers.items()
        )


class SequenceToSequence(LanguageModel):
    """A sequence-to-sequence model of transformers, such as T5, in a folder or by its name on the Hugging Face hub.

    It answers greedily. Weights are read from safetensors only.
    """

    def __init__(self, model: str, **settings: object) -> None:
        super().__init__(f"t5:{model}", **settings)
        self.model_name, folders = (
            model,
            (Path(model), ROOT / model),
        )  # a folder of the project is found from anywhere
        self.folder = next((folder for folder in folders if folder.is_dir()), None)

    @cached_property
    def identity(self) -> str:
        """The content of a local model's files, or the name of one on the hub; and where prompts are cut."""
        content = self.model_name if self.folder is None else content_of_model(self.folder)
        return f"greedy {content}, {_LONGEST_PROMPT}"

    @cached_property
    def loaded(self) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
        """The tokenizer and the model. Raises :class:`InputError` where there is none."""
        # Imported here: torch takes seconds, and a replay never needs it.
        import torch
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()  # of loading weights, which takes no time
        source, local = (
            str(self.folder or self.model_name),
            {"local_files_only": self.folder is not None},
        )
        try:
            tokenizer = AutoTokenizer.from_pretrained(source, **local)
            model = AutoModelForSeq2SeqLM.from_pretrained(
                source, use_safetensors=True, dtype=torch.float32, **local
            )
        except (OSError, ValueError, KeyError) as error:
            what = " ".join(str(error).split())
            raise self.error(
                f"no sequence-to-sequence model of this name or folder ({what})"
            ) from None
        return tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu").eval()

    def _ask(self, prompts: Sequence[str]) -> Iterator[Mapping[int, Answer]]:
        import torch

        tokenizer, model = self.loaded
        cut = {
            "truncation": True,
            "max_length": _LONGEST_PROMPT,
            "padding": True,
            "return_tensors": "pt",
        }
        read, _, begun = zip(*(prompt.partition(BEGUN) for prompt in prompts))
        begun = [tokenizer(text.strip(), add_special_tokens=False)["input_ids"] for text in begun]
        # Answers that begin with as many tokens are written together, of these to prompts of like length: less padding.
        order = sorted(range(len(prompts)), key=lambda place: (len(begun[place]), len(read[place])))
        for length, of in groupby(order, key=lambda place: len(begun[place])):
            of = list(of)
            for places in (of[start : start + _BATCH] for start in range(0, len(of), _BATCH)):
                clock = time.perf_counter()
                tokens = tokenizer([read[place] for place in places], **cut).to(model.device)
                given = {name: tokens[name] for name in ("input_ids", "attention_mask")}
                started = [[model.config.decoder_start_token_id, *begun[place]] for place in places]
                given["decoder_input_ids"] = torch.tensor(started, device=model.device)
                with torch.inference_mode():
                    written = model.generate(
                        **given, max_new_tokens=self.longest_answer, do_sample=False, num_beams=1
                    )
                written = written[:, 1 + length :]  # after the end there is padding
                texts = map(str.strip, tokenizer.batch_decode(written, skip_special_tokens=True))
                lengths = (written != model.config.pad_token_id).sum(1).tolist()
                seconds = round((time.perf_counter() - clock) / len(places), 4)
                n_read = tokens["attention_mask"].sum(1).tolist()
                yield {
                    place: Answer(*each, seconds)
                    for place, *each in zip(places, texts, n_read, lengths)
                }


class ChatServer(LanguageModel):
    """A model on a server that speaks OpenAI's chat completions: a company's, or one's own (vLLM, Ollama …).

    A prompt is one message of the user. A request that takes longer than ``timeout`` seconds, meets a server in trouble
    or is one too many is tried again, ``retries`` times, after growing pauses. After ``KIT_MOST_CALLS`` requests or
    ``KIT_MOST_TOKENS`` tokens (of the environment) this object asks no more but the ``at_once`` that are under way.
    Answers are kept by the name of the model, not by the server's address: they can be replayed anywhere.
    """

    timeout, retries, at_once = 60.0, 4, 4

    def __init__(self, model: str, *, url: str = "", **settings: object) -> None:
        super().__init__(f"server:{model}", **settings)
        self.model, self.identity = model, f"chat completion of {model}, temperature 0"
        self._url, self._spent = url, {"calls": 0, "tokens": 0}
        self._most = {
            "calls": _cap("KIT_MOST_CALLS", 10_000),
            "tokens": _cap("KIT_MOST_TOKENS", 10_000_000),
        }

    @cached_property
    def key(self) -> str:
        """The key, or ``""``: a server of one's own may need none."""
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        if not (key.isascii() and key.isprintable()):
            raise self.error("the key in OPENAI_API_KEY holds characters that no key has")
        return key

    @cached_property
    def url(self) -> str:
        url = (
            self._url
            or os.environ.get("OPENAI_BASE_URL", "").strip()
            or (OPENAI if self.key else "")
        )
        if not url:
            raise self.error(
                "expected the server's address in OPENAI_BASE_URL, or a key in OPENAI_API_KEY"
            )
        if not _BASE_URL.fullmatch(url):
            without = "without a name, key or query in it; a key goes into OPENAI_API_KEY"
            raise self.error(
                f"expected the base URL of a server, such as http://127.0.0.1:8000/v1, {without}"
            )
        return url

    def _ask(self, prompts: Sequence[str]) -> Iterator[Mapping[int, Answer]]:
        from openai import OpenAI  # imported here: it takes a second, and a replay never needs it

        client = OpenAI(
            base_url=self.url,
            api_key=self.key or "none",
            timeout=self.timeout,
            max_retries=self.retries,
        )
        done = 0
        with ThreadPoolExecutor(self.at_once) as pool:
            while done < len(prompts):
                for what, spent in self._spent.items():
                    if spent >= self._most[what]:
                        raise self.error(
                            f"the cap of {self._most[what]:,} {what} is reached (KIT_MOST_{what.upper()})"
                        )
                part = prompts[
                    done : done + min(self.at_once, self._most["calls"] - self._spent["calls"])
                ]
                calls = [pool.submit(self._call, client, prompt) for prompt in part]
                answers = {
                    done + place: call.result()
                    for place, call in enumerate(calls)
                    if not call.exception()
                }
                self._spent["calls"] += len(part)
                self._spent["tokens"] += sum(
                    each.prompt_tokens + each.answer_tokens for each in answers.values()
                )
                yield answers  # also those beside a failure
                for call in calls:
                    call.result()  # raises the first failure
                done += len(part)

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
        except (
            openai.OpenAIError
        ) as error:  # after all tries; a server that refuses a key may repeat it
            status = isinstance(error, openai.APIStatusError) and f"status {error.status_code}"
            said = f"{status or type(error).__name__}: {' '.join(str(getattr(error, 'body', None) or error).split())}"
            hint = (
                "the key of OPENAI_API_KEY was refused; "
                if isinstance(error, openai.AuthenticationError)
                else ""
            )
            failure = hint + (said.replace(self.key, "…") if self.key else said)[:_QUOTED]
        except (AttributeError, TypeError, IndexError, ValueError):
            failure = "the reply is no chat completion; is the base URL right?"
        else:
            seconds = round(time.perf_counter() - begun, 4)
            return Answer(
                text,
                usage.prompt_tokens if usage else 0,
                usage.completion_tokens if usage else 0,
                seconds,
            )
        raise self.error(f"the server at {self.url}: {failure}")


def _cap(variable: str, otherwise: int) -> int:
    text = os.environ.get(variable) or str(otherwise)
    if not (text.isascii() and text.isdecimal()):
        raise InputError(f"expected a whole number from 0, not {text!r}", field=variable)
    return int(text)
