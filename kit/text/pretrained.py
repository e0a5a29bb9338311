"""Models from where they lie: a folder, this machine's cache of the hub, the hub itself."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from kit.errors import InputError
from kit.text.e5 import ON_THE_HUB

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer

PATIENCE = 10  # seconds that the hub has to answer
OWNER = "sentence-transformers"  # of encoders that are named without one


@lru_cache(maxsize=2)
def load_model(name: str, folder: Path | None, trusted: bool) -> SentenceTransformer:
    """The encoder of a folder, or of this name in the cache or else on the hub.

    ``trusted`` lets it run code of its own. Raises :class:`InputError` where there is no such
    model, and where it has code that is not trusted.
    """
    # Imported here: torch takes seconds, and a run whose vectors are all stored never needs it.
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # of loading weights, which takes no time
    is_local = lies_here(name, folder)
    try:
        return SentenceTransformer(
            str(folder or name),
            local_files_only=is_local,
            trust_remote_code=trusted,
        )
    except (OSError, ValueError) as error:
        if "trust_remote_code" in str(error):
            expected = (
                f"{name} has code of its own, which would run on this machine: "
                f"trust_remote_code=true allows it"
            )
        else:
            expected = f"no sentence-transformers model of this name or folder ({error})"
        raise InputError(expected, field="encoder") from None


def load_cross_encoder(name: str, folder: Path | None) -> CrossEncoder:
    """The cross-encoder of a folder, or of this name in the cache or else on the hub.

    Raises :class:`InputError` where there is no such model.
    """
    from sentence_transformers import CrossEncoder

    is_local = lies_here(name, folder)
    try:
        return CrossEncoder(str(folder or name), local_files_only=is_local)
    except (OSError, ValueError) as error:
        expected = f"no cross-encoder of this name or folder ({error})"
        raise InputError(expected, field="rerank") from None


def lies_here(name: str, folder: Path | None) -> bool:
    """Whether an encoder is on this machine; if not, it is on the hub.

    Raises :class:`InputError` where the hub has none of this name, either.
    """
    full_name = name if "/" in name else f"{OWNER}/{name}"
    try:
        return folder is not None or is_cached(full_name)
    except OSError as error:
        other_way = "; kit data fetch e5-small brings it" if name == ON_THE_HUB else ""
        raise InputError(f"{error}{other_way}", field="encoder") from None


def is_cached(name: str) -> bool:
    """Whether a model lies in this machine's cache; if not, it is on the hub.

    Raises OSError where it is not: the hub is asked once, while to load what is nowhere tries each
    file six times, a minute and more.
    """
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        if isinstance(try_to_load_from_cache(name, "config.json"), str):
            return True
        HfApi().model_info(name, timeout=PATIENCE)
    except HFValidationError:
        reason = f"{name!r} is no folder, and no name that the Hugging Face hub could have"
    except HfHubHTTPError as error:
        status = error.response.status_code
        reason = f"the Hugging Face hub has no model {name!r} for us (status {status})"
    except Exception as error:  # of the network, by whichever library
        reason = f"{name!r} is no folder, not in the cache, and the hub is out of reach: {error}"
    else:
        return False
    raise OSError(reason)
