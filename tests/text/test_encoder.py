"""Vectors: those of sentence-transformers, each made once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from kit.errors import InputError
from kit.store import Store
from kit.text import Encoder, NearestNeighbours
from kit.text.encoder import cold_queries

TEXTS = ["A river.", "The Oll is a river that rises in chalk hills.", "Ines Moravec", "A river."]


@pytest.fixture
def encoder(tmp_path: Path) -> Encoder:
    return Encoder(store=Store(tmp_path))


def test_vectors_are_those_of_the_model(encoder: Encoder) -> None:
    vectors = encoder.encode(TEXTS)
    model = SentenceTransformer(str(encoder._folder), local_files_only=True)
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(vectors, model.encode(TEXTS, normalize_embeddings=True), atol=1e-6)
    np.testing.assert_array_equal(vectors[0], vectors[3])


def test_only_new_texts_are_encoded(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    before = encoder.encode(TEXTS)
    again = Encoder(store=encoder.store)
    asked: list[str] = []
    real = again.model.encode_document

    def spy(texts: list[str], **options: object) -> np.ndarray:
        asked.extend(texts)
        return real(texts, **options)

    monkeypatch.setattr(again.model, "encode_document", spy)
    after = again.encode([*TEXTS, "A hill."])
    assert asked == ["A hill."]
    np.testing.assert_array_equal(after[:4], before)


def test_what_is_stored_needs_no_model(encoder: Encoder) -> None:
    encoder.encode(TEXTS)
    again = Encoder(store=encoder.store)
    again.encode(TEXTS)
    assert "model" not in vars(again)


def test_a_damaged_vector_is_made_anew(encoder: Encoder) -> None:
    vectors = encoder.encode(TEXTS)
    file = encoder.store.folder / "embeddings.sqlite"
    content = bytearray(file.read_bytes())
    content[content.find(vectors[0].tobytes()[:64]) + 8] ^= 255
    file.write_bytes(content)
    np.testing.assert_allclose(Encoder(store=encoder.store).encode(TEXTS), vectors, atol=1e-6)


def test_query_and_document_are_kept_apart(encoder: Encoder) -> None:
    encoder.encode(["A river."], role="query")
    encoder.encode(["A river."])
    (vector,) = encoder.encode(["A river."])
    assert vector.shape == (384,)


def test_nothing_to_encode(encoder: Encoder) -> None:
    assert len(encoder.encode([])) == 0


def test_an_unknown_model_is_one_plain_line(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    with pytest.raises(InputError, match="field encoder: no sentence-transformers model") as error:
        Encoder(str(tmp_path / "model"), store=Store(tmp_path)).encode(["text"])
    assert "\n" not in str(error.value)


def test_cold_queries_are_encoded_anew_but_once_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, asked = Encoder(store=Store(tmp_path)), []
    embed = Encoder._embed
    monkeypatch.setattr(Encoder, "_embed", lambda self, texts, *more: asked.append(texts) or embed(self, texts, *more))
    for _ in range(2):
        with cold_queries():
            cold = encoder.encode(["Selby Quay"], role="query")
            np.testing.assert_array_equal(encoder.encode(["Selby Quay"], role="query"), cold)
            encoder.encode(["a passage"])
    np.testing.assert_array_equal(encoder.encode(["Selby Quay"], role="query"), cold)
    assert asked == [["Selby Quay"], ["a passage"], ["Selby Quay"], ["Selby Quay"]]


def test_neighbours_are_exact_and_ties_in_order() -> None:
    vectors = np.array([[0, 1], [1, 0], [1, 0], [-1, 0]], np.float32)
    scores, rows = NearestNeighbours(vectors).search(np.array([[1, 0]], np.float32), 9)
    assert rows.tolist() == [[1, 2, 0, 3]]
    assert scores.tolist() == [[1, 1, 0, -1]]
