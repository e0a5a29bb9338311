"""A model on a server that speaks OpenAI's chat completions: a company's, or one's own."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec.structs import asdict

from kit import cost
from kit.errors import InputError
from kit.settings import BaseSettings, Whole, check, read_value
from kit.text.language_models.answers import (
    Answer,
    Messages,
    Prompt,
    as_request,
    split_thought,
)
from kit.text.language_models.base import AnswersByIndex, LanguageModel
from kit.text.language_models.manners import OPENAI, Manners, manners_of

if TYPE_CHECKING:
    from openai import OpenAI, OpenAIError
    from openai.types.chat import ChatCompletion

_BASE_URL = re.compile(r"https?://([\w.-]+|\[[\da-fA-F:.]+\])(:[1-9]\d*)?(/[^\s@?#]*)?")
_QUOTED = 200  # characters of a server's own message in an error
_AT_ONCE = 4  # requests
_THINKING_TOKENS = 4096
_THINKING_TIMES = 10  # as long as others a model may take that thinks


class Sampling(BaseSettings, frozen=True):
    """How a server chooses among the next words."""

    temperature: Annotated[float, msgspec.Meta(ge=0, le=2), "0 takes the likeliest"] = 0.0
    seed: Annotated[Whole | None, "of the server's own choices"] = None


class ChatServer(LanguageModel):
    """A model on a server (OpenAI, vLLM, Ollama …).

    Behind the model's name may stand how it samples, and the server's base URL:
    ``MODEL,temperature=0.7,seed=1@URL``. A request that takes longer than ``timeout`` seconds,
    meets a server in trouble or is one too many is tried again, ``retries`` times, when the server
    says or after growing pauses. The environment may say

    - ``KIT_CALLS_AT_ONCE``: how many requests are under way at the same time (4);
    - ``KIT_MOST_CALLS`` and ``KIT_MOST_TOKENS``: after how many requests, those that were tried
      again included, or tokens the process asks servers no more;
    - ``KIT_THINKING_TOKENS``: how much longer than others the answers may be of a model that thinks
      before it answers (4,096). That it does is found out by its first thought, at the latest when
      an answer is cut for it; where the variable is set, it counts from the first request, as is
      needed where a server gives thoughts without their opening mark.

    Answers are kept by the name of the model, not by the server's address: they can be replayed
    anywhere.
    """

    timeout = 60.0
    retries = 4

    def __init__(self, model: str, *, url: str = "", **settings: Any) -> None:
        described, at, address = model.partition("@http")
        self._url = url or at[1:] + address
        super().__init__(f"server:{described}", **settings)

        self.model, *sampling = described.split(",")
        values = {}
        for setting in sampling:
            name, _, value = setting.partition("=")
            values[name] = read_value(value)
        self.sampling = check(Sampling, values, f"server:{self.model}")
        self.identity = (
            f"chat completion of {self.model}, temperature {self.sampling.temperature:g}"
        )
        if self.sampling.seed is not None:
            self.identity += f", seed {self.sampling.seed}"

        self.at_once = cost.whole_number("KIT_CALLS_AT_ONCE", _AT_ONCE, least=1)
        self.thinking_tokens = cost.whole_number("KIT_THINKING_TOKENS", _THINKING_TOKENS)
        cost.caps()  # raises where they are no numbers

    @cached_property
    def key(self) -> str:
        """The key, or ``""``: a server of one's own may need none."""
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        if not (key.isascii() and key.isprintable()):
            raise self.error("the key in OPENAI_API_KEY holds characters that no key has")
        return key

    @cached_property
    def url(self) -> str:
        """The server's base URL; with a key alone it is OpenAI's."""
        url = self._url or os.environ.get("OPENAI_BASE_URL", "").strip()
        if not url and self.key:
            url = OPENAI
        if not url:
            raise self.error(
                "expected the server's address in OPENAI_BASE_URL, or a key in OPENAI_API_KEY"
            )
        if not _BASE_URL.fullmatch(url):
            raise self.error(
                "expected the base URL of a server, such as http://127.0.0.1:8000/v1, without a "
                "name, key or query in it; a key goes into OPENAI_API_KEY"
            )
        return url

    @cached_property
    def manners(self) -> Manners:
        """How the server wants to be asked, as far as this process has found out."""
        return manners_of(self.url, self.model)

    def expect_ready(self) -> None:
        """Raise :class:`InputError` without an address, or with what is none."""
        if not self.replay:
            _ = self.url

    def _ask(self, prompts: Sequence[Prompt]) -> AnswersByIndex:
        # Imported here: it takes a second, and a replay never needs it.
        from openai import DefaultHttpxClient, OpenAI

        client = OpenAI(
            base_url=self.url,
            api_key=self.key or "none",
            max_retries=self.retries,
            # Each try is a request, those of the library too.
            http_client=DefaultHttpxClient(
                event_hooks={"request": [lambda request: cost.spend_call()]}
            ),
        )
        failures = []
        with client, ThreadPoolExecutor(self.at_once) as pool:
            calls = {
                pool.submit(self._call, client, prompt): index
                for index, prompt in enumerate(prompts)
            }
            try:
                for call in as_completed(calls):
                    if call.cancelled():
                        continue
                    failure = call.exception()
                    if failure is None:
                        yield {calls[call]: call.result()}
                    else:
                        failures.append(failure)
                        _cancel(calls)  # those under way are waited for, and kept
            finally:
                _cancel(calls)
        if failures:
            raise failures[0]

    def _call(self, client: OpenAI, prompt: Prompt) -> Answer:
        """An answer to the prompt, with a longer limit where the model thinks."""
        messages = as_request(prompt).messages
        limit = self.longest_answer
        if not self.manners.thinks:
            answer = self._reply(client, messages, limit)
            self.manners.thinks |= bool(answer.thought) or answer.is_cut_in_thought
            if not answer.is_cut_in_thought:
                return answer

        limit += self.thinking_tokens
        answer = self._reply(client, messages, limit)
        if answer.is_cut and not answer.text.strip():
            raise self.error(
                f"the server at {self.url}: the reply was cut at {limit:,} tokens, before its "
                "answer began; a model that thinks longer needs larger KIT_THINKING_TOKENS"
            )
        return answer

    def _reply(self, client: OpenAI, messages: Messages, limit: int) -> Answer:
        """What the server replies, asked without what it refuses to be told."""
        import openai

        options = self.manners.options(self.sampling.temperature, self.sampling.seed, limit)
        timeout = self.timeout
        if self.manners.thinks:
            timeout *= _THINKING_TIMES
        start = time.perf_counter()
        try:
            completion = client.chat.completions.create(
                model=self.model,
                messages=messages,
                timeout=timeout,
                **options,
            )
            return self._answer(completion, time.perf_counter() - start)
        except InputError:  # a cap
            raise
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            if self.manners.learn(options, str(error.body)):
                return self._reply(client, messages, limit)
            failure = self._reason(error)
        except openai.OpenAIError as error:  # after all tries
            failure = self._reason(error)
        except (AttributeError, TypeError, IndexError, ValueError):
            failure = "the reply is no chat completion; is the base URL right?"
        raise self.error(f"the server at {self.url}: {failure}")

    def _answer(self, completion: ChatCompletion, seconds: float) -> Answer:
        """The answer in a reply, its thoughts apart, whichever way the server gives them."""
        choice = completion.choices[0]
        text, thought = split_thought(choice.message.content or "")
        for name in ("reasoning_content", "reasoning"):
            thought = thought or getattr(choice.message, name, None) or ""

        answered_by = [completion.model, completion.system_fingerprint]
        counts = (0, 0)
        if completion.usage is not None:
            counts = (completion.usage.prompt_tokens, completion.usage.completion_tokens)
        cost.count(tokens=sum(counts))
        answer = Answer(
            text,
            *counts,
            round(seconds, 4),
            finish_reason=choice.finish_reason or "",
            thought=thought,
            version=" ".join(part for part in answered_by if part and part != self.model),
            date=datetime.now(UTC).date().isoformat(),
        )
        return msgspec.convert(asdict(answer), Answer)  # raises where a field has another type

    def _reason(self, error: OpenAIError) -> str:
        """Why a call failed, without the key, which a server that refuses it may repeat."""
        import openai

        kind = type(error).__name__
        if isinstance(error, openai.APIStatusError):
            kind = f"status {error.status_code}"
        body = getattr(error, "body", None) or error
        if isinstance(body, dict):
            body = body.get("message", body)
        reason = " ".join([f"{kind}:", *str(body).split()])
        if self.key:
            reason = reason.replace(self.key, "…")
        if isinstance(error, openai.AuthenticationError):
            return f"the key of OPENAI_API_KEY was refused; {reason[:_QUOTED]}"
        return reason[:_QUOTED]


def _cancel(calls: Iterable[Future[Answer]]) -> None:
    """Begin none of the calls that have not begun."""
    for call in calls:
        call.cancel()
