"""What a chat model was asked in a round and what it replied, in a caption's words."""

from collections.abc import Iterable

from kit.methods.trace import AnyEvent, Exchange
from kit.views.replay import clip

_SHOWN = 160  # characters of a prompt's end, where the question stands, and of a reply


def in_words(events: Iterable[AnyEvent]) -> str:
    """The exchanges among the events, one after another; empty where there are none."""
    written = ""
    for event in events:
        if isinstance(event, Exchange):
            prompt = " ".join(event.prompt.split())
            if len(prompt) > _SHOWN:
                prompt = "…" + prompt[1 - _SHOWN :]
            written += f" Asked: “{prompt}” Replied: “{clip(event.reply, _SHOWN)}”"
    return written
