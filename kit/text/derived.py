"""What is made of much text or many vectors without a model, kept in the store: names, links …"""

from collections.abc import Callable, Sized
from typing import TypeVar

import msgspec

from kit.fingerprint import code_digest
from kit.store import Store, content_key

KIND = "derived"  # in the store
LARGE = 1_000  # passages or vectors: what is made of fewer takes less than a second

Source = TypeVar("Source", bound=Sized)
Result = TypeVar("Result")


def kept(
    make: Callable[..., Result],
    result: type[Result],
    source: Source,
    content: str,
    *settings: object,
) -> Result:
    """``make(source, *settings)``, which of a large source is kept in the store.

    It is found again by the function's name and code, the settings and the source's ``content``, a
    digest; msgspec writes it and reads it as a ``result``.
    """
    if len(source) < LARGE:
        return make(source, *settings)

    store = Store()
    code = code_digest(make.__module__)
    key = content_key(make.__name__, code, content, *map(str, settings))
    stored = store.get_many(KIND, [key])
    if key in stored:
        return msgspec.msgpack.decode(stored[key], type=result)
    made = make(source, *settings)
    store.put_many(KIND, {key: msgspec.msgpack.encode(made)})
    return made
