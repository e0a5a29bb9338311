"""Vectors: those of sentence-transformers, each made once."""

from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

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


def test_only_new_texts_are_encoded_and_cold_queries_anew_but_once_a_time(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, embed = [], Encoder._embed
    monkeypatch.setattr(
        Encoder,
        "_embed",
        lambda self, texts, *more: asked.append(texts) or embed(self, texts, *more),
    )
    passages = encoder.encode(TEXTS)
    again = Encoder(store=encoder.store)
    np.testing.assert_array_equal(again.encode(TEXTS), passages)
    assert "model" not in vars(again) and len(again.encode([])) == 0
    for _ in range(2):
        with monkeypatch.context() as timed:
            timed.setattr(Encoder, "cold", {})
            cold = encoder.encode(["A river."], role="query")
            np.testing.assert_array_equal(encoder.encode(["A river."], role="query"), cold)
            encoder.encode(["A hill."])
    np.testing.assert_array_equal(encoder.encode(["A river."], role="query"), cold)
    assert asked[1:] == [["A river."], ["A hill."], ["A river."], ["A river."]]


def test_neighbours_are_exact_and_ties_in_order() -> None:
    vectors = np.array([[0, 1], [1, 0], [1, 0], [-1, 0]], np.float32)
    scores, rows = NearestNeighbours(vectors).search(np.array([[1, 0]], np.float32), 9)
    assert rows.tolist() == [[1, 2, 0, 3]]
    assert scores.tolist() == [[1, 1, 0, -1]]
