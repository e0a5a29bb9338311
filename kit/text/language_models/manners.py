"""What servers refuse to be told and which models think, as found out by all objects together."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

OPENAI = "https://api.openai.com/v1"
#: The longest answer by its usual name; where that is refused by a newer one; else it is left out.
_NEXT_LIMIT = {"max_tokens": "max_completion_tokens", "max_completion_tokens": ""}
#: A refusal of so much, or so long a prompt, is none of the option.
_TOO_MUCH = re.compile(r"too (large|long|many)|length|at most|less than", re.IGNORECASE)

Options = Mapping[str, float | int]


@dataclass
class Manners:
    """How a server wants to be asked for a model."""

    limit: str = "max_tokens"  # the name of the longest answer, or "" for none
    takes_temperature: bool = True
    thinks: bool = False

    def options(self, temperature: float, seed: int | None, limit: int) -> Options:
        """What is sent beside the messages."""
        options = {}
        if self.takes_temperature:
            options["temperature"] = temperature
        if seed is not None:
            options["seed"] = seed
        if self.limit:
            options[self.limit] = limit
        return options

    def learn(self, sent: Options, refusal: str) -> bool:
        """Whether a refusal is about an option that can be left out; from now on it is.

        A temperature that somebody chose is not left out.
        """
        if _TOO_MUCH.search(refusal):
            return False
        for name, other_name in _NEXT_LIMIT.items():
            if name in sent and name in refusal:
                self.limit = other_name
                return True
        if sent.get("temperature") == 0 and "temperature" in refusal:
            self.takes_temperature = False
            return True
        return False


@cache
def manners_of(url: str, model: str) -> Manners:
    """Those of a model on a server; the same object for all who ask."""
    manners = Manners(thinks=bool(os.environ.get("KIT_THINKING_TOKENS")))
    if url == OPENAI:  # whose newer models know the longest answer by another name
        manners.limit = "max_completion_tokens"
    return manners
