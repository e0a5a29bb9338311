"""A model on a server that speaks OpenAI's chat completions: a company's, or one's own."""

from __future__ import annotations

import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kit.corpus.types import Texts
from kit.errors import InputError
from kit.text.language_models.base import Answer, AnswersByIndex, LanguageModel

if TYPE_CHECKING:
    from openai import OpenAI, OpenAIError

OPENAI = "https://api.openai.com/v1"
_BASE_URL = re.compile(r"https?://([\w.-]+|\[[\da-fA-F:.]+\])(:[1-9]\d*)?(/[^\s@?#]*)?")
_QUOTED = 200  # characters of a server's own message in an error


class ChatServer(LanguageModel):
    """A model on a server (OpenAI, vLLM, Ollama …); a prompt is one message of the user.

    The server's base URL may stand behind the model: ``MODEL@URL``. A request that takes longer
    than ``timeout`` seconds, meets a server in trouble or is one too many is tried again,
    ``retries`` times, after growing pauses. After ``KIT_MOST_CALLS`` requests or
    ``KIT_MOST_TOKENS`` tokens (of the environment) this object asks no more but the ``at_once``
    that are under way. Answers are kept by the name of the model, not by the server's address: they
    can be replayed anywhere.
    """

    timeout = 60.0
    retries = 4
    at_once = 4

    def __init__(self, model: str, *, url: str = "", **settings: Any) -> None:
        self.model, at, address = model.partition("@http")
        self._url = url or at[1:] + address
        super().__init__(f"server:{self.model}", **settings)
        self.identity = f"chat completion of {self.model}, temperature 0"
        self._spent = {"calls": 0, "tokens": 0}
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

    def _ask(self, prompts: Texts) -> AnswersByIndex:
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
                n_calls = min(self.at_once, self._calls_left())
                part = prompts[done : done + n_calls]
                calls = [pool.submit(self._call, client, prompt) for prompt in part]
                self._spent["calls"] += len(calls)
                answers = {}
                for index, call in enumerate(calls, start=done):
                    if not call.exception():
                        answer = call.result()
                        answers[index] = answer
                        self._spent["tokens"] += answer.prompt_tokens + answer.answer_tokens
                yield answers  # also those beside a failure

                for call in calls:
                    call.result()  # raises the first failure
                done += len(part)

    def _calls_left(self) -> int:
        """How many calls the caps allow. Raises :class:`InputError` where one is reached."""
        for unit, spent in self._spent.items():
            most = self._most[unit]
            if spent >= most:
                raise self.error(f"the cap of {most:,} {unit} is reached (KIT_MOST_{unit.upper()})")
        return self._most["calls"] - self._spent["calls"]

    def _call(self, client: OpenAI, prompt: str) -> Answer:
        import openai

        # OpenAI's own newer models know the longest answer by another name than everybody else.
        limit = "max_completion_tokens" if self.url == OPENAI else "max_tokens"
        start = time.perf_counter()
        try:
            reply = client.chat.completions.create(
                model=self.model,
                messages=[{"role": "user", "content": prompt}],
                temperature=0,
                **{limit: self.longest_answer},
            )
            text = reply.choices[0].message.content or ""
            usage = reply.usage
        except openai.OpenAIError as error:  # after all tries
            failure = self._reason(error)
        except (AttributeError, TypeError, IndexError, ValueError):
            failure = "the reply is no chat completion; is the base URL right?"
        else:
            seconds = round(time.perf_counter() - start, 4)
            counts = (0, 0)
            if usage is not None:
                counts = (usage.prompt_tokens, usage.completion_tokens)
            return Answer(text, *counts, seconds)
        raise self.error(f"the server at {self.url}: {failure}")

    def _reason(self, error: OpenAIError) -> str:
        """Why a call failed, without the key, which a server that refuses it may repeat."""
        import openai

        kind = type(error).__name__
        if isinstance(error, openai.APIStatusError):
            kind = f"status {error.status_code}"
        body = str(getattr(error, "body", None) or error)
        reason = " ".join([f"{kind}:", *body.split()])
        if self.key:
            reason = reason.replace(self.key, "…")
        if isinstance(error, openai.AuthenticationError):
            return f"the key of OPENAI_API_KEY was refused; {reason[:_QUOTED]}"
        return reason[:_QUOTED]


def _cap(variable: str, otherwise: int) -> int:
    text = os.environ.get(variable) or str(otherwise)
    if not (text.isascii() and text.isdecimal()):
        raise InputError(f"expected a whole number from 0, not {text!r}", field=variable)
    return int(text)
