"""What is sent to a language model, and what comes back."""

from __future__ import annotations

from itertools import chain

from msgspec import Struct

from kit.corpus.records import writable
from kit.corpus.types import Strings

Messages = list[dict[str, str]]


class Request(Struct, frozen=True):
    """A prompt with what a chat model is to know before it, and how it may answer.

    ``system`` is its system message. ``examples`` are prompts with the answers that they ought to
    have, as if they stood earlier in the same chat. A causal model of this machine ends its answer
    before ``stop``, and of ``choices``, where there are any, it takes the likeliest; others know
    only what the prompt says.
    """

    prompt: str
    system: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    stop: str = ""
    choices: Strings = ()

    @property
    def messages(self) -> Messages:
        """As a server takes it."""
        turns = [("system", self.system)] if self.system else []
        for prompt, answer in self.examples:
            turns += [("user", prompt), ("assistant", answer)]
        turns.append(("user", self.prompt))
        return [{"role": role, "content": writable(text)} for role, text in turns]

    @property
    def plain_text(self) -> str:
        """In one text, for a model that does not chat."""
        return "\n\n".join(message["content"] for message in self.messages)

    @property
    def key_parts(self) -> list[str]:
        """What tells it from other requests; of a prompt alone it is the prompt."""
        parts = [self.prompt]
        if self.system or self.examples:
            parts += [self.system, *chain.from_iterable(self.examples)]
        if self.stop or self.choices:
            parts += ["stop", self.stop, "choices", *self.choices]
        return parts


Prompt = str | Request


def as_request(prompt: Prompt) -> Request:
    """A plain text is a prompt that nothing stands before."""
    return prompt if isinstance(prompt, Request) else Request(prompt)


class Answer(Struct, frozen=True, omit_defaults=True):
    """What a model wrote to a prompt.

    Tokens are counted by its tokenizer, 0 where a server does not tell. ``seconds`` are those of
    the call; on this machine they are a prompt's share of its batch. ``finish_reason`` is why it
    stopped, as servers call it: "stop", or "length" where it was cut at the longest answer.
    ``thought`` is what it wrote for itself before the answer. ``version`` is the model that a
    server says has answered, where that has another name than the one that was asked, and the
    server's fingerprint. ``log_likelihoods`` are those of each choice, in nats, of a model of this
    machine that was to choose.
    """

    text: str
    prompt_tokens: int
    answer_tokens: int
    seconds: float
    finish_reason: str = ""
    thought: str = ""
    version: str = ""
    date: str = ""
    log_likelihoods: tuple[float, ...] = ()

    @property
    def is_cut(self) -> bool:
        """Whether it ends where the longest answer ends."""
        return self.finish_reason == "length"

    @property
    def is_cut_in_thought(self) -> bool:
        """Whether it was cut because of what the model thought before."""
        return self.is_cut and bool(self.thought or not self.text.strip())


def split_thought(reply: str) -> tuple[str, str]:
    """The answer in a reply, and what stands in ``<think>…</think>``.

    Some models begin in the middle of a thought, as their template has the opening mark; one that
    is cut never ends it. A reply without marks stays as it is.
    """
    thought, closing, answer = reply.rpartition("</think>")
    answer, opening, unfinished = answer.partition("<think>")
    if not closing + opening:
        return reply, ""
    thought = thought.replace("<think>", "")
    return answer.strip(), "\n".join(filter(None, [thought.strip(), unfinished.strip()]))
