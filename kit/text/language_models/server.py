"""Any server that speaks the chat completions of OpenAI: a company's, or one's own (vLLM, Ollama, llama.cpp …)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kit.errors import InputError
from kit.store import Store
from kit.text.language_models.base import Answer, LanguageModel

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

OPENAI = "https://api.openai.com/v1"
_QUOTED = 200  # characters of a server's own message in an error


class ChatServer(LanguageModel):
    """A model on an OpenAI-compatible server, asked at temperature 0, a prompt being one message of the user.

    ``url`` is the base URL, that which ends in ``/v1`` as a rule, and ``key`` the key; where they are None, the
    environment's ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` count. A request that takes longer than ``timeout``
    seconds, meets a server in trouble or is one too many is tried again, ``retries`` times, after pauses of half a
    second to eight (or as the server says). ``at_once`` requests run at the same time. After ``most_calls`` requests or
    ``most_tokens`` tokens, of prompts and answers together, this object asks no more (None: ``KIT_MOST_CALLS`` and
    ``KIT_MOST_TOKENS`` of the environment count, or 10,000 and 10 million). Tokens are known when the answer is there,
    so the requests under way can exceed them.

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
        most_calls: int | None = None,
        most_tokens: int | None = None,
        longest_answer: int = 64,
        replay: bool = False,
        store: Store | None = None,
    ) -> None:
        super().__init__(f"server:{model}", longest_answer=longest_answer, replay=replay, store=store)
        for field, value, least in [("timeout", timeout, 0.001), ("retries", retries, 0), ("at_once", at_once, 1)]:
            if type(value) not in (int, float) or not value >= least:
                raise InputError(f"expected a number from {least}, not {value!r}", field=field)
        self.model, self.timeout, self.retries, self.at_once = model, timeout, retries, at_once
        self.most_calls = _cap(most_calls, "KIT_MOST_CALLS", 10_000)
        self.most_tokens = _cap(most_tokens, "KIT_MOST_TOKENS", 10_000_000)
        self._given, self._key = url, key
        self._calls = 0

    @property
    def identity(self) -> str:
        return f"chat completion of {self.model}, temperature 0"

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

    @cached_property
    def client(self) -> OpenAI:
        from openai import OpenAI  # imported here: it takes a second, and a replay never needs it

        return OpenAI(
            base_url=self.url, api_key=self.key or "none", timeout=self.timeout, max_retries=int(self.retries)
        )

    # ---- asking

    def _ask(self, prompts: Sequence[str]) -> Iterator[Mapping[int, Answer]]:
        client, waiting = self.client, iter(enumerate(prompts))
        running: dict[Future[Answer], int] = {}
        failure: InputError | None = None
        with ThreadPoolExecutor(int(self.at_once)) as pool:
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
        if self._calls >= self.most_calls:
            return self.error(f"the cap of {self.most_calls:,} calls is reached (KIT_MOST_CALLS)")
        if sum(tokens) >= self.most_tokens:
            return self.error(f"the cap of {self.most_tokens:,} tokens is reached (KIT_MOST_TOKENS)")
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


def _cap(given: int | None, variable: str, otherwise: int) -> int:
    text = str(os.environ.get(variable) or otherwise if given is None else given)
    if not (text.isascii() and text.isdecimal()):
        raise InputError(f"expected a whole number from 0, not {text!r}", field=variable)
    return int(text)
