"""Vectors: those of sentence-transformers, each made once."""

from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from kit import timer
from kit.errors import InputError
from kit.store import Store
from kit.text import Encoder, NearestNeighbours

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


def test_an_unknown_model_is_one_plain_line(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    with pytest.raises(InputError, match="field encoder: no sentence-transformers model") as error:
        Encoder(str(tmp_path / "model"), store=Store(tmp_path)).encode(["text"])
    assert "\n" not in str(error.value)


class Counting(Encoder):
    """Remembers what its model read."""

    def __init__(self, store: Store) -> None:
        super().__init__(store=store)
        self.batches: list[list[str]] = []

    def _embed(self, texts: list[str], role: str) -> np.ndarray:
        self.batches.append(texts)
        return super()._embed(texts, role)


def test_only_new_texts_are_encoded(tmp_path: Path) -> None:
    encoder = Counting(Store(tmp_path))
    passages = encoder.encode(TEXTS)
    again = Counting(encoder.store)
    np.testing.assert_array_equal(again.encode(TEXTS), passages)
    assert len(again.encode([])) == 0
    again.encode(["A hill.", *TEXTS])
    assert again.batches == [["A hill."]]


def test_cold_queries_are_encoded_anew_but_once_per_clock(tmp_path: Path) -> None:
    encoder = Counting(Store(tmp_path))
    encoder.encode(["A river."], role="query")
    for _ in range(2):
        with timer.running(cold=True) as clock:
            cold = encoder.encode(["A river."], role="query")
            np.testing.assert_array_equal(encoder.encode(["A river."], role="query"), cold)
            encoder.encode(["A hill."])
        assert clock.texts == {"A river.", "A hill."}
        assert list(clock.seconds) == ["encoding"] and len(clock.vectors) == 1
    with timer.running(cold=False):
        np.testing.assert_array_equal(encoder.encode(["A river."], role="query"), cold)
    assert encoder.batches == [["A river."], ["A river."], ["A hill."], ["A river."]]


def test_neighbours_are_exact_and_ties_in_order() -> None:
    vectors = np.array([[0, 1], [1, 0], [1, 0], [-1, 0]], np.float32)
    scores, rows = NearestNeighbours(vectors).search(np.array([[1, 0]], np.float32), 9)
    assert rows.tolist() == [[1, 2, 0, 3]]
    assert scores.tolist() == [[1, 1, 0, -1]]
