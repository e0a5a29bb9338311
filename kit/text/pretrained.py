"""Sentence-transformers models from where they lie: a folder, this machine's cache, the hub."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from kit.errors import InputError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PATIENCE = 10  # seconds that the hub has to answer


@lru_cache(maxsize=2)
def load_model(name: str, folder: Path | None, trusted: bool) -> SentenceTransformer:
    """The model of a folder, or of this name in the cache or else on the hub.

    ``trusted`` lets it run code of its own. Raises :class:`InputError` where there is no such
    model, and where it has code that is not trusted.
    """
    # Imported here: torch takes seconds, and a run whose vectors are all stored never needs it.
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # of loading weights, which takes no time
    source = str(folder or name)
    is_local = lies_here(name, folder)
    try:
        return SentenceTransformer(source, local_files_only=is_local, trust_remote_code=trusted)
    except (OSError, ValueError) as error:
        if "trust_remote_code" in str(error):
            expected = (
                f"{name} has code of its own, which would run on this machine: "
                f"trust_remote_code=true allows it"
            )
        else:
            expected = f"no sentence-transformers model of this name or folder ({error})"
        raise InputError(expected, field="encoder") from None


def lies_here(name: str, folder: Path | None) -> bool:
    """Whether a model is found on this machine, without a word to another one.

    Raises :class:`InputError` where the hub has none of this name, either.
    """
    if folder is not None or _is_cached(name):
        return True
    _expect_on_hub(name)
    return False


def _on_hub(name: str) -> str:
    """The full name; one without an owner is that of a model of sentence-transformers."""
    return name if "/" in name else f"sentence-transformers/{name}"


def _is_cached(name: str) -> bool:
    """Whether a model lies in this machine's cache of the hub."""
    from huggingface_hub import try_to_load_from_cache

    try:
        return isinstance(try_to_load_from_cache(_on_hub(name), "config.json"), str)
    except ValueError:  # no name that the hub could have
        return False


def _expect_on_hub(name: str) -> None:
    """Ask the hub once whether it has a model: loading would try each file six times."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    try:
        HfApi().model_info(_on_hub(name), timeout=PATIENCE)
    except ValueError:
        expected = f"{name!r} is no folder, and no name that the Hugging Face hub could have"
    except HfHubHTTPError as error:
        expected = f"the Hugging Face hub has no model {name!r} for us ({error})"
    except Exception as error:  # of the network, by whichever library
        expected = f"{name!r} is no folder, not in the cache, and the hub is out of reach ({error})"
    else:
        return
    raise InputError(expected, field="encoder")
